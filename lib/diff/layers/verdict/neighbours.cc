#include "diff/layers/verdict/neighbours.h"

#include "diff/layers/verdict/noise.h"

namespace btf {

bool is_weight(const Layer& layer) { return layer.role == "weight"; }
bool is_given(const Layer& layer) { return is_weight(layer) || layer.role == "outside"; }

bool can_judge(const Layer& layer) { return layer.placed && can_measure(layer); }

bool can_measure(const Layer& layer) {
  return layer.figures && layer.figures->pairs > 0 &&
         (layer.figures->golden.norm > 0 || layer.figures->actual.norm == 0) && !is_counted(layer);
}

bool is_recomputed(const Layer& layer) {
  return layer.spot && layer.spot->state != SpotState::unchecked;
}

bool adds_too_much(const Layer& layer, const JudgeLayers& options) {
  return options.most_own_error && is_recomputed(layer) && layer.spot->own_error &&
         *layer.spot->own_error > *options.most_own_error;
}

bool is_arithmetic(SpotState state) {
  return state == SpotState::follows || state == SpotState::coarser || state == SpotState::rounded;
}

bool was_judged(const Layer& layer) {
  return layer.state == LayerState::healthy && layer.figures && layer.figures->pairs > 0;
}

Neighbours::Neighbours(const LayerReport& report)
    : by_graph_(report.linked()), consumers_(report.layers.size()) {
  // By order alone the next ones stand for them.
  constexpr std::size_t kNext = 3;
  const auto& layers = report.layers;
  for (std::uint64_t i = 0; i < layers.size(); ++i) {
    // NaN and Inf may leave no pair, and still have to go somewhere.
    const bool special = layers[i].placed && layers[i].figures && layers[i].figures->one_sided() > 0;
    if (!can_judge(layers[i]) && (by_graph_ || !special)) continue;
    if (by_graph_) {
      for (const std::uint64_t input : layers[i].inputs)
        if (input != i) consumers_[input].push_back(i);
      continue;
    }
    for (std::uint64_t next = i + 1; next < layers.size() && consumers_[i].size() < kNext; ++next)
      if (can_judge(layers[next]) && !is_given(layers[next])) consumers_[i].push_back(next);
  }
}

}  // namespace btf
