#include "diff/layers/verdict/explained.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "diff/layers/verdict/operators.h"

namespace btf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kSteps = 4;
// The worst slice may grow faster.
constexpr double kSliceGrowth = 3;
constexpr double kSliceSteps = 8;
// So much of an error goes along with the signal where a scale or an offset is off.
constexpr double kAlong = 0.8;
constexpr double kAlongInputs = 0.5;

}  // namespace

double times_noise(double e, double noise) {
  if (e == 0) return 0;
  return noise > 0 ? e / noise : kInf;
}

LayerFault along_of(const LayerFigures& figures, const Inputs& in) {
  if (figures.gain_share >= kAlong && in.gain_share < kAlongInputs) return LayerFault::gain;
  if (figures.offset_share >= kAlong && in.offset_share < kAlongInputs) return LayerFault::offset;
  return LayerFault::none;
}

bool is_op(const Layer& layer, std::span<const std::string_view> ops,
           std::span<const std::string_view> words) {
  return layer.op.empty() ? has_word(layer.name(), words) : is_one_of(layer.op, ops);
}

bool is_off_unplaced(const Layer& layer) {
  return !layer.placed && layer.state == LayerState::unjudged && layer.error_to_noise >= kSurely;
}

double floor_of(const Layer& layer) { return kSteps * layer.unit_roundoff; }

bool Explained::adds(const Layer& layer, const Inputs& in) const {
  return neighbours_.by_graph() && in.direct && is_one_of(layer.op, kAdding);
}

// A quantised product is as coarse as what it multiplies.
double Explained::u_of(const Layer& layer, const Inputs& in) const {
  return precision_.grid ? std::max(layer.unit_roundoff, in.unit_roundoff) : layer.unit_roundoff;
}

double Explained::noise(const Layer& layer, const Inputs& in) const {
  const double carried = adds(layer, in) ? in.adding / layer.figures->golden.norm
                                         : options_.growth * in.relative_error;
  return joined(carried, kSteps * u_of(layer, in));
}

double Explained::slice_noise(const Layer& layer, const Inputs& in) const {
  const double carried = adds(layer, in) ? in.adding_slices / layer.figures->golden.norm
                                         : kSliceGrowth * in.slice_error;
  return joined(carried, kSliceSteps * u_of(layer, in));
}

// Slices of what only moves are others than its input's, and what is large among logits is larger
// among probabilities.
double Explained::slice_limit(const Layer& layer) const {
  if (is_op(layer, kMoving, kMovingWords)) return kInf;
  const bool exponential = is_op(layer, kExponentials, kExponentialWords);
  return exponential ? std::max(options_.limit, kSurely) : options_.limit;
}

}  // namespace btf
