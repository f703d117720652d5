// An activation function applied to one side only.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

struct Activation {
  std::string_view name;
  double (*narrow)(double x) = nullptr;
  long double (*wide)(long double x) = nullptr;
  double (*amplified)(double value, double relative) = nullptr;
};

template <typename Real>
Real sigmoid(Real x) {
  return 1 / (1 + std::exp(-x));
}
template <typename Real>
Real silu(Real x) {
  return x * sigmoid(x);
}
template <typename Real>
Real gelu(Real x) {
  return x / 2 * (1 + std::erf(x / std::sqrt(Real{2})));
}
template <typename Real>
Real gelu_tanh(Real x) {
  constexpr double kTwoByPi = 0.63661977236758134308;
  return x / 2 *
         (1 + std::tanh(std::sqrt(static_cast<Real>(kTwoByPi)) *
                        (x + static_cast<Real>(0.044715) * x * x * x)));
}
template <typename Real>
Real softplus(Real x) {
  return std::max(x, Real{0}) + std::log1p(std::exp(-std::abs(x)));
}
template <typename Real>
Real hard_sigmoid(Real x) {
  return std::clamp(x / 6 + Real{0.5}, Real{0}, Real{1});
}
template <typename Real>
Real hard_swish(Real x) {
  return x * hard_sigmoid(x);
}
template <typename Real>
Real leaky_relu(Real x) {
  return x < 0 ? x * static_cast<Real>(0.01) : x;
}
template <typename Real>
Real elu(Real x) {
  return x < 0 ? std::expm1(x) : x;
}
template <typename Real>
Real hyperbolic_tangent(Real x) {
  return std::tanh(x);
}
template <typename Real>
Real exponential(Real x) {
  return std::exp(x);
}
// Rounding before the function is scaled by the slope of the function.
template <double (*Function)(double)>
double amplified(double value, double relative) {
  const double by = std::abs(value) * relative / 4;  // a step
  return std::abs(Function(value + by) - Function(value - by));
}

template <double (*Function)(double)>
constexpr Activation row(std::string_view name, long double (*wide)(long double x)) {
  return {name, Function, wide, amplified<Function>};
}

// ReLU and clips are cuts: the search for saturation has them.
constexpr auto kActivations = std::to_array<Activation>({
    row<sigmoid<double>>("sigmoid", sigmoid<long double>),
    row<hyperbolic_tangent<double>>("tanh", hyperbolic_tangent<long double>),
    row<silu<double>>("SiLU", silu<long double>),
    row<gelu<double>>("GELU", gelu<long double>),
    row<gelu_tanh<double>>("GELU (tanh)", gelu_tanh<long double>),
    row<hard_sigmoid<double>>("hard sigmoid", hard_sigmoid<long double>),
    row<hard_swish<double>>("hard swish", hard_swish<long double>),
    row<leaky_relu<double>>("leaky ReLU", leaky_relu<long double>),
    row<elu<double>>("ELU", elu<long double>),
    row<softplus<double>>("softplus", softplus<long double>),
    row<exponential<double>>("exp", exponential<long double>),
});

// Does it change most of the numbers by far more than is allowed for rounding? Near 0 many of them
// change hardly anything, and noise would do.
bool changes_clearly(const Inquiry& inquiry, const ElementMap& map) {
  constexpr std::size_t kLeast = 8;
  const double clear = 4 * map.slack->relative;
  std::size_t changed = 0;
  for (const Point& point : inquiry.mismatches) {
    const long double before = map.side == MovedSide::actual ? point.actual : point.golden;
    long double after = 0;
    map.wide(&before, nullptr, 1, &after);
    if (std::abs(after - before) > clear * std::abs(before)) ++changed;
  }
  return changed >= kLeast && 2 * changed >= inquiry.mismatches.size();
}

SearchResult try_activation(const Inquiry& inquiry, const Activation& activation, MovedSide side) {
  ElementMap map = value_map(side, [&activation](auto value) {
    if constexpr (std::is_same_v<decltype(value), double>)
      return activation.narrow(value);
    else
      return activation.wide(value);
  });
  map.slack =
      Slack{.relative = relative_slack(inquiry.agreement), .amplified = activation.amplified};
  if (!changes_clearly(inquiry, map) || !fits_anywhere(inquiry, map) ||
      !convincing(inquiry, side, fitted_values(inquiry, map, inquiry.mismatches),
                  fitted_values(inquiry, map, inquiry.anywhere), 2.0 * kActivations.size()))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  const bool missing = side == MovedSide::actual;
  return Finding{{Cause::activation, (missing ? "golden" : "actual") + std::string(" = ") +
                                         std::string(activation.name) + " of " +
                                         (missing ? "actual" : "golden") + ": " +
                                         fitting_text(inquiry, all)},
                 all.exceptions};
}

}  // namespace

SearchResult find_activation(const Inquiry& inquiry) {
  // In few bits, and in whole numbers, functions look alike.
  constexpr int kLeastPrecision = 8;
  const HintInput& input = inquiry.input;
  if (!info(input.actual.dtype()).floating() || !info(input.golden.dtype()).floating() ||
      inquiry.agreement.grid.precision < kLeastPrecision)
    return std::nullopt;
  // Near 0 many of them do as little to a number as cutting off its last bits.
  if (inquiry.rounded) return std::nullopt;
  for (const MovedSide side : {MovedSide::actual, MovedSide::golden})
    for (const Activation& activation : kActivations) {
      BTF_ASSIGN(std::optional<Finding> finding, try_activation(inquiry, activation, side));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace btf::hints
