// Elements that stand on one line of a tensor, or in one group: what is summed up or compared.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "network/node/call.h"

namespace btf::network {

// The elements of a tensor with the same index in all dims but some. Groups are numbered in the
// row-major order of the dims that stay.
class Groups {
 public:
  Groups() = default;
  // `taken`: which dims go through all indices within a group.
  Groups(const Dims& dims, const std::vector<bool>& taken);

  std::uint64_t size() const { return size_; }  // elements of a group
  // The number of element `which` of a group.
  std::uint64_t element(std::uint64_t group, std::uint64_t which) const {
    return along(group, kept_, kept_strides_) + along(which, taken_, taken_strides_);
  }
  // The group of an element, and which of its elements it is.
  std::uint64_t group_of(std::uint64_t number) const;
  std::uint64_t which_of(std::uint64_t number) const;

 private:
  static std::uint64_t along(std::uint64_t number, const Dims& dims, const Dims& strides);

  Dims kept_;
  Dims kept_strides_;
  Dims taken_;
  Dims taken_strides_;
  std::uint64_t size_ = 1;
};

// What was found out about a group, kept for the other elements that ask.
template <typename T>
class KeptByGroup {
 public:
  template <typename Make>
  const T& get(std::uint64_t group, Make&& make) {
    constexpr std::size_t kMost = 4096;
    if (const auto at = kept_.find(group); at != kept_.end()) return at->second;
    if (kept_.size() >= kMost) kept_.clear();
    return kept_.emplace(group, make()).first->second;
  }

 private:
  std::unordered_map<std::uint64_t, T> kept_;
};

// Flags of a tensor's dims, by axes that count from the end if they are negative. Without axes:
// all dims.
Result<std::vector<bool>> dims_of_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

}  // namespace btf::network
