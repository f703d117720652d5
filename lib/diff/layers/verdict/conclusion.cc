#include "diff/layers/verdict/conclusion.h"

#include <algorithm>
#include <cmath>

#include "diff/layers/verdict/explained.h"
#include "diff/layers/verdict/sanity.h"
#include "diff/layers/verdict/words.h"

namespace btf {
namespace {

// From good to bad and back, behind the first root: more than a network does.
bool is_order_doubtful(const LayerReport& report, const JudgeLayers& options) {
  constexpr unsigned kMostTurns = 2;
  if (report.roots.empty() || report.linked() || report.statistics_only) return false;
  const Layer& first = report.layers[report.roots.front()];
  const double good = 2 * joined(options.growth * first.input_error, floor_of(first));
  bool bad = true;
  unsigned turns = 0;
  for (std::uint64_t i = report.roots.front() + 1; i < report.layers.size(); ++i) {
    const Layer& layer = report.layers[i];
    if (!can_judge(layer) || is_given(layer)) continue;
    const double e = layer.figures->one_sided() > 0 ? HUGE_VAL : layer.figures->relative_error;
    const bool now = bad ? e > good : e > 2 * good;
    turns += now != bad ? 1U : 0U;
    bad = now;
  }
  return turns > kMostTurns;
}

bool is_order_guessed(const LayerReport& report) {
  return report.order == OrderSource::natural ||
         (!report.order_left_out.empty() && report.order_left_out_by == OrderSource::natural);
}

// The largest number of a layer and of what it is computed from, whose steps its numbers keep.
double peak_around(const LayerReport& report, std::uint64_t i) {
  constexpr std::uint64_t kNear = 3;
  double peak = 0;
  const auto take = [&](std::uint64_t at) {
    if (report.layers[at].figures) peak = std::max(peak, report.layers[at].figures->actual.peak);
  };
  take(i);
  if (report.linked())
    for (const std::uint64_t input : report.layers[i].inputs) take(input);
  else
    for (std::uint64_t before = i - std::min(i, kNear); before < i; ++before) take(before);
  return peak;
}

// One layer in a coarser dtype than the others.
void note_quantised(LayerReport& report) {
  for (const std::uint64_t i : report.roots) {
    Layer& layer = report.layers[i];
    if (!layer.figures || layer.figures->actual.step == 0 || layer.figures->golden.step > 0 ||
        !is_coarser(*layer.figures, peak_around(report, i), layer.unit_roundoff))
      continue;
    layer.note = "its numbers lie on a grid: it was quantised here";
    report.sanity.push_back(
        {std::string(kQuantised),
         {i},
         quoted(layer.name()) +
             " was quantised: its numbers lie on a grid; `judge.compute` int8 expects that"});
  }
}

// The output that is furthest off, if that is too far.
std::optional<std::uint64_t> drifted(const LayerReport& report, const JudgeLayers& options) {
  std::optional<std::uint64_t> worst;
  std::optional<std::uint64_t> last;
  const double most = options.most_error.value_or(kMostError);
  const auto error = [&](std::uint64_t i) { return report.layers[i].figures->relative_error; };
  const auto look = [&](std::uint64_t i) {
    if (error(i) > most && (!worst || error(i) > error(*worst))) worst = i;
  };
  bool any = false;
  for (std::uint64_t i = 0; i < report.layers.size(); ++i) {
    if (!can_judge(report.layers[i])) continue;
    last = i;
    if (report.layers[i].role != "output") continue;
    any = true;
    look(i);
  }
  if (!any && last) look(*last);
  return worst;
}

}  // namespace

void settle(LayerReport& report, const JudgeLayers& options, const RunPrecision& precision,
            const std::set<std::uint64_t>& amplified, const LayerVerdict& earlier) {
  if (!precision.grid) note_quantised(report);
  report.order_doubtful = is_order_doubtful(report, options);
  const auto as = [&](VerdictKind kind, std::optional<std::uint64_t> layer) {
    conclude(report, options, kind, layer, earlier);
  };
  if (!report.roots.empty()) {
    const std::uint64_t first = report.roots.front();
    if (report.order_doubtful && is_order_guessed(report))
      return as(VerdictKind::cannot_tell, first);
    return as(amplified.contains(first) ? VerdictKind::amplified : VerdictKind::broke, first);
  }
  const auto dump = std::ranges::find(report.layers, LayerState::dump, &Layer::state);
  if (dump != report.layers.end())
    return as(VerdictKind::dump_wrong, static_cast<std::uint64_t>(dump - report.layers.begin()));
  const bool judged = std::ranges::any_of(report.layers, was_judged);
  const bool unmeasured = std::ranges::find(report.layers, LayerState::unmeasured, &Layer::state) !=
                          report.layers.end();
  if (!judged || unmeasured || precision.guessed_grid ||
      std::ranges::any_of(report.layers, is_off_unplaced))
    return as(VerdictKind::cannot_tell, std::nullopt);
  if (const auto off = drifted(report, options)) return as(VerdictKind::drift, off);
  const bool one_sided = !report.actual_only.empty() || !report.golden_only.empty();
  if (!report.missing_outputs.empty() || (options.require_all && one_sided))
    return as(VerdictKind::missing, std::nullopt);
  as(VerdictKind::clean, std::nullopt);
}

void conclude(LayerReport& report, const JudgeLayers& options, VerdictKind kind,
              std::optional<std::uint64_t> layer, const LayerVerdict& earlier) {
  report.verdict = {.kind = kind, .layer = layer};
  // The same layer: its location is known already.
  if (layer == earlier.layer) {
    report.verdict = earlier;
    report.verdict.kind = kind;
    report.verdict.between.clear();
  }
  if (layer && kind != VerdictKind::dump_wrong && kind != VerdictKind::drift)
    report.verdict.between = report.layers[*layer].unseen;
  say_verdict(report, options);
}

}  // namespace btf
