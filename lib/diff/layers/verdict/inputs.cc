#include "diff/layers/verdict/inputs.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "diff/layers/verdict/neighbours.h"

namespace btf {

void Inputs::take(const Layer& layer, bool add) {
  if (layer.state == LayerState::dump || !layer.figures || !layer.placed) return;
  const LayerFigures& f = *layer.figures;
  special = special || f.one_sided() > 0;
  exact = exact && f.equal == f.pairs;
  if (!can_judge(layer)) return;
  // A tensor of one slice has no other error than its own.
  const double slice = std::max(f.slice_error, f.relative_error);
  const auto merge = [&](double all, double one) {
    return add ? joined(all, one) : std::max(all, one);
  };
  relative_error = merge(relative_error, f.relative_error);
  slice_error = merge(slice_error, slice);
  gain_share = std::max(gain_share, f.gain_share);
  offset_share = std::max(offset_share, f.offset_share);
  adding += f.error;
  adding_slices += slice * f.golden.norm;
  const double n = static_cast<double>(f.pairs);
  const double spread = f.golden.norm * f.golden.norm - f.golden.sum * f.golden.sum / n;
  if (f.error > 0)
    spread_error = std::max(spread_error, spread > 0 ? f.error / std::sqrt(spread) : HUGE_VAL);
  unit_roundoff = std::max(unit_roundoff, layer.unit_roundoff);
  rms_error = std::max(rms_error, f.error / std::sqrt(n));
  peak = std::max(peak, f.golden.peak);
}

Inputs order_inputs(const std::vector<Layer>& all, std::uint64_t i, const Inputs& before) {
  constexpr std::uint64_t kNear = 3;
  Inputs near;
  for (std::uint64_t last = i - std::min(i, kNear); last < i; ++last) near.take(all[last], false);
  Inputs in = before;
  in.gain_share = near.gain_share;
  in.offset_share = near.offset_share;
  in.adding = near.adding;
  in.spread_error = near.spread_error;
  in.rms_error = near.rms_error;
  in.peak = near.peak;
  in.unit_roundoff = near.unit_roundoff;
  in.direct = false;
  return in;
}

Inputs graph_inputs(const std::vector<Layer>& all, std::uint64_t i, std::uint64_t without) {
  Inputs in;
  in.direct = all[i].unseen.empty();
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> open = all[i].inputs;
  while (!open.empty()) {
    const std::uint64_t input = open.back();
    open.pop_back();
    if (!seen.insert(input).second) continue;
    const Layer& layer = all[input];
    if (input != without && layer.state != LayerState::dump && layer.figures) {
      in.take(layer, true);
      continue;
    }
    in.direct = false;
    open.insert(open.end(), layer.inputs.begin(), layer.inputs.end());
  }
  return in;
}

}  // namespace btf
