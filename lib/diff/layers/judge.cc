// The verdict, made of figures, order and spot checks (docs/layers.md, section 4).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ranges>
#include <set>

#include "btf/layers/layers.h"
#include "diff/layers/conclusion.h"
#include "diff/layers/explained.h"

namespace btf {
namespace {

// Is it the layer that is off, or its dump? What is computed from it tells.

class DumpJudge {
 public:
  // All of them outlive it.
  DumpJudge(const LayerReport& report, const JudgeLayers& options, const Neighbours& neighbours,
            const Explained& explained)
      : report_(report), options_(options), neighbours_(neighbours), explained_(explained) {}

  // True if the consumers of layer i behave as if it were right. `before`: of all layers before it.
  bool is_dump(std::uint64_t i, const Inputs& before) const;

  // For the network's only input, which all layers depend on: no layer shows its error.
  bool is_input_dump(std::uint64_t i, const Inputs& before) const;

  // For a layer with NaN or Inf: with a graph, every consumer has none and agrees, and one of them
  // would have to have some.
  bool is_special_dump(std::uint64_t i) const;

  // By order alone: do the next layers agree and have none?
  bool next_are_finite(std::uint64_t i, const Inputs& before) const;

 private:
  bool agrees(std::uint64_t consumer, std::uint64_t i, const Inputs& before) const;
  Inputs inputs_without(std::uint64_t layer, std::uint64_t i, const Inputs& before) const;
  double carried(std::uint64_t i, std::uint64_t consumer) const;
  bool is_explained(std::uint64_t consumer, const Inputs& in) const;
  bool comes_back(std::uint64_t i, const Inputs& before, std::uint64_t far) const;

  const LayerReport& report_;
  const JudgeLayers& options_;
  const Neighbours& neighbours_;
  const Explained& explained_;
};

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
  constexpr std::size_t kMinRank = 3;
  return layer.actual_dims.size() >= kMinRank &&
         layer.actual_dims.size() == input.actual_dims.size() &&
         2 * image_of(layer.actual_dims) > image_of(input.actual_dims);
}

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
    if (b >= kMinAlong && figures.pairs >= kFewNumbers &&
        along_of(figures, order_inputs(report_.layers, i, in)) != LayerFault::none)
      return true;
    in.take(layer, false);
  }
  return false;
}

// The verdict, out of figures and order alone (docs/layers.md, section 4).

// Evenness of noise: no slice has this many times the whole's error, or this many half steps.
constexpr double kEven = 6;

// So much of an error goes along with the signal where a scale or an offset is off.
constexpr double kAlongAtFirst = 0.5;

class LayerJudge {
 public:
  LayerJudge(LayerReport& report, const JudgeLayers& options)
      : report_(report),
        options_(options),
        precision_(run_precision(report, options)),
        neighbours_(report),
        explained_(options, precision_, neighbours_),
        dumps_(report, options, neighbours_, explained_),
        outputs_error_(error_of_outputs(report)),
        was_(std::move(report.verdict)) {}

  void run() {
    for (;;) {
      judge_all();
      // Dumps may be wider than what was computed: then the very first products show it.
      const auto coarser = coarser_precision();
      if (!coarser) break;
      precision_ = *coarser;
    }
    if (report_.verdict.kind != VerdictKind::inputs)
      settle(report_, options_, precision_, amplified_, was_);
  }

 private:
  std::vector<Layer>& layers() { return report_.layers; }

  void judge_all() {
    report_.unit_roundoff = precision_.unit_roundoff;
    report_.noise_source = is_by_baseline(report_) ? "the baseline" : precision_.source;
    report_.roots.clear();
    report_.verdict = {};
    before_ = {};
    amplified_.clear();
    for (Layer& layer : report_.layers) reset(layer);
    report_.sanity = check_sanity(report_);
    mark_reused();
    judge_watching();
    if (judge_inputs()) return;
    for (std::uint64_t i = 0; i < layers().size(); ++i) {
      turns_finite_ = false;
      judge(i);
      const bool special = before_.special;
      before_.take(layers()[i], false);
      if (turns_finite_) before_.special = special;
    }
  }

  // Where the first product is off already, as noise is, by what a coarser dtype explains.
  std::optional<RunPrecision> coarser_precision() const {
    if (report_.roots.empty() || report_.verdict.kind == VerdictKind::inputs) return std::nullopt;
    const std::uint64_t first = report_.roots.front();
    const Layer& layer = report_.layers[first];
    if (!layer.figures || layer.fault == LayerFault::born || layer.fault == LayerFault::shape ||
        is_recomputed(layer) || !is_early(first))
      return std::nullopt;
    const LayerFigures& f = *layer.figures;
    if (f.gain_share >= kAlongAtFirst || f.offset_share >= kAlongAtFirst ||
        f.slice_error > kEven * f.relative_error || layer.baseline)
      return std::nullopt;
    return coarser_than(precision_, layer, f.relative_error / kEven, options_);
  }

  bool is_early(std::uint64_t i) const {
    constexpr std::uint64_t kFirstProducts = 3;
    constexpr std::uint64_t kEnough = 10;  // layers, to tell a beginning
    if (report_.layers.size() < kEnough) return false;
    if (!neighbours_.by_graph()) return i * 10 < report_.layers.size() || all_exact_before(i);
    if (!is_one_of(report_.layers[i].op, kProducts)) return false;
    std::uint64_t before = 0;
    for (std::uint64_t other = 0; other < i; ++other)
      before += is_one_of(report_.layers[other].op, kProducts) ? 1U : 0U;
    return before < kFirstProducts;
  }

  bool all_exact_before(std::uint64_t i) const {
    return std::all_of(report_.layers.begin(),
                       report_.layers.begin() + static_cast<std::ptrdiff_t>(i),
                       [](const Layer& layer) {
                         return !layer.figures || layer.figures->relative_error < 0x1p-24;
                       });
  }

  void reset(Layer& layer) {
    const bool shape = layer.fault == LayerFault::shape;
    layer.fault = shape ? LayerFault::shape : LayerFault::none;
    layer.state = layer.figures || shape ? LayerState::healthy : LayerState::unmeasured;
    layer.note = layer.trouble;
    layer.input_error = layer.noise = layer.error_to_noise = layer.slice_error_to_noise = 0;
    layer.unit_roundoff = layer.figures ? layer_u(layer, precision_, options_) : 0;
  }

  // A buffer that holds what another layer computed is a wrong dump, whatever comes after it.
  void mark_reused() {
    for (const SanityFinding& finding : report_.sanity) {
      if (finding.code != kReusedBuffer && finding.code != kShifted) continue;
      for (const std::uint64_t i : finding.layers)
        // Where what is computed from it was computed from these numbers, the device had them: an
        // operation was left out.
        if (layers()[i].figures->relative_error > kTooFar / 5 &&
            !(is_recomputed(layers()[i]) && layers()[i].spot->state != SpotState::unused &&
              layers()[i].spot->state != SpotState::off)) {
          layers()[i].state = LayerState::dump;
          layers()[i].note = finding.message;
        }
    }
  }

  // Does the watched run give what the one that was not watched gave?
  void judge_watching() {
    constexpr double kApart = 8;  // half steps
    report_.watching_changed_result =
        report_.watched_error && *report_.watched_error > kApart * precision_.unit_roundoff;
  }

  // Inputs of the network that differ explain all that follows.
  bool judge_inputs() {
    for (std::uint64_t i = 0; i < layers().size(); ++i) {
      Layer& layer = layers()[i];
      if (!is_input(i) || !layer.figures || layer.state == LayerState::dump) continue;
      const LayerFigures& figures = *layer.figures;
      const bool special = figures.one_sided() > 0;
      const bool off = is_counted(layer) ? figures.equal < figures.pairs : is_off(layer);
      if (!special && !off) continue;
      const LayerFault fault = special ? LayerFault::born : LayerFault::error;
      if (is_recomputed(layer) && layer.spot->state == SpotState::unused) {
        dump(layer, fault);
        continue;
      }
      const bool used = is_recomputed(layer) && layer.spot->state == SpotState::used;
      if (!used && special && is_special_dump(i)) {
        dump(layer, LayerFault::born);
        continue;
      }
      // By order alone what comes next need not be computed from one of several.
      if (!used && !special && (neighbours_.by_graph() || is_only_input(i)) &&
          dumps_.is_input_dump(i, before_)) {
        dump(layer, LayerFault::error);
        continue;
      }
      layer.state = LayerState::root;
      layer.fault = fault;
      layer.noise = floor_of(layer);
      layer.error_to_noise = layer.noise > 0 ? figures.relative_error / layer.noise : HUGE_VAL;
      report_.roots.push_back(i);
    }
    if (report_.roots.empty()) return false;
    for (Layer& layer : layers())
      if (layer.state == LayerState::healthy) {
        layer.state = LayerState::unjudged;
        layer.note = "the inputs of the network differ";
      }
    conclude(report_, options_, VerdictKind::inputs, report_.roots.front(), was_);
    return true;
  }

  // For an input of the network, whose numbers the device only rounds: off by more than rounding,
  // or in proportion to the signal.
  static bool is_off(const Layer& input) {
    const LayerFigures& figures = *input.figures;
    const double b = times_noise(figures.relative_error, floor_of(input));
    return b > 1 || (b >= kMinAlong && figures.pairs >= kFewNumbers &&
                     along_of(figures, {}) != LayerFault::none);
  }

  bool is_input(std::uint64_t i) const {
    const Layer& layer = report_.layers[i];
    if (layer.role == "input") return true;
    return layer.role.empty() && i == 0 && !report_.linked() && layer.placed &&
           has_word(layer.name(), std::to_array<std::string_view>({"input", "images"}));
  }

  // Is all that follows computed from it? Names of layers have paths.
  bool is_only_input(std::uint64_t i) const {
    constexpr auto kWords = std::to_array<std::string_view>({"input", "images", "mask", "ids"});
    const auto like_input = [&](const std::string& name) {
      return has_word(name, kWords) && !name.contains('/') && std::ranges::count(name, '.') <= 1;
    };
    for (std::uint64_t other = 0; other < report_.layers.size(); ++other) {
      const Layer& layer = report_.layers[other];
      if (other != i && (layer.role == "input" || (layer.role.empty() && like_input(layer.name()))))
        return false;
    }
    return std::ranges::none_of(report_.golden_only, like_input) &&
           std::ranges::none_of(report_.actual_only, like_input);
  }

  // Arithmetic in integers or 8-bit floats may lose NaN and Inf anywhere.
  bool is_special_dump(std::uint64_t i) const {
    constexpr double kCoarse = 0x1p-7;
    return !precision_.grid && precision_.unit_roundoff < kCoarse && dumps_.is_special_dump(i);
  }

  // With a graph, the layer's own; else all layers before it, of which the last ones show
  // scales.
  Inputs inputs_of(std::uint64_t i) const {
    // Golden's inputs, which the device has rounded.
    if (options_.isolated) {
      Inputs rounded;
      rounded.relative_error = rounded.slice_error = floor_of(report_.layers[i]);
      return rounded;
    }
    if (neighbours_.by_graph()) return graph_inputs(report_.layers, i);
    if (is_weight(report_.layers[i])) return {};
    return order_inputs(report_.layers, i, before_);
  }

  void unjudged(Layer& layer, std::string note) {
    layer.state = LayerState::unjudged;
    layer.note = std::move(note);
  }

  static void dump(Layer& layer, LayerFault fault) {
    layer.state = LayerState::dump;
    layer.fault = fault;
    layer.note = fault == LayerFault::born ? "what is computed from it has none, and agrees"
                                           : "what is computed from it agrees";
  }

  void root(std::uint64_t i, LayerFault fault) {
    layers()[i].state = LayerState::root;
    layers()[i].fault = fault;
    report_.roots.push_back(i);
  }

  void judge(std::uint64_t i) {
    Layer& layer = layers()[i];
    if (layer.state == LayerState::dump || layer.state == LayerState::unmeasured) return;
    if (layer.fault == LayerFault::shape) return root(i, LayerFault::shape);
    if (!layer.placed) return judge_unplaced(layer);
    const Inputs in = inputs_of(i);
    layer.input_error = options_.isolated ? 0 : in.relative_error;
    const LayerFigures& figures = *layer.figures;
    const bool special = figures.one_sided() > 0;
    if (special && !in.special) return judge_born(i);
    if (is_counted(layer))
      return is_recomputed(layer) ? judge_by_spots(i, in) : judge_counted(i, in);
    if (figures.pairs == 0)
      return unjudged(layer, figures.elements == 0 ? "it is empty" : "golden has no number");
    if (!can_judge(layer)) return unjudged(layer, "golden is all zero");
    layer.noise = explained_.noise(layer, in);
    layer.error_to_noise = times_noise(figures.relative_error, layer.noise);
    layer.slice_error_to_noise =
        times_noise(figures.slice_error, explained_.slice_noise(layer, in));
    if (layer.baseline) {
      // Behind a fault errors are not the usual ones.
      const double usual = std::max(*layer.baseline, layer.unit_roundoff);
      layer.noise = report_.roots.empty() ? usual : std::max(usual, layer.noise);
      layer.error_to_noise = times_noise(figures.relative_error, layer.noise);
      layer.slice_error_to_noise = 0;
    }
    if (is_recomputed(layer)) return judge_by_spots(i, in);
    if (in.special) return unjudged(layer, "its inputs have NaN or Inf");
    if (in.relative_error >= kTooFar) return unjudged(layer, "its inputs are too far off");
    const LayerFault fault = fault_of(layer, in);
    if (fault == LayerFault::none) {
      if (layer.error_to_noise >= options_.limit && is_subnormal_step(layer))
        layer.note = "a step of float16 below its normal range";
      return;
    }
    const bool amplified = is_amplified(layer, in, fault);
    if (dumps_.is_dump(i, before_)) {
      // An exponential is as far off as its argument is, and what is small there is lost in what is
      // computed from it.
      if (!amplified) dump(layer, fault);
      return;
    }
    root(i, fault);
    if (amplified) amplified_.insert(i);
  }

  // What follows from its own inputs is right, however far off they are; what does not is wrong,
  // however near.
  void judge_by_spots(std::uint64_t i, const Inputs& in) {
    Layer& layer = layers()[i];
    const SpotState state = layer.spot->state;
    // Inputs of the network have been judged already: nothing makes them.
    if (is_arithmetic(state) || is_input(i)) return;
    const LayerFault found = is_counted(layer) ? LayerFault::error : fault_of(layer, in);
    const LayerFault fault = found == LayerFault::none ? LayerFault::error : found;
    const bool is_dump =
        state == SpotState::unused ||
        (state == SpotState::off && can_judge(layer) && dumps_.is_dump(i, before_));
    return is_dump ? dump(layer, fault) : root(i, fault);
  }

  void judge_born(std::uint64_t i) {
    const Layer& layer = layers()[i];
    if (is_recomputed(layer)) {
      if (layer.spot->state == SpotState::unused) return dump(layers()[i], LayerFault::born);
      if (layer.spot->state == SpotState::rounded) {
        layers()[i].note = "Inf in the dump alone: what is computed from it took finite numbers";
        return;
      }
      // A division by a zero that golden has not: its numbers gave rise to it, not the layer.
      if (is_arithmetic(layer.spot->state) && layer.spot->overflowed == 0)
        return unjudged(layers()[i], "its NaN or Inf follow from the numbers of its inputs");
      return root(i, LayerFault::born);
    }
    if (is_special_dump(i)) return dump(layers()[i], LayerFault::born);
    turns_finite_ = dumps_.next_are_finite(i, before_);
    if (turns_finite_ && is_beyond_float16(layer)) {
      layers()[i].note =
          "Inf in the dump alone: golden is beyond float16, and the next layers agree";
      return;
    }
    root(i, LayerFault::born);
    if (turns_finite_)
      layers()[i].note =
          "the next layer has none: this dump is wrong, or a consumer hides them, as a maximum or "
          "ReLU "
          "does; `graph` may decide";
  }

  // Inf where golden's numbers, as far as they are seen beside finite ones, come near the end of
  // float16.
  bool is_beyond_float16(const Layer& layer) const {
    constexpr double kNear = 65504.0 / 4;
    const LayerFigures& figures = *layer.figures;
    return has_float16(layer) && figures.new_inf() > 0 &&
           figures.new_nan() + figures.nan.golden + figures.inf.golden == 0 &&
           (figures.pairs == 0 || figures.golden.peak > kNear);
  }

  // By itself alone: against the largest error of all layers that have a place.
  void judge_unplaced(Layer& layer) {
    unjudged(layer, "not in the order");
    const LayerFigures& figures = *layer.figures;
    layer.noise = joined(options_.growth * before_.relative_error, floor_of(layer));
    if (figures.one_sided() > 0 && !before_.special)
      layer.error_to_noise = HUGE_VAL;
    else if (can_measure(layer))
      layer.error_to_noise = times_noise(figures.relative_error, layer.noise);
  }

  LayerFault fault_of(const Layer& layer, const Inputs& in) const {
    const LayerFigures& figures = *layer.figures;
    // A number that golden itself rounds to a grid may fall on the next step.
    constexpr double kOneStep = 1.02;
    if (figures.golden.step > 0 && figures.max_error <= kOneStep * figures.golden.step)
      return layer.error_to_noise < kMinAlong ? LayerFault::none : along_of(figures, in);
    if (is_order_of_sums(figures) || is_subnormal_step(layer)) return LayerFault::none;
    // A few numbers are off, or off alike, by chance.
    const bool few = figures.pairs < kFewNumbers;
    const double limit = layer.baseline ? options_.baseline_limit : options_.limit;
    if (layer.error_to_noise >= (few ? std::max(limit, kSurely) : limit)) return LayerFault::error;
    if (few || layer.baseline) return LayerFault::none;
    if (layer.slice_error_to_noise >= explained_.slice_limit(layer)) return LayerFault::local;
    // What an exponential makes of a small argument goes along with the signal too.
    const bool exponential = is_op(layer, kExponentials, kExponentialWords);
    return layer.error_to_noise < (exponential ? 1 : kMinAlong) ? LayerFault::none
                                                                : along_of(figures, in);
  }

  // Sums in another order, polynomials and transformations are all that is between two engines in
  // float32, where a difference cancels too, if the outputs agree.
  bool is_order_of_sums(const LayerFigures& figures) const {
    constexpr double kMost = 1e-4;
    constexpr double kMuch = 100;  // where a signal cancels, and the outputs do not show it
    if (precision_.grid || precision_.unit_roundoff > 0x1p-24) return false;
    constexpr double kSame = 1e-4;
    constexpr double kVerySame = 1e-5;
    const double most = outputs_error_ < kVerySame ? kMuch * kMost
                        : outputs_error_ < kSame   ? kMuch / 10 * kMost
                                                   : kMost;
    return figures.relative_error < most && figures.slice_error < most;
  }

  bool has_float16(const Layer& layer) const {
    constexpr double kHalfStep = 0x1p-11;
    return layer.actual_dtype == DType::float16 ||
           (!precision_.grid && precision_.unit_roundoff == kHalfStep);
  }

  // Below its normal range float16 has the same steps, however small the numbers are.
  bool is_subnormal_step(const Layer& layer) const {
    constexpr double kStep = 0x1p-24;
    const double most = layer.figures->max_error;
    return has_float16(layer) && most > 0 && most <= kStep;
  }

  // The largest of outputs; where no layer is said to be one, the last one's.
  static double error_of_outputs(const LayerReport& report) {
    double most = 0;
    const Layer* last = nullptr;
    for (const Layer& layer : report.layers) {
      if (!can_judge(layer)) continue;
      last = &layer;
      if (layer.role == "output") most = std::max(most, layer.figures->relative_error);
    }
    if (most == 0 && last != nullptr) most = last->figures->relative_error;
    return most;
  }

  // Indices and flags flip where what they are made of is close.
  void judge_counted(std::uint64_t i, const Inputs& in) {
    Layer& layer = layers()[i];
    const LayerFigures& figures = *layer.figures;
    if (figures.equal == figures.pairs) return;
    layer.error_to_noise = HUGE_VAL;
    if (in.exact) return root(i, LayerFault::error);
    unjudged(layer, percent_text(static_cast<double>(figures.pairs - figures.equal) /
                                 static_cast<double>(figures.pairs)) +
                        " of its integers differ, as they may if its inputs do");
  }

  // Where a signal cancels, its error stays: what that explains is no fault that is proved.
  bool is_amplified(const Layer& layer, const Inputs& in, LayerFault fault) const {
    if (fault != LayerFault::error && fault != LayerFault::local) return false;
    double explained = 0;
    if (is_op(layer, kSubtracting, kSubtractingWords))
      explained = in.adding / layer.figures->golden.norm;
    else if (is_op(layer, kNormalising, kNormWords))
      explained = in.spread_error;
    else if (is_op(layer, kExponentials, kExponentialWords))
      // A name is a guess: all that an argument as large as golden's can do to an error.
      explained =
          layer.op.empty() ? std::max(in.rms_error, in.peak * in.relative_error) : in.rms_error;
    return layer.figures->relative_error <= options_.growth * joined(explained, floor_of(layer)) &&
           explained > options_.growth * in.relative_error;
  }

  LayerReport& report_;
  const JudgeLayers& options_;
  RunPrecision precision_;
  Neighbours neighbours_;
  Explained explained_;
  DumpJudge dumps_;
  double outputs_error_;
  Inputs before_;              // of all that is judged already
  bool turns_finite_ = false;  // NaN or Inf of the layer in hand are not in those that come next
  std::set<std::uint64_t> amplified_;
  LayerVerdict was_;  // of an earlier judgement
};

}  // namespace

void judge_layers(LayerReport& report, const JudgeLayers& options) {
  LayerJudge(report, options).run();
}

bool all_well(const LayerReport& report, const JudgeLayers& options) {
  const bool coarse = std::ranges::any_of(
      report.layers, [&](const Layer& layer) { return adds_too_much(layer, options); });
  return report.verdict.kind == VerdictKind::clean && !coarse && report.missing_outputs.empty() &&
         (!options.require_all || (report.actual_only.empty() && report.golden_only.empty()));
}

}  // namespace btf
