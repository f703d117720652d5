// Resize and Upsample: elements between those of another tensor.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/try.h"
#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {
namespace {

enum class ResizeMode : std::uint8_t { nearest, linear, cubic };

// One dim: maps an index of the output to a place in the input.
struct ResizeAxis {
  double input = 1;
  double output = 1;   // as an integer
  double resized = 1;  // before it was truncated
  double scale = 1;
  double begin = 0;  // begin of the region of interest, relative
  double end = 1;
  bool same = true;  // the size does not change
};

// The place of an output, in elements of the input.
using Place = double (*)(double x, const ResizeAxis& axis, double length);

// The error of a device that computes the place in float32.
enum class PlaceError : std::uint8_t {
  by_place,  // proportional to the place
  by_input,  // proportional to the place and to the input, as its terms are
  by_scale,  // by_place, but none if the scale is a power of two
  quotient,  // of a single quotient
};

struct PlaceRow {
  std::string_view name;
  PlaceError error{};
  Place place = nullptr;
};

using Round = double (*)(double);

struct ResizeForm {
  ResizeMode mode = ResizeMode::nearest;
  const PlaceRow* place = nullptr;
  Round round = nullptr;
  double cubic = -0.75;
  bool excludes_outside = false;
  double outside = 0;  // value where a region of interest reaches beyond the input
};

constexpr auto kPlaces = std::to_array<PlaceRow>({
    {"half_pixel", PlaceError::by_scale,
     [](double x, const ResizeAxis& a, double) { return (x + 0.5) / a.scale - 0.5; }},
    {"half_pixel_symmetric", PlaceError::by_input,
     [](double x, const ResizeAxis& a, double) {
       const double adjustment = a.output / (a.scale * a.input);
       return a.input / 2 * (1 - adjustment) + (x + 0.5) / a.scale - 0.5;
     }},
    {"pytorch_half_pixel", PlaceError::by_scale,
     [](double x, const ResizeAxis& a, double length) {
       return length > 1 ? (x + 0.5) / a.scale - 0.5 : 0;
     }},
    {"align_corners", PlaceError::by_place,
     [](double x, const ResizeAxis& a, double length) {
       return length == 1 ? 0 : x * (a.input - 1) / (length - 1);
     }},
    {"asymmetric", PlaceError::quotient,
     [](double x, const ResizeAxis& a, double) { return x / a.scale; }},
    {"tf_half_pixel_for_nn", PlaceError::by_scale,
     [](double x, const ResizeAxis& a, double) { return (x + 0.5) / a.scale; }},
    {"tf_crop_and_resize", PlaceError::by_input,
     [](double x, const ResizeAxis& a, double length) {
       return length > 1
                  ? a.begin * (a.input - 1) + x * (a.end - a.begin) * (a.input - 1) / (length - 1)
                  : (a.begin + a.end) * (a.input - 1) / 2;
     }},
});

struct RoundRow {
  std::string_view name;
  Round round = nullptr;
};

constexpr auto kRounds = std::to_array<RoundRow>({
    {"round_prefer_floor", [](double x) { return std::ceil(x - 0.5); }},
    {"round_prefer_ceil", [](double x) { return std::floor(x + 0.5); }},
    {"floor", [](double x) { return std::floor(x); }},
    {"ceil", [](double x) { return std::ceil(x); }},
});

struct Tap {
  std::uint64_t index = 0;
  double weight = 0;
};

class ResizeOp final : public Operator {
 public:
  ResizeOp(Tensor& x, Dims dims, const ResizeForm& form, std::vector<ResizeAxis> axes,
           const Arithmetic& arithmetic)
      : Operator({std::move(dims), x.dtype()}),
        x_(x),
        form_(form),
        axes_(std::move(axes)),
        arithmetic_(arithmetic) {}

  Estimate element(std::size_t, std::uint64_t number) override {
    const Dims index = index_of(number, outputs()[0].dims);
    Estimate found = resized_at(index, true);
    if (!is_crop()) return found;
    const Estimate other = resized_at(index, false);
    found.error = std::max(found.error, other.error + std::abs(found.value - other.value));
    return found;
  }

 private:
  // Some runtimes do not crop dims whose size does not change.
  Estimate resized_at(const Dims& index, bool crops_all) {
    std::vector<std::vector<Tap>> taps;
    double off = 0;  // error of places, which devices compute in float32
    Side side = Side::within;
    for (std::size_t d = 0; d < index.size(); ++d) {
      ResizeAxis axis = axes_[d];
      if (!crops_all && axis.scale == 1 && axis.output <= axis.input) axis.same = true;
      const double place = place_of(index[d], axis);
      const double error = place_error(index[d], axis, place);
      const bool at_begin = index[d] == 0 && axis.begin == 0;
      if (is_crop() && !axis.same && !at_begin) side = std::max(side, side_of(place, error, axis));
      off += error;
      taps.push_back(taps_of(place, error, axis));
    }
    if (side == Side::beyond) return {form_.outside, 0};
    Estimate found = form_.mode == ResizeMode::nearest ? nearest(taps) : between(taps, off);
    // Codes have no halves.
    if (!x_.floating() && form_.mode != ResizeMode::nearest) found.error += 1;
    if (side == Side::edge) found.error += std::abs(found.value - form_.outside);
    return found;
  }

  // Whether a place in an input has neighbours on both sides.
  enum class Side : std::uint8_t { within, edge, beyond };

  bool is_crop() const { return form_.place->name == "tf_crop_and_resize"; }

  static Side side_of(double place, double error, const ResizeAxis& axis) {
    const double last = axis.input - 1;
    if (place < -error || place > last + error) return Side::beyond;
    return place < error || place > last - error ? Side::edge : Side::within;
  }

  double place_of(std::uint64_t index, const ResizeAxis& axis) const {
    const auto x = static_cast<double>(index);
    return axis.same ? x : form_.place->place(x, axis, axis.output);
  }

  // Some use the length before it is truncated. A single output is at 0 in PyTorch, and half an
  // element before it in ONNX's reference implementation; the difference shows in cubic modes only.
  double place_error(std::uint64_t index, const ResizeAxis& axis, double place) const {
    if (axis.same) return 0;
    const double other = form_.place->place(static_cast<double>(index), axis, axis.resized);
    const PlaceError kind = form_.place->error;
    if (kind == PlaceError::quotient) return quotient_error(index, axis, place);
    const bool exact = is_power_of_two(axis.scale) && index < 1U << 22 && axis.output > 1;
    if (kind == PlaceError::by_scale && exact) return 0;
    const bool unsure = form_.mode == ResizeMode::cubic && axis.output <= 1 &&
                        form_.place->name == "pytorch_half_pixel";
    const double parts = kind == PlaceError::by_input ? axis.input : 0;
    return (unsure ? 0.5 : 0) + std::abs(other - place) +
           4 * kFloat32 * (std::abs(place) + 1 + parts);
  }

  // Devices divide by the scale or multiply by its inverse; both are exact for most integer places.
  static double quotient_error(std::uint64_t index, const ResizeAxis& axis, double place) {
    const auto x = static_cast<float>(index);
    const double quotient = x / static_cast<float>(axis.scale);
    const double product = x * static_cast<float>(1 / axis.scale);
    return std::max(std::abs(quotient - place), std::abs(product - place));
  }

  static bool is_power_of_two(double scale) {
    int exponent = 0;
    return std::frexp(scale, &exponent) == 0.5;
  }

  // 0 for NaN.
  static std::uint64_t inside(double at, const ResizeAxis& axis) {
    return at > 0 ? static_cast<std::uint64_t>(std::min(at, axis.input - 1)) : 0;
  }

  // All neighbours that a device may consider nearest have weight 1.
  std::vector<Tap> taps_of(double place, double error, const ResizeAxis& axis) const {
    if (axis.same) return {{static_cast<std::uint64_t>(place), 1}};
    if (form_.mode == ResizeMode::nearest) {
      std::vector<Tap> found{{inside(form_.round(place), axis), 1}};
      for (const double other : {place - error, place + error}) {
        const std::uint64_t at = inside(form_.round(other), axis);
        if (at != found[0].index) found.push_back({at, 1});
      }
      return found;
    }
    const double first = std::floor(place);
    const double t = place - first;
    if (form_.mode == ResizeMode::cubic) return cubic(first, t, axis);
    std::vector<Tap> found{{inside(first, axis), 1 - t}, {inside(first + 1, axis), t}};
    // The place on a device may be between the next two elements.
    if (t < error) found.push_back({inside(first - 1, axis), 0});
    if (t > 1 - error) found.push_back({inside(first + 2, axis), 0});
    return found;
  }

  std::vector<Tap> cubic(double first, double t, const ResizeAxis& axis) const {
    const double a = form_.cubic;
    const auto near = [a](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    const auto far = [a](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    const std::array<double, 4> weights{far(t + 1), near(t), near(1 - t), far(2 - t)};
    std::vector<Tap> taps;
    double sum = 0;
    for (std::size_t k = 0; k < weights.size(); ++k) {
      const double at = first - 1 + static_cast<double>(k);
      if (form_.excludes_outside && (at < 0 || at >= axis.input)) continue;
      taps.push_back({inside(at, axis), weights[k]});
      sum += weights[k];
    }
    if (form_.excludes_outside)
      for (Tap& tap : taps) tap.weight /= sum;
    return taps;
  }

  template <typename Take>
  void each(const std::vector<std::vector<Tap>>& taps, std::size_t dim, std::uint64_t number,
            double weight, const Take& take) {
    if (dim == taps.size()) return take(x_.at(number), weight);
    for (const Tap& tap : taps[dim])
      each(taps, dim + 1, number * x_.dims()[dim] + tap.index, weight * tap.weight, take);
  }

  Estimate nearest(const std::vector<std::vector<Tap>>& taps) {
    std::optional<Estimate> found;
    each(taps, 0, 0, 1, [&](const Estimate& x, double) {
      if (!found)
        found = x;
      else
        found->error = std::max(found->error, x.error + std::abs(x.value - found->value));
    });
    return *found;
  }

  Estimate between(const std::vector<std::vector<Tap>>& taps, double off) {
    double value = 0;
    double magnitude = 0;
    double error = 0;
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    bool unsure = false;  // Inf or NaN that may be left out
    each(taps, 0, 0, 1, [&](const Estimate& x, double weight) {
      unsure = unsure || (weight == 0 && !std::isfinite(x.value));
      value += weight * x.value;
      magnitude += std::abs(weight * x.value);
      error += std::abs(weight) * x.error;
      least = std::min(least, x.value);
      most = std::max(most, x.value);
    });
    if (unsure) return {std::numeric_limits<double>::quiet_NaN(), HUGE_VAL};
    error += steepest() * off * (most - least) + (8 * kFloat32 + arithmetic_.operand) * magnitude;
    // Cubic weights are small differences of large numbers.
    if (form_.mode == ResizeMode::cubic)
      error += 32 * kFloat32 * std::abs(form_.cubic) * std::max(std::abs(least), std::abs(most));
    return rounded({value, error}, arithmetic_);
  }

  // The steepest slope of a result along one dim, from the range of the numbers around its place:
  // half the sum of the slopes of the weights. Outside neighbours leave larger weights to the
  // others.
  double steepest() const {
    if (form_.mode == ResizeMode::linear) return 1;
    return (2 + 2 * std::abs(form_.cubic)) * (form_.excludes_outside ? 2 : 1);
  }

  Tensor& x_;
  ResizeForm form_;
  std::vector<ResizeAxis> axes_;
  const Arithmetic& arithmetic_;
};

// nullptr if there is no such mode.
const PlaceRow* find_place(std::string_view name) {
  const auto row = std::ranges::find(kPlaces, name, &PlaceRow::name);
  return row == kPlaces.end() ? nullptr : &*row;
}

// The function of a nearest_mode; nullptr if there is no such mode.
Round find_round(std::string_view name) {
  const auto row = std::ranges::find(kRounds, name, &RoundRow::name);
  return row == kRounds.end() ? nullptr : row->round;
}

// With an axis for each dim. Place and rounding of the form are set.
std::unique_ptr<Operator> make_resized(Tensor& x, Dims dims, const ResizeForm& form,
                                       std::vector<ResizeAxis> axes, const Arithmetic& arithmetic) {
  return std::make_unique<ResizeOp>(x, std::move(dims), form, std::move(axes), arithmetic);
}

// Resize.

Result<ResizeMode> mode_of(const Call& call) {
  const std::string mode = call.text("mode", "nearest");
  if (mode == "nearest") return ResizeMode::nearest;
  if (mode == "linear" || mode == "bilinear") return ResizeMode::linear;
  if (mode == "cubic") return ResizeMode::cubic;
  return not_computed("its mode '" + mode + "' is not computed here");
}

Status check_sizes(const Tensor& x) {
  constexpr std::uint64_t kMax = 1ULL << 40;
  constexpr std::size_t kMaxInterpolatedRank = 8;
  if (x.elements() == 0 || x.elements() > kMax || x.rank() > kMaxInterpolatedRank)
    return not_computed("its input is empty or too large");
  return {};
}

// By a scale for each dim.
Result<Dims> scale_axes(std::vector<ResizeAxis>& axes, const std::vector<std::size_t>& which,
                        const std::vector<double>& scales, bool crop) {
  constexpr double kMax = 0x1p40;
  if (scales.size() != which.size()) return not_computed("its scales do not fit its rank");
  for (std::size_t i = 0; i < which.size(); ++i) {
    ResizeAxis& axis = axes[which[i]];
    axis.scale = scales[i];
    axis.resized = axis.input * scales[i] * (crop ? axis.end - axis.begin : 1);
    // With the scale as float32: 2.9999998 is 3.
    axis.output = std::floor(axis.resized * (1 + 4 * kFloat32));
    if (!(axis.scale > 0) || !(axis.output >= 0 && axis.output < kMax))
      return not_computed("its scales cannot be used");
    axis.same = axis.scale == 1 && !crop;
  }
  Dims dims;
  for (const ResizeAxis& axis : axes) dims.push_back(static_cast<std::uint64_t>(axis.output));
  return dims;
}

Result<Dims> size_axes(std::vector<ResizeAxis>& axes, const std::vector<std::size_t>& which,
                       const std::vector<double>& sizes, const std::string& policy) {
  constexpr double kMax = 0x1p40;
  if (sizes.size() != which.size()) return not_computed("its sizes do not fit its rank");
  double least = HUGE_VAL;
  double most = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!(sizes[i] >= 1 && sizes[i] < kMax)) return not_computed("its sizes cannot be used");
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
      if (!(axis.resized < kMax)) return not_computed("its sizes cannot be used");
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

// Whether it reduces the number of elements, but not to every second or third.
bool is_between(double scale) {
  return scale < 1 && std::abs(1 / scale - std::round(1 / scale)) > 8 * kFloat32 / scale;
}

// Upsample, and Resize of version 10: by scales, from the origin.
OperatorResult make_scaled(const Call& call) {
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

OperatorResult make_resize(const Call& call) {
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
    {"Upsample", 7, make_scaled, ErrorPropagation::moved},
    {"Resize", 10, make_scaled, ErrorPropagation::moved},
    {"Resize", 11, make_resize, ErrorPropagation::moved},
});

}  // namespace

std::span<const OperatorRow> resizing_rows() { return kResizingRows; }

}  // namespace btf::network
