// The table of file formats, file extensions, and how much content of a stream is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "btf/error.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"

namespace btf {

// How much content a stream may have, according to its first bytes and the formats of the table.

// Called repeatedly while content arrives.
class ContentBound {
 public:
  // `expected` is the size according to the spec or the name; if unset, the first bytes are a
  // header. `room` is the space that is available.
  ContentBound(std::optional<std::uint64_t> expected, std::uint64_t room);

  // The largest number of bytes needed, as far as the content so far tells.
  Result<std::uint64_t> most(const Spool& content);

  // See StreamBound.
  std::uint64_t needed() const { return bound_ ? bound_->needed(extent_) : 0; }
  bool complete() const { return !foreign_ && (!bound_ || bound_->complete()); }
  std::string_view subject() const { return bound_ ? bound_->subject() : "its spec or name"; }

  // True if no format recognises the first bytes.
  bool foreign() const { return foreign_; }

  // The bytes that are needed if they exceed the room; else 0.
  std::uint64_t beyond_room() const { return extent_.beyond_room(); }

  // Called at the end of the content: the number of bytes that the tensors need. More than there
  // are means that the stream was cut off between `frames` frames and the next. 0 if it is not
  // known.
  Result<std::uint64_t> least(const Spool& content, std::uint64_t frames);

 private:
  Status begin(const ByteSource& content);
  Status take(const ByteSource& content);

  ContentExtent extent_;
  bool known_;  // the first bytes were examined or need not be
  bool foreign_ = false;
  std::unique_ptr<StreamBound> bound_;  // nullptr if extent_ is the only limit
};

// Stores the content of a stream as far as it is needed.

class BoundedSpool {
 public:
  // `expected`: see ContentBound.
  static Result<BoundedSpool> create(std::optional<std::uint64_t> expected);

  // Fails before the file system is full.
  Status append(std::span<const std::byte> bytes);
  std::uint64_t size() const { return spool_.size(); }

  // The largest number of bytes needed, as far as the content so far tells.
  Result<std::uint64_t> most();
  // For longer content: an error if something needed exceeds the room.
  Status check_room() const;
  const ContentBound& bound() const { return bound_; }
  // See ContentBound.
  Result<std::uint64_t> least(std::uint64_t frames) { return bound_.least(spool_, frames); }

  Spool release() && { return std::move(spool_); }

 private:
  BoundedSpool(Spool spool, std::optional<std::uint64_t> expected, std::uint64_t room)
      : spool_(std::move(spool)), bound_(expected, room), room_(room) {}

  Spool spool_;
  ContentBound bound_;
  std::uint64_t room_;
  std::uint64_t most_ = kContentSlack;
};

// File extensions of the formats in the table, and of files that have no tensors or are not read.
// Adding one of the latter is a row.

struct FileEnding {
  std::string_view ending;
  std::string_view title;        // describes such a file, with an article
  bool tensorless = false;       // has no tensors unless its contents say otherwise
  std::string_view format = {};  // format of outputs with this extension; empty if none
};

// Extensions that belong to no format of the table.
std::span<const FileEnding> other_endings();

// The extension of the name; unset if it is not a known one.
std::optional<FileEnding> find_ending(std::string_view path);

// The name that a path gives its tensors: the path without known extensions, or the tensor's name
// in file names of trtexec.
std::string_view name_in_path(std::string_view path);

// The file formats. docs/adding.md describes how to add one.

// In the order in which they are tried. BTF is last since it has no magic number.
std::span<const FormatRow> formats();

// The format of files that no other row recognizes, and of outputs without another choice.
const FormatRow& default_format();

const FormatRow& format_named(std::string_view name);

// The trait must belong to a single row.
const FormatRow& format_with(FormatTrait trait);

// Replaces the table; the rows must outlive all use. For a test that has its own format.
void replace_formats(std::span<const FormatRow> rows);

}  // namespace btf
