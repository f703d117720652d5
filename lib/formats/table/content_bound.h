// How much content a stream may have, by what its first bytes say in the formats of the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "btf/error.h"
#include "formats/interface/stream_bound.h"
#include "formats/io/spool.h"

namespace btf {

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

}  // namespace btf
