// Windows and groups of elements, and the operators that pool them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "network/node.h"

namespace btf::network {

// Groups of elements of a tensor that are summed or compared: the elements of a group have the same
// index in all dims but some. Groups are numbered in row-major order of the other dims.
class Groups {
 public:
  Groups() = default;
  // `taken`: the dims that vary within a group.
  Groups(const Dims& dims, const std::vector<bool>& taken);

  std::uint64_t size() const { return size_; }  // elements of a group
  // The number of element `which` of a group.
  std::uint64_t element(std::uint64_t group, std::uint64_t which) const {
    return along(group, kept_, kept_strides_) + along(which, taken_, taken_strides_);
  }
  // Calls take(first, step, count) for the elements of a group, in their order, `count` of them
  // `step` apart.
  template <typename Take>
  bool for_each_run(std::uint64_t group, Take&& take) const {
    for (std::uint64_t which = 0; which < size_; which += run_)
      if (!take(element(group, which), step_, run_)) return false;
    return true;
  }
  // Calls take(estimate) for the elements of a group, in their order. False if the tensor is
  // exhausted.
  template <typename Take>
  bool for_each(Tensor& x, std::uint64_t group, Take&& take) const {
    return for_each_run(group, [&](std::uint64_t first, std::uint64_t step, std::uint64_t count) {
      return for_each_element(x, first, step, count, take);
    });
  }
  // The group of an element, and its position in the group.
  std::uint64_t group_of(std::uint64_t number) const;
  std::uint64_t which_of(std::uint64_t number) const;

 private:
  static std::uint64_t along(std::uint64_t number, const Dims& dims, const Dims& strides);

  Dims kept_;
  Dims kept_strides_;
  Dims taken_;
  Dims taken_strides_;
  std::uint64_t size_ = 1;
  std::uint64_t run_ = 1;   // elements of a group that are the same distance apart
  std::uint64_t step_ = 1;  // that distance
};

// Caches a fact about each group for its other elements.
template <typename T>
class GroupCache {
 public:
  explicit GroupCache(std::size_t most = 4096) : most_(most) {}

  template <typename Make>
  const T& get(std::uint64_t group, Make&& make) {
    if (const auto at = kept_.find(group); at != kept_.end()) return at->second;
    if (kept_.size() >= most_) kept_.clear();
    return kept_.emplace(group, make()).first->second;
  }

 private:
  std::size_t most_;
  std::unordered_map<std::uint64_t, T> kept_;
};

// Inf remains Inf: a relative error of it is not an error.
inline Estimate element_of(const Estimate& x) {
  return {x.value, std::isinf(x.value) ? 0 : x.error};
}
inline Estimate element_of(Tensor& x, std::uint64_t number) { return element_of(x.at(number)); }

// The largest of several numbers. It is between the largest lower bound and the largest upper
// bound, whatever the errors of small numbers.
class Largest {
 public:
  void add(const Estimate& x) {
    nan_ = nan_ || std::isnan(x.value);
    value_ = std::max(value_, x.value);
    low_ = std::max(low_, x.value - x.error);
    high_ = std::max(high_, x.value + x.error);
  }

  Estimate result() const {
    if (nan_) return {std::numeric_limits<double>::quiet_NaN(), 0};
    return {value_, std::isinf(value_) ? 0 : std::max(high_ - value_, value_ - low_)};
  }

  // Whether this number may be the largest.
  bool may_be(const Estimate& x) const { return x.value + x.error >= low_; }

 private:
  bool nan_ = false;
  double value_ = -std::numeric_limits<double>::infinity();
  double low_ = -std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// Flags of a tensor's dims, from axes that count from the end if negative. Without axes: all dims.
Result<std::vector<bool>> dims_of_axes(const std::vector<std::int64_t>& axes, std::size_t rank);

// One spatial dim of a window. Output o reads the inputs o * stride - begin_pad + k * dilation.
struct WindowAxis {
  std::uint64_t input = 0;
  std::uint64_t output = 0;
  std::uint64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t begin_pad = 0;
  std::int64_t end_pad = 0;

  std::int64_t place(std::uint64_t out, std::uint64_t tap) const {
    return static_cast<std::int64_t>(out) * stride - begin_pad +
           static_cast<std::int64_t>(tap) * dilation;
  }
};

// The numbers of an optional attribute, one per dim. Fails if one is negative or huge.
Result<std::vector<std::int64_t>> per_dim(const Call& call, std::string_view name,
                                          std::size_t count, std::int64_t otherwise);

// The windows of a convolution or pool from strides, dilations, pads and auto_pad. With `ceil_mode`
// the last window may reach beyond the end if it begins inside.
Result<std::vector<WindowAxis>> window_axes(const Call& call, std::span<const std::uint64_t> input,
                                            std::span<const std::uint64_t> kernel, bool ceil_mode);

// Calls take(place, step, count) for the taps inside the input, those along the last spatial dim at
// once. `place` is the row-major number of the first one; the others follow `step` apart.
template <typename Take>
void for_each_tap_row(std::span<const WindowAxis> axes, std::span<const std::uint64_t> output,
                      Take&& take, std::uint64_t place = 0) {
  const WindowAxis& axis = axes.front();
  const std::int64_t start = axis.place(output.front(), 0);
  const std::int64_t before = start < 0 ? (axis.dilation - 1 - start) / axis.dilation : 0;
  if (before >= static_cast<std::int64_t>(axis.kernel)) return;
  const auto tap = static_cast<std::uint64_t>(before);
  const auto at = static_cast<std::uint64_t>(axis.place(output.front(), tap));
  if (at >= axis.input) return;
  const auto step = static_cast<std::uint64_t>(axis.dilation);
  const std::uint64_t count = std::min(axis.kernel - tap, (axis.input - at - 1) / step + 1);
  if (axes.size() == 1) return take(place * axis.input + at, step, count);
  for (std::uint64_t i = 0; i < count; ++i)
    for_each_tap_row(axes.subspan(1), output.subspan(1), take, place * axis.input + at + i * step);
}

// Calls take(tap, place) for the taps inside the input, both as row-major numbers of the spatial
// dims.
template <typename Take>
void for_each_tap(std::span<const WindowAxis> axes, std::span<const std::uint64_t> output,
                  Take&& take, std::uint64_t tap = 0, std::uint64_t place = 0) {
  if (axes.empty()) return take(tap, place);
  const WindowAxis& axis = axes.front();
  const std::int64_t start = axis.place(output.front(), 0);
  const std::int64_t before = start < 0 ? (axis.dilation - 1 - start) / axis.dilation : 0;
  for (auto k = static_cast<std::uint64_t>(before); k < axis.kernel; ++k) {
    const auto at = static_cast<std::uint64_t>(axis.place(output.front(), k));
    if (at >= axis.input) return;
    for_each_tap(axes.subspan(1), output.subspan(1), take, tap * axis.kernel + k,
                 place * axis.input + at);
  }
}

}  // namespace btf::network
