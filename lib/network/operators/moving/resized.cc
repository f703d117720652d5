#include "network/operators/moving/resized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "network/node/strides.h"

namespace btf::network {
namespace {

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

class Resized final : public Operator {
 public:
  Resized(Tensor& x, Dims dims, const ResizeForm& form, std::vector<ResizeAxis> axes,
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
  // Some runtimes do not crop dims whose size stays.
  Estimate resized_at(const Dims& index, bool crops_all) {
    std::vector<std::vector<Tap>> taps;
    double off = 0;  // of places, that devices compute in float32
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

  // The side of a place in an input that has nothing around it.
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

  // Some take the length before it is cut to a whole number. A single output of PyTorch's is at 0,
  // and half an element before it in ONNX's reference: only cubic ones tell them apart.
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

  // Devices divide by the scale, or multiply by its inverse; both are exact for most whole places.
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

  // All neighbours that a device may find nearest have the weight 1.
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
    // A device may stand between the next two.
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
    // Weights of cubic ones are small differences of large numbers.
    if (form_.mode == ResizeMode::cubic)
      error += 32 * kFloat32 * std::abs(form_.cubic) * std::max(std::abs(least), std::abs(most));
    return rounded({value, error}, arithmetic_);
  }

  // The steepest slope of a result, by the place in one dim and the range of the numbers around it:
  // half the sum of the weights' slopes. What lies outside leaves larger weights to the others.
  double steepest() const {
    if (form_.mode == ResizeMode::linear) return 1;
    return (2 + 2 * std::abs(form_.cubic)) * (form_.excludes_outside ? 2 : 1);
  }

  Tensor& x_;
  ResizeForm form_;
  std::vector<ResizeAxis> axes_;
  const Arithmetic& arithmetic_;
};

}  // namespace

const PlaceRow* find_place(std::string_view name) {
  const auto row = std::ranges::find(kPlaces, name, &PlaceRow::name);
  return row == kPlaces.end() ? nullptr : &*row;
}

Round find_round(std::string_view name) {
  const auto row = std::ranges::find(kRounds, name, &RoundRow::name);
  return row == kRounds.end() ? nullptr : row->round;
}

std::unique_ptr<Operator> make_resized(Tensor& x, Dims dims, const ResizeForm& form,
                                       std::vector<ResizeAxis> axes, const Arithmetic& arithmetic) {
  return std::make_unique<Resized>(x, std::move(dims), form, std::move(axes), arithmetic);
}

}  // namespace btf::network
