// The items that several processes measure, each some of them, so that one of them judges all.
#pragma once

#include <cstdint>
#include <span>

#include "btf/error.h"

namespace btf {

// `Planned`: an item before it is measured; `Measured`: what is found of it. All on the caller's
// thread. Numbers are those of plan().
template <typename Planned, typename Measured>
class ItemShare {
 public:
  virtual ~ItemShare() = default;
  // All items, before the first is measured. An error ends it.
  virtual Status plan(std::span<const Planned> items) = 0;
  // Is it measured here?
  virtual bool is_own(std::uint64_t number) const = 0;
  // The measures of an item that is not; nullptr: none.
  virtual const Measured* known(std::uint64_t number) const = 0;
  // One that is, when it has been measured.
  virtual void take(std::uint64_t number, const Measured& item) = 0;
};

}  // namespace btf
