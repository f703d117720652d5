#include "network/operators/window.h"

#include <algorithm>

#include "btf/try.h"

namespace btf::network {
namespace {

// The largest size, stride or pad: their products fit 64 bits.
constexpr std::int64_t kMostInWindow = std::int64_t{1} << 30;

// The output of one dim whose padding is said.
std::int64_t outputs_of(std::int64_t padded, std::int64_t reach, const WindowAxis& axis,
                        bool ceil_mode) {
  const std::int64_t room = padded - reach;
  if (room < 0) return 0;
  std::int64_t outputs = room / axis.stride + 1;
  if (!ceil_mode || room % axis.stride == 0) return outputs;
  const bool begins_inside =
      outputs * axis.stride < static_cast<std::int64_t>(axis.input) + axis.begin_pad;
  return outputs + (begins_inside ? 1 : 0);
}

}  // namespace

Result<std::vector<std::int64_t>> per_dim(const Call& call, std::string_view name,
                                          std::size_t count, std::int64_t otherwise) {
  std::vector<std::int64_t> values = call.integers(name);
  if (values.empty()) values.assign(count, otherwise);
  if (values.size() != count ||
      std::ranges::any_of(values, [](std::int64_t v) { return v < 0 || v > kMostInWindow; }))
    return not_computed("its " + std::string(name) + " cannot be used");
  return values;
}

Result<std::vector<WindowAxis>> window_axes(const Call& call, std::span<const std::uint64_t> input,
                                            std::span<const std::uint64_t> kernel, bool ceil_mode) {
  const std::size_t count = input.size();
  if (count == 0 || kernel.size() != count)
    return not_computed("its kernel does not fit its input");
  BTF_ASSIGN(const auto strides, per_dim(call, "strides", count, 1));
  BTF_ASSIGN(const auto dilations, per_dim(call, "dilations", count, 1));
  BTF_ASSIGN(const auto pads, per_dim(call, "pads", 2 * count, 0));
  const std::string automatic = call.text("auto_pad", "NOTSET");
  std::vector<WindowAxis> axes;
  for (std::size_t d = 0; d < count; ++d) {
    if (strides[d] < 1 || dilations[d] < 1 || input[d] > kMostInWindow || kernel[d] < 1 ||
        kernel[d] > kMostInWindow)
      return not_computed("its window cannot be used");
    WindowAxis axis{.input = input[d],
                    .kernel = kernel[d],
                    .stride = strides[d],
                    .dilation = dilations[d],
                    .begin_pad = pads[d],
                    .end_pad = pads[d + count]};
    const auto size = static_cast<std::int64_t>(input[d]);
    const std::int64_t reach = (static_cast<std::int64_t>(kernel[d]) - 1) * dilations[d] + 1;
    std::int64_t output = 0;
    if (automatic.starts_with("SAME")) {
      output = (size + axis.stride - 1) / axis.stride;
      const std::int64_t padding =
          std::max<std::int64_t>(0, (output - 1) * axis.stride + reach - size);
      axis.begin_pad = automatic == "SAME_LOWER" ? padding - padding / 2 : padding / 2;
      axis.end_pad = padding - axis.begin_pad;
    } else {
      if (automatic == "VALID") axis.begin_pad = axis.end_pad = 0;
      output = outputs_of(size + axis.begin_pad + axis.end_pad, reach, axis, ceil_mode);
    }
    axis.output = static_cast<std::uint64_t>(output);
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace btf::network
