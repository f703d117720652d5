// Pools: a window's largest number, its mean or its norm.
#include "network/operators/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/try.h"
#include "core/numbers.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {

Groups::Groups(const Dims& dims, const std::vector<bool>& taken) {
  const Dims strides = row_major_strides(dims);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    (taken[d] ? taken_ : kept_).push_back(dims[d]);
    (taken[d] ? taken_strides_ : kept_strides_).push_back(strides[d]);
    if (taken[d]) size_ *= dims[d];
  }
  if (size_ == 0) return;
  for (std::size_t d = taken_.size(); d-- > 0;) {
    if (taken_[d] == 1) continue;
    if (run_ == 1)
      step_ = taken_strides_[d];
    else if (taken_strides_[d] != step_ * run_)
      break;
    run_ *= taken_[d];
  }
}

std::uint64_t Groups::along(std::uint64_t number, const Dims& dims, const Dims& strides) {
  std::uint64_t place = 0;
  for (std::size_t d = dims.size(); d-- > 0;) {
    place += number % dims[d] * strides[d];
    number /= dims[d];
  }
  return place;
}

std::uint64_t Groups::group_of(std::uint64_t number) const {
  std::uint64_t group = 0;
  for (std::size_t d = 0; d < kept_.size(); ++d)
    group = group * kept_[d] + number / kept_strides_[d] % kept_[d];
  return group;
}

std::uint64_t Groups::which_of(std::uint64_t number) const {
  std::uint64_t which = 0;
  for (std::size_t d = 0; d < taken_.size(); ++d)
    which = which * taken_[d] + number / taken_strides_[d] % taken_[d];
  return which;
}

Result<std::vector<bool>> dims_of_axes(const std::vector<std::int64_t>& axes, std::size_t rank) {
  std::vector<bool> taken(rank, axes.empty());
  for (const std::int64_t axis : axes) {
    BTF_ASSIGN(const std::size_t d, axis_of(axis, rank));
    taken[d] = true;
  }
  return taken;
}

namespace {

// The largest size, stride or pad; products of these fit 64 bits.
constexpr std::int64_t kMaxInWindow = std::int64_t{1} << 30;

// The output size of a dim with explicit padding.
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
      std::ranges::any_of(values, [](std::int64_t v) { return v < 0 || v > kMaxInWindow; }))
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
    if (strides[d] < 1 || dilations[d] < 1 || input[d] > kMaxInWindow || kernel[d] < 1 ||
        kernel[d] > kMaxInWindow)
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

namespace {

enum class PoolKind : std::uint8_t { largest, mean, norm };

struct PoolForm {
  PoolKind kind{};
  bool counts_pads = false;
  double p = 2;
};

class Pool final : public Operator {
 public:
  Pool(Tensor& x, Dims dims, const PoolForm& form, std::vector<WindowAxis> axes,
       const Arithmetic& arithmetic)
      : Operator({std::move(dims), x.dtype()}),
        x_(x),
        form_(form),
        axes_(std::move(axes)),
        images_(images_of(x.dims())),
        arithmetic_(arithmetic) {
    for (const WindowAxis& axis : axes_) image_ *= axis.input;
  }

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    const std::uint64_t first = (index[0] * x_.dims()[1] + index[1]) * image_;
    const auto spatial = std::span(index).subspan(2);
    if (form_.kind == PoolKind::largest) return largest(first, spatial);
    Sum sum;
    std::uint64_t taps = 0;
    const auto add = [&](const Estimate& x) {
      if (form_.kind == PoolKind::mean) return sum.add(x.value, 0, x.error);
      const double power = std::pow(std::abs(x.value), form_.p);
      sum.add(power, 0,
              std::pow(std::abs(x.value) + x.error, form_.p) - power + kFloat32 * form_.p * power);
    };
    for_each_tap_row(axes_, spatial,
                     [&](std::uint64_t place, std::uint64_t step, std::uint64_t count) {
                       taps += count;
                       if (!x_.exhausted()) for_each_element(x_, first + place, step, count, add);
                     });
    if (x_.exhausted()) return kNotAvailable;
    const Estimate total = sum.result(arithmetic_.accumulator);
    if (form_.kind == PoolKind::mean) {
      const double count = form_.counts_pads ? counted(spatial) : static_cast<double>(taps);
      return rounded(rounded({total.value / count, total.error / count}, arithmetic_), arithmetic_);
    }
    const double value = std::pow(total.value, 1 / form_.p);
    // Roots are steeper below.
    const double low = std::pow(std::max(0.0, total.value - total.error), 1 / form_.p);
    const double high = std::pow(total.value + total.error, 1 / form_.p);
    const double error = std::max(high - value, value - low) + 2 * kFloat32 * value;
    return rounded(rounded({value, error}, arithmetic_), arithmetic_);
  }

  // A group has all places of an image.
  const Groups* groups() const override { return &images_; }
  bool one_of_group() const override { return true; }
  bool sums_up() const override { return true; }
  void add_to(GroupSums& sums, const GroupNumbers& x) const override {
    GroupSums found = sums;
    for (std::size_t i = 0; i < x.exact.size(); ++i) {
      found.exact += x.exact[i];
      found.narrow += x.narrow[i];
    }
    sums = found;
  }
  GroupInside of_sums(const GroupSums& sums, const GroupResults& into) const override {
    const auto count = static_cast<double>(images_.size());
    into.exact[0] = sums.exact / count;
    into.narrow[0] = sums.narrow / count;
    return {.largest = std::abs(sums.exact)};
  }
  double terms() const override {
    double taps = 1;
    for (const WindowAxis& axis : axes_) taps *= static_cast<double>(axis.kernel);
    return taps;
  }

 private:
  static Groups images_of(const Dims& dims) {
    std::vector<bool> taken(dims.size(), true);
    taken[0] = taken[1] = false;
    return {dims, taken};
  }

  Estimate largest(std::uint64_t first, std::span<const std::uint64_t> spatial) {
    Largest found;
    for_each_tap_row(axes_, spatial,
                     [&](std::uint64_t place, std::uint64_t step, std::uint64_t count) {
                       if (x_.exhausted()) return;
                       for_each_element(x_, first + place, step, count,
                                        [&](const Estimate& x) { found.add(element_of(x)); });
                     });
    return x_.exhausted() ? kNotAvailable : found.result();
  }

  // Numbers in the window including padding, but not what ceil_mode adds after it.
  double counted(std::span<const std::uint64_t> spatial) const {
    double count = 1;
    for (std::size_t d = 0; d < axes_.size(); ++d) {
      const WindowAxis& axis = axes_[d];
      const std::int64_t room =
          static_cast<std::int64_t>(axis.input) + axis.end_pad - axis.place(spatial[d], 0);
      const std::int64_t inside = (room + axis.dilation - 1) / axis.dilation;
      count *= static_cast<double>(
          std::clamp<std::int64_t>(inside, 0, static_cast<std::int64_t>(axis.kernel)));
    }
    return count;
  }

  Tensor& x_;
  PoolForm form_;
  std::vector<WindowAxis> axes_;
  Groups images_;
  std::uint64_t image_ = 1;
  const Arithmetic& arithmetic_;
};

Result<std::vector<WindowAxis>> pool_axes(const Call& call, const Tensor& x) {
  if (x.rank() < 3 || x.elements() == 0) return not_computed("its input is no image");
  Dims kernel;
  for (const std::int64_t size : call.integers("kernel_shape")) {
    if (size < 1) return not_computed("its kernel_shape cannot be used");
    kernel.push_back(static_cast<std::uint64_t>(size));
  }
  const std::span<const std::uint64_t> spatial = std::span(x.dims()).subspan(2);
  BTF_TRY(check_terms(element_count(kernel).value_or(UINT64_MAX)));
  return window_axes(call, spatial, kernel, call.integer("ceil_mode", 0) != 0);
}

OperatorResult pool(const Call& call, const PoolForm& form) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_ASSIGN(std::vector<WindowAxis> axes, pool_axes(call, *x));
  Dims dims{x->dims()[0], x->dims()[1]};
  for (const WindowAxis& axis : axes) dims.push_back(axis.output);
  return std::make_unique<Pool>(*x, std::move(dims), form, std::move(axes), call.arithmetic);
}

OperatorResult global_pool(const Call& call, const PoolForm& form) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  if (x->rank() < 3 || x->elements() == 0) return not_computed("its input is no image");
  BTF_TRY(check_terms(x->elements() / x->dims()[0] / x->dims()[1]));
  std::vector<WindowAxis> axes;
  Dims dims{x->dims()[0], x->dims()[1]};
  for (const std::uint64_t size : std::span(x->dims()).subspan(2)) {
    axes.push_back({.input = size, .output = 1, .kernel = size});
    dims.push_back(1);
  }
  return std::make_unique<Pool>(*x, std::move(dims), form, std::move(axes), call.arithmetic);
}

double p_of(const Call& call) { return std::max(1.0, call.real("p", 2)); }

OperatorResult make_max_pool(const Call& call) { return pool(call, {.kind = PoolKind::largest}); }
OperatorResult make_average_pool(const Call& call) {
  return pool(call,
              {.kind = PoolKind::mean, .counts_pads = call.integer("count_include_pad", 0) != 0});
}
OperatorResult make_lp_pool(const Call& call) {
  return pool(call, {.kind = PoolKind::norm, .p = p_of(call)});
}
OperatorResult make_global_max(const Call& call) {
  return global_pool(call, {.kind = PoolKind::largest});
}
OperatorResult make_global_average(const Call& call) {
  return global_pool(call, {.kind = PoolKind::mean});
}
OperatorResult make_global_lp(const Call& call) {
  return global_pool(call, {.kind = PoolKind::norm, .p = p_of(call)});
}

constexpr auto kPoolingRows = std::to_array<OperatorRow>({
    {"MaxPool", 1, make_max_pool, ErrorPropagation::moved},
    {"AveragePool", 1, make_average_pool, ErrorPropagation::windows},
    {"LpPool", 1, make_lp_pool},
    {"GlobalMaxPool", 1, make_global_max, ErrorPropagation::moved},
    {"GlobalAveragePool", 1, make_global_average, ErrorPropagation::groups},
    {"GlobalLpPool", 1, make_global_lp},
});

}  // namespace

std::span<const OperatorRow> pooling_rows() { return kPoolingRows; }

}  // namespace btf::network
