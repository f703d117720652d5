// A stream's content, kept in a spool as far as it is needed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/error.h"
#include "formats/io/spool.h"
#include "formats/table/content_bound.h"

namespace btf {

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

}  // namespace btf
