#include "fit/scales/scale_methods.h"

#include <algorithm>
#include <array>
#include <limits>

#include "convert/quantize/scales.h"

namespace btf {
namespace {

std::optional<double> by_part(const Magnitudes& magnitudes, const CodeGrid&, DType dtype,
                              double part) {
  const double largest = magnitudes.at_part(part);
  if (largest == 0) return std::nullopt;
  return static_cast<double>(symmetric_scale(largest, dtype));
}

std::optional<double> by_squares(const Magnitudes& magnitudes, const CodeGrid& grid, DType,
                                 double) {
  using Limits = std::numeric_limits<float>;
  return static_cast<double>(static_cast<float>(std::clamp<double>(
      least_squares_scale(magnitudes, grid), Limits::denorm_min(), Limits::max())));
}

constexpr auto kMethods = std::to_array<ScaleMethod>({
    {{FitScaleMethod::maximum, "maximum"}, by_part, 1},
    {{FitScaleMethod::p99_999, "p99.999"}, by_part, .99999},
    {{FitScaleMethod::p99_99, "p99.99"}, by_part, .9999},
    {{FitScaleMethod::p99_9, "p99.9"}, by_part, .999},
    {{FitScaleMethod::least_squares, "squares"}, by_squares},
});

constexpr auto kNames = [] {
  std::array<Named<FitScaleMethod>, kMethods.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kMethods[i].name;
  return names;
}();

}  // namespace

std::span<const ScaleMethod> scale_methods() { return kMethods; }

std::span<const Named<FitScaleMethod>> fit_scale_methods() { return kNames; }

std::string_view fit_scale_method_name(FitScaleMethod method) {
  return std::ranges::find(kNames, method, &Named<FitScaleMethod>::value)->name;
}

}  // namespace btf
