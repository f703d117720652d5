// How much of a stream is needed, by its first bytes: a pipe need not end, and a few bytes of
// zstd can stand for terabytes of zeros.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "btf/error.h"
#include "core/checked_math.h"
#include "formats/io/byte_source.h"

namespace btf {

// Bytes behind the last tensor are odd, but no reason not to read the others. So many are taken.
inline constexpr std::uint64_t kContentSlack = 1U << 20;

// Instead of a size: there is no bound.
inline constexpr std::uint64_t kUnlimited = UINT64_MAX;

// How much content is needed, as known from the headers read so far.
class ContentExtent {
 public:
  // More than `room` cannot be kept.
  explicit ContentExtent(std::uint64_t room) : room_(room) {}

  // All bytes up to `end` are part of what the headers list.
  void need(std::uint64_t end) {
    least_ = std::max(least_, end);
    if (end > room_)
      beyond_room_ = std::max(beyond_room_, end);
    else
      allow(checked_add(end, kContentSlack).value_or(kUnlimited));
  }
  // They may be there, and need not.
  void allow(std::uint64_t end) { most_ = std::max(most_, end); }

  std::uint64_t most() const { return most_; }
  std::uint64_t least() const { return least_; }
  std::uint64_t room() const { return room_; }
  // Bytes that are needed and more than there is room for; 0: none.
  std::uint64_t beyond_room() const { return beyond_room_; }

 private:
  std::uint64_t room_;
  std::uint64_t most_ = kContentSlack;
  std::uint64_t least_ = 0;
  std::uint64_t beyond_room_ = 0;
};

// A format's bound for a stream, by its beginning. Headers that are not sound say nothing about the
// size, and are no error here: the reader reports them.
class StreamBound {
 public:
  virtual ~StreamBound() = default;

  // Reads what the headers in `content` say so far. Called again and again while it grows.
  virtual Status take(const ByteSource& content, ContentExtent& extent) = 0;

  // The subject of "... needs N bytes".
  virtual std::string_view whose() const = 0;

  // The bytes without which nothing of it can be used, as far as known; 0: parts can be.
  virtual std::uint64_t needed(const ContentExtent&) const { return 0; }

  // Bytes that the end of `frames` compressed frames must not come before; 0: that is not known.
  virtual std::uint64_t least(const ContentExtent&, const ByteSource&, std::uint64_t) const {
    return 0;
  }

  // False: a part is of an unknown size, so that the end cannot be known.
  virtual bool complete() const { return true; }
};

}  // namespace btf
