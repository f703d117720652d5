// The table of file formats: extensions, and how much content a stream may have by what its first
// bytes say.
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

// How much content a stream may have, by what its first bytes say in the formats of the table.

// Asked again and again while content arrives.
class ContentBound {
 public:
  // `expected`: the size if the spec or the name is right; nothing: its first bytes
  // are a header. More than `room` cannot be kept.
  ContentBound(std::optional<std::uint64_t> expected, std::uint64_t room);

  // The most bytes of content that are needed, as far as known from those there are.
  Result<std::uint64_t> most(const Spool& content);

  // See StreamBound.
  std::uint64_t needed() const { return bound_ ? bound_->needed(extent_) : 0; }
  bool complete() const { return !foreign_ && (!bound_ || bound_->complete()); }
  std::string_view whose() const { return bound_ ? bound_->whose() : "what was said of it"; }

  // No format knows its first bytes. They show which other kind it is, or nothing does.
  bool foreign() const { return foreign_; }

  // Bytes that are wanted and more than there is room for; 0: none.
  std::uint64_t beyond_room() const { return extent_.beyond_room(); }

  // Bytes of content that the tensors need, once there is no more of it; more than there are: it
  // was cut off between `frames` and the next. 0 if that is not known.
  Result<std::uint64_t> least(const Spool& content, std::uint64_t frames);

 private:
  Status begin(const ByteSource& content);
  Status take(const ByteSource& content);

  ContentExtent extent_;
  bool known_;  // its first bytes were looked at, or need not be
  bool foreign_ = false;
  std::unique_ptr<StreamBound> bound_;  // nullptr: all that extent_ allows
};

// A stream's content, kept in a spool as far as it is needed.

class BoundedSpool {
 public:
  // `expected`: see ContentBound.
  static Result<BoundedSpool> create(std::optional<std::uint64_t> expected);

  // An error before the file system is full.
  Status append(std::span<const std::byte> bytes);
  std::uint64_t size() const { return spool_.size(); }

  // The most bytes of content that are needed, as far as known from those there are.
  Result<std::uint64_t> most();
  // If it is longer than that: is something needed that there is no room for?
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

// How names of files end: those of the table of formats, and those of files that are no tensors or
// are not read. Adding one of the latter is a row.

struct FileEnding {
  std::string_view ending;
  std::string_view title;        // of what has such a name, with an article
  bool tensorless = false;       // it holds none, unless what is in it says so
  std::string_view format = {};  // that is written under such a name; empty: none
};

// Extensions of no format of the table.
std::span<const FileEnding> other_endings();

// The extension of the name as it is; nothing: it has no known one.
std::optional<FileEnding> find_ending(std::string_view path);

// The name that a path gives its tensors: the path without known extensions; the NAME in those of
// trtexec's dumps.
std::string_view name_in_path(std::string_view path);

// The file formats. Adding one is a folder with its reader and a row (docs/adding.md).

// In the order in which they are asked whether they recognize a file; BTF, which has no magic
// number, is the last.
std::span<const FormatRow> formats();

// The format of files that no other row recognizes, and of outputs without another choice.
const FormatRow& default_format();

const FormatRow& format_named(std::string_view name);

// The only row of its kind.
const FormatRow& format_with(FormatTrait trait);

// Other rows in place of these, which outlive all use: for a test that has a format of its own.
void replace_formats(std::span<const FormatRow> rows);

}  // namespace btf
