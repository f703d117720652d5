// Counts different numbers up to a limit.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace btf::hints {

// Takes numbers until there are kEnough different ones. No NaN.
template <std::size_t kEnough>
class DistinctNumbers {
 public:
  void add(long double number) {
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (!enough() && std::find(numbers_.begin(), end, number) == end) numbers_[count_++] = number;
  }
  bool enough() const { return count_ == kEnough; }

 private:
  std::array<long double, kEnough> numbers_{};
  std::size_t count_ = 0;
};

}  // namespace btf::hints
