// Row-major numbers as indices.
#pragma once

#include <cstdint>
#include <utility>

#include "btf/layout.h"

namespace btf {

// The index of one number after the other, ascending: most are but a little further on.
class AscendingIndex {
 public:
  explicit AscendingIndex(const Dims& dims) : dims_(dims), index_(dims.size(), 0) {}

  const Dims& at(std::uint64_t number) {
    std::uint64_t further = number - std::exchange(number_, number);
    for (std::size_t d = dims_.size(); further != 0 && d-- > 0;) {
      further += index_[d];
      index_[d] = further;
      if (further < dims_[d]) return index_;
      index_[d] = further % dims_[d];
      further /= dims_[d];
    }
    return index_;
  }

 private:
  const Dims& dims_;
  std::uint64_t number_ = 0;
  Dims index_;  // of it
};

}  // namespace btf
