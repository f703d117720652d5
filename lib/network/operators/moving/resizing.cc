// Resize: elements between those of the input.
#include <algorithm>
#include <array>
#include <cmath>

#include "btf/try.h"
#include "network/operators/families.h"
#include "network/operators/moving/resized.h"

namespace btf::network {
namespace {

Result<ResizeMode> mode_of(const Call& call) {
  const std::string mode = call.text("mode", "nearest");
  if (mode == "nearest") return ResizeMode::nearest;
  if (mode == "linear" || mode == "bilinear") return ResizeMode::linear;
  if (mode == "cubic") return ResizeMode::cubic;
  return not_computed("its mode '" + mode + "' is not computed here");
}

Status check_sizes(const Tensor& x) {
  constexpr std::uint64_t kMost = 1ULL << 40;
  constexpr std::size_t kMostRank = 8;
  if (x.elements() == 0 || x.elements() > kMost || x.rank() > kMostRank)
    return not_computed("its input is empty or too large");
  return {};
}

// By a scale for each dim.
Result<Dims> scale_axes(std::vector<ResizeAxis>& axes, const std::vector<std::size_t>& which,
                        const std::vector<double>& scales, bool crop) {
  constexpr double kMost = 0x1p40;
  if (scales.size() != which.size()) return not_computed("its scales do not fit its rank");
  for (std::size_t i = 0; i < which.size(); ++i) {
    ResizeAxis& axis = axes[which[i]];
    axis.scale = scales[i];
    axis.resized = axis.input * scales[i] * (crop ? axis.end - axis.begin : 1);
    // As float32 has the scale: 2.9999998 is 3.
    axis.output = std::floor(axis.resized * (1 + 4 * kFloat32));
    if (!(axis.scale > 0) || !(axis.output >= 0 && axis.output < kMost))
      return not_computed("its scales cannot be used");
    axis.same = axis.scale == 1 && !crop;
  }
  Dims dims;
  for (const ResizeAxis& axis : axes) dims.push_back(static_cast<std::uint64_t>(axis.output));
  return dims;
}

Result<Dims> size_axes(std::vector<ResizeAxis>& axes, const std::vector<std::size_t>& which,
                       const std::vector<double>& sizes, const std::string& policy) {
  constexpr double kMost = 0x1p40;
  if (sizes.size() != which.size()) return not_computed("its sizes do not fit its rank");
  double least = HUGE_VAL;
  double most = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!(sizes[i] >= 1 && sizes[i] < kMost)) return not_computed("its sizes cannot be used");
    const double scale = sizes[i] / axes[which[i]].input;
    least = std::min(least, scale);
    most = std::max(most, scale);
  }
  for (std::size_t i = 0; i < which.size(); ++i) {
    ResizeAxis& axis = axes[which[i]];
    if (policy == "stretch") {
      axis.scale = sizes[i] / axis.input;
      axis.resized = axis.output = sizes[i];
    } else {
      axis.scale = policy == "not_larger" ? least : most;
      axis.resized = axis.scale * axis.input;
      if (!(axis.resized < kMost)) return not_computed("its sizes cannot be used");
      axis.output = std::floor(axis.resized + 0.5);
    }
    axis.same = axis.output == axis.input && axis.scale == 1;
  }
  Dims dims;
  for (const ResizeAxis& axis : axes) dims.push_back(static_cast<std::uint64_t>(axis.output));
  return dims;
}

std::vector<ResizeAxis> axes_of(const Tensor& x) {
  std::vector<ResizeAxis> axes;
  for (const std::uint64_t size : x.dims()) {
    const auto length = static_cast<double>(size);
    axes.push_back({.input = length, .output = length, .resized = length});
  }
  return axes;
}

std::vector<std::size_t> all_dims(std::size_t rank) {
  std::vector<std::size_t> which;
  for (std::size_t d = 0; d < rank; ++d) which.push_back(d);
  return which;
}

// Does it make fewer elements, and does not take every second or third?
bool is_between(double scale) {
  return scale < 1 && std::abs(1 / scale - std::round(1 / scale)) > 8 * kFloat32 / scale;
}

// Upsample, and Resize of version 10: by scales, from the origin.
MadeOperator make_scaled(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_TRY(check_sizes(*x));
  ResizeForm form{.place = find_place("asymmetric"), .round = find_round("floor")};
  BTF_ASSIGN(form.mode, mode_of(call));
  std::vector<double> scales;
  if (call.has_input(1)) {
    BTF_ASSIGN(scales, call.whole_reals(1));
  } else if (const auto at = call.attributes.find("scales"); at != call.attributes.end()) {
    scales = at->second.reals;
  }
  std::vector<ResizeAxis> axes = axes_of(*x);
  BTF_ASSIGN(Dims dims, scale_axes(axes, all_dims(x->rank()), scales, false));
  if (form.mode == ResizeMode::nearest && std::ranges::any_of(scales, is_between))
    return not_computed("which elements it leaves out is not said before version 11");
  return make_resized(*x, std::move(dims), form, std::move(axes), call.arithmetic);
}

Result<ResizeForm> form_of(const Call& call) {
  ResizeForm form{.cubic = call.real("cubic_coeff_a", -0.75),
                  .excludes_outside = call.integer("exclude_outside", 0) != 0,
                  .outside = call.real("extrapolation_value", 0)};
  BTF_ASSIGN(form.mode, mode_of(call));
  form.place = find_place(call.text("coordinate_transformation_mode", "half_pixel"));
  form.round = find_round(call.text("nearest_mode", "round_prefer_floor"));
  if (form.place == nullptr || form.round == nullptr)
    return not_computed("its mode is not computed here");
  return form;
}

MadeOperator make_resize(const Call& call) {
  BTF_ASSIGN(Tensor* const x, call.input(0));
  BTF_TRY(check_sizes(*x));
  BTF_ASSIGN(const ResizeForm form, form_of(call));
  std::vector<ResizeAxis> axes = axes_of(*x);
  std::vector<std::size_t> which;
  for (const std::int64_t axis : call.integers("axes")) {
    BTF_ASSIGN(which.emplace_back(), axis_of(axis, x->rank()));
  }
  if (which.empty()) which = all_dims(x->rank());
  const bool crop = form.place->name == "tf_crop_and_resize";
  if (crop) {
    BTF_ASSIGN(const std::vector<double> region, call.whole_reals(1));
    if (region.size() != 2 * which.size()) return not_computed("its roi does not fit its rank");
    if (std::ranges::any_of(region, [](double x) { return !(std::abs(x) < 0x1p40); }))
      return not_computed("its roi cannot be used");
    for (std::size_t i = 0; i < which.size(); ++i) {
      axes[which[i]].begin = region[i];
      axes[which[i]].end = region[i + which.size()];
    }
  }
  Dims dims;
  if (call.has_input(2) && call.inputs[2]->elements() > 0) {
    BTF_ASSIGN(const std::vector<double> scales, call.whole_reals(2));
    BTF_ASSIGN(dims, scale_axes(axes, which, scales, crop));
  } else {
    BTF_ASSIGN(const std::vector<double> sizes, call.whole_reals(3));
    BTF_ASSIGN(dims,
               size_axes(axes, which, sizes, call.text("keep_aspect_ratio_policy", "stretch")));
    if (crop)
      for (const std::size_t d : which) axes[d].same = false;
  }
  const bool shrinks = std::ranges::any_of(axes, [](const ResizeAxis& a) { return a.scale < 1; });
  if (shrinks && call.integer("antialias", 0) != 0)
    return not_computed("its antialiasing is not computed here");
  return make_resized(*x, std::move(dims), form, std::move(axes), call.arithmetic);
}

constexpr auto kResizingRows = std::to_array<OperatorRow>({
    {"Upsample", 7, make_scaled, Passing::moved},
    {"Resize", 10, make_scaled, Passing::moved},
    {"Resize", 11, make_resize, Passing::moved},
});

}  // namespace

std::span<const OperatorRow> resizing_rows() { return kResizingRows; }

}  // namespace btf::network
