#include "diff/layers/verdict/dump_judge.h"

#include <algorithm>
#include <ranges>

#include "diff/layers/verdict/operators.h"

namespace btf {
namespace {

// An error that propagates is at least this part of what the consumer's size lets through.
constexpr double kCarried = 1.0 / 8;
// Or so much of it, where that is less than so much of the noise without it.
constexpr double kHalf = 0.5;
constexpr double kQuiet = 0.7;

// By order alone an error is looked for in this many layers.
constexpr std::uint64_t kFar = 12;

bool has_special(const LayerFigures& figures) { return figures.one_sided() > 0; }

bool all_finite(const LayerFigures& figures) {
  return !has_special(figures) && figures.nan.both + figures.inf.both == 0;
}

// The product of the last dims, those behind the channels.
double image_of(const Dims& dims) {
  double size = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) size *= static_cast<double>(dims[d]);
  return size;
}

// Does every number of an input go into numbers of this layer in such a way that NaN and Inf are
// not lost?
bool carries_specials(const Layer& layer, const Layer& input) {
  if (!layer.unseen.empty()) return false;
  if (layer.op != "Conv") return is_one_of(layer.op, kCarryingSpecials);
  // With strides numbers may be left out.
  constexpr std::size_t kLeastRank = 3;
  return layer.actual_dims.size() >= kLeastRank &&
         layer.actual_dims.size() == input.actual_dims.size() &&
         2 * image_of(layer.actual_dims) > image_of(input.actual_dims);
}

}  // namespace

bool DumpJudge::is_dump(std::uint64_t i, const Inputs& before) const {
  // The least error that statistics allow says nothing of consumers that seem to agree.
  if (options_.isolated || report_.statistics_only) return false;
  const auto& consumers = neighbours_.consumers(i);
  if (consumers.empty()) return false;
  if (!std::ranges::all_of(consumers, [&](std::uint64_t c) { return agrees(c, i, before); }))
    return false;
  // A normalisation takes a scale out again, so that nothing behind it can tell.
  const LayerFigures& own = *report_.layers[i].figures;
  const bool along = along_of(own, {}) != LayerFault::none && own.relative_error < kTooFar;
  const bool normalised = along && std::ranges::all_of(consumers, [&](std::uint64_t c) {
                            return is_op(report_.layers[c], kScaleFree, kScaleFreeWords);
                          });
  return !normalised && (neighbours_.by_graph() || !comes_back(i, before, kFar));
}

bool DumpJudge::is_input_dump(std::uint64_t i, const Inputs& before) const {
  if (!is_dump(i, before)) return false;
  if (neighbours_.by_graph()) return true;
  // A little error may be lost in noise, and a scale in a normalisation that names do not show.
  const LayerFigures& own = *report_.layers[i].figures;
  const bool plain = own.relative_error >= kSurely * floor_of(report_.layers[i]) &&
                     (own.relative_error >= kTooFar || along_of(own, {}) == LayerFault::none);
  return plain &&
         std::ranges::all_of(neighbours_.consumers(i),
                             [&](std::uint64_t c) {
                               return report_.layers[c].figures->relative_error <=
                                      carried(i, c) * kCarried;
                             }) &&
         !comes_back(i, before, report_.layers.size());
}

// The part of layer i's error that the size of a consumer lets through.
double DumpJudge::carried(std::uint64_t i, std::uint64_t consumer) const {
  const LayerFigures& own = *report_.layers[i].figures;
  return own.relative_error *
         std::min(1.0, own.golden.norm / report_.layers[consumer].figures->golden.norm);
}

bool DumpJudge::is_special_dump(std::uint64_t i) const {
  if (options_.isolated || !neighbours_.by_graph()) return false;
  bool carried = false;
  for (std::uint64_t c = 0; c < report_.layers.size(); ++c) {
    const Layer& layer = report_.layers[c];
    if (c == i || std::ranges::find(layer.inputs, i) == layer.inputs.end()) continue;
    if (!layer.figures || !all_finite(*layer.figures) ||
        !is_explained(c, graph_inputs(report_.layers, c, i)))
      return false;
    carried = carried || carries_specials(layer, report_.layers[i]);
  }
  return carried;
}

bool DumpJudge::next_are_finite(std::uint64_t i, const Inputs& before) const {
  const auto& consumers = neighbours_.consumers(i);
  return !neighbours_.by_graph() && !consumers.empty() &&
         std::ranges::all_of(consumers, [&](std::uint64_t c) {
           return all_finite(*report_.layers[c].figures) && is_explained(c, before);
         });
}

// Is it no further off than these inputs explain?
bool DumpJudge::is_explained(std::uint64_t consumer, const Inputs& in) const {
  const Layer& layer = report_.layers[consumer];
  const LayerFigures& figures = *layer.figures;
  if (!can_judge(layer)) return figures.equal == figures.pairs;
  return times_noise(figures.relative_error, explained_.noise(layer, in)) < options_.limit &&
         (figures.pairs < kFewNumbers ||
          times_noise(figures.slice_error, explained_.slice_noise(layer, in)) <
              explained_.slice_limit(layer));
}

bool DumpJudge::agrees(std::uint64_t consumer, std::uint64_t i, const Inputs& before) const {
  const Layer& layer = report_.layers[consumer];
  const LayerFigures& figures = *layer.figures;
  if (has_special(figures)) return false;
  const Inputs in = inputs_without(consumer, i, before);
  const double through = carried(i, consumer);
  if (figures.relative_error > through * kCarried &&
      (figures.relative_error > through * kHalf ||
       figures.relative_error >= kQuiet * explained_.noise(layer, in)))
    return false;
  // The rest of the error may be in one slice.
  return figures.pairs < kFewNumbers ||
         times_noise(figures.slice_error, explained_.slice_noise(layer, in)) <
             explained_.slice_limit(layer);
}

Inputs DumpJudge::inputs_without(std::uint64_t layer, std::uint64_t i, const Inputs& before) const {
  return neighbours_.by_graph() ? graph_inputs(report_.layers, layer, i) : before;
}

// By order alone the next layers may be of another branch: does the error turn up later?
bool DumpJudge::comes_back(std::uint64_t i, const Inputs& before, std::uint64_t far) const {
  Inputs in = before;
  const std::uint64_t end = std::min<std::uint64_t>(report_.layers.size(), i + 1 + far);
  for (std::uint64_t later = i + 1; later < end; ++later) {
    const Layer& layer = report_.layers[later];
    if (!can_judge(layer) || layer.state == LayerState::dump) continue;
    const LayerFigures& figures = *layer.figures;
    if (has_special(figures)) return true;
    const double b = times_noise(figures.relative_error, explained_.noise(layer, in));
    if (b >= options_.limit) return true;
    if (b >= kLeastAlong && figures.pairs >= kFewNumbers &&
        along_of(figures, order_inputs(report_.layers, i, in)) != LayerFault::none)
      return true;
    in.take(layer, false);
  }
  return false;
}

}  // namespace btf
