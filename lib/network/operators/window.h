// The windows of convolutions and pools: which inputs an output looks at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/layout.h"
#include "network/node/call.h"

namespace btf::network {

// One spatial dim. Output o looks at the inputs o * stride - begin_pad + k * dilation.
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

// One number for each dim of an attribute that need not be there; refuses negative and huge ones.
Result<std::vector<std::int64_t>> per_dim(const Call& call, std::string_view name,
                                          std::size_t count, std::int64_t otherwise);

// By strides, dilations, pads and auto_pad; with `ceil_mode` a last window may reach beyond the
// end, if it begins inside.
Result<std::vector<WindowAxis>> window_axes(const Call& call, std::span<const std::uint64_t> input,
                                            std::span<const std::uint64_t> kernel, bool ceil_mode);

// Calls take(tap, place) for the taps that lie inside the input, both as row-major numbers of the
// spatial dims.
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
