// How much of a stream is read, according to its first bytes: the bound that a format gives, and
// the copy of a stream that is kept as far as it is needed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "btf/error.h"
#include "core/numbers.h"
#include "formats/io/byte_source.h"

namespace btf {

// How much of a stream is needed is decided by its first bytes: a pipe need not end, and a few
// bytes of zstd can expand to terabytes of zeros.

// Bytes after the last tensor are reported but do not prevent reading. At most this many are read.
inline constexpr std::uint64_t kContentSlack = 1U << 20;

// Used in place of a size that has no bound.
inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// How much content is needed according to the headers read so far.
class ContentExtent {
 public:
  // `room` is the space that is available.
  explicit ContentExtent(std::uint64_t room) : room_(room) {}

  // Headers require all bytes up to `end`.
  void need(std::uint64_t end) {
    least_ = std::max(least_, end);
    if (end > room_)
      beyond_room_ = std::max(beyond_room_, end);
    else
      allow(checked_add(end, kContentSlack).value_or(kUnlimited));
  }
  // Bytes up to `end` are allowed but not required.
  void allow(std::uint64_t end) { most_ = std::max(most_, end); }

  std::uint64_t most() const { return most_; }
  std::uint64_t least() const { return least_; }
  std::uint64_t room() const { return room_; }
  // The bytes that are needed if they exceed the room; else 0.
  std::uint64_t beyond_room() const { return beyond_room_; }

 private:
  std::uint64_t room_;
  std::uint64_t most_ = kContentSlack;
  std::uint64_t least_ = 0;
  std::uint64_t beyond_room_ = 0;
};

// Determines a format's bound for a stream from its beginning. Invalid headers do not determine the
// size and are not an error here: the reader reports them.
class StreamBound {
 public:
  virtual ~StreamBound() = default;

  // Evaluates the headers in `content`. Called repeatedly while it grows.
  virtual Status take(const ByteSource& content, ContentExtent& extent) = 0;

  // The subject of the message "... needs N bytes".
  virtual std::string_view subject() const = 0;

  // The number of bytes without which nothing can be used, as far as known; 0 if parts can be used.
  virtual std::uint64_t needed(const ContentExtent&) const { return 0; }

  // The least size of the content of `frames` compressed frames; 0 if it is not known.
  virtual std::uint64_t least(const ContentExtent&, const ByteSource&, std::uint64_t) const {
    return 0;
  }

  // Returns false if a part has an unknown size, so that the end cannot be known.
  virtual bool complete() const { return true; }
};

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

}  // namespace btf
