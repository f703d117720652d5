// The verdict, made of figures, order and spot checks (docs/layers.md, section 4).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ranges>
#include <set>

#include "btf/layers.h"
#include "diff/layers/conclusion.h"
#include "diff/layers/noise_model.h"

namespace btf {
namespace {

// Decides whether a layer is wrong or only its dump, by the layers that are computed from it.
class DumpJudge {
 public:
  // All of them must outlive it.
  DumpJudge(const LayerReport& report, const LayerLimits& options, const Neighbours& neighbours,
            const NoiseModel& explained)
      : report_(report), options_(options), neighbours_(neighbours), noise_model_(explained) {}

  // True if the consumers of layer i behave as if it were right. `before`: all layers before it.
  bool is_dump(std::uint64_t i, const Inputs& before) const;

  // For the only input of the network, on which all layers depend: true if no layer shows its
  // error.
  bool is_input_dump(std::uint64_t i, const Inputs& before) const;

  // For a layer with NaN or Inf, with a graph: true if every consumer agrees and has none, although
  // at least one would have to have some.
  bool is_special_dump(std::uint64_t i) const;

  // By order alone: true if the next layers agree and have none.
  bool next_are_finite(std::uint64_t i, const Inputs& before) const;

 private:
  bool agrees(std::uint64_t consumer, std::uint64_t i, const Inputs& before) const;
  Inputs inputs_without(std::uint64_t layer, std::uint64_t i, const Inputs& before) const;
  double carried(std::uint64_t i, std::uint64_t consumer) const;
  bool is_explained(std::uint64_t consumer, const Inputs& in) const;
  bool comes_back(std::uint64_t i, const Inputs& before, std::uint64_t far) const;

  const LayerReport& report_;
  const LayerLimits& options_;
  const Neighbours& neighbours_;
  const NoiseModel& noise_model_;
};

// An error that propagates is at least this part of what the consumer's size lets through.
constexpr double kCarried = 1.0 / 8;

// Or at least kHalf of it, if that is less than kQuiet of the noise without it.
constexpr double kHalf = 0.5;
constexpr double kQuiet = 0.7;

// By order alone an error is looked for in this many layers.
constexpr std::uint64_t kFar = 12;

bool has_special(const LayerFigures& figures) { return figures.one_sided() > 0; }

bool all_finite(const LayerFigures& figures) {
  return !has_special(figures) && figures.nan.both + figures.inf.both == 0;
}

// The product of the dims after the channels.
double image_of(const Dims& dims) {
  double size = 1;
  for (std::size_t d = 2; d < dims.size(); ++d) size *= static_cast<double>(dims[d]);
  return size;
}

// Whether NaN and Inf of an input cannot get lost in this layer, since every number of the input is
// used.
bool carries_specials(const Layer& layer, const Layer& input) {
  if (!layer.unseen.empty()) return false;
  if (layer.op != "Conv") return is_one_of(layer.op, kCarryingSpecials);
  // With strides some numbers may not be used.
  constexpr std::size_t kMinRank = 3;
  return layer.actual_dims.size() >= kMinRank &&
         layer.actual_dims.size() == input.actual_dims.size() &&
         2 * image_of(layer.actual_dims) > image_of(input.actual_dims);
}

bool DumpJudge::is_dump(std::uint64_t i, const Inputs& before) const {
  // The lower bound of an error that statistics give says nothing about consumers that seem to
  // agree.
  if (options_.isolated || report_.statistics_only) return false;
  const auto& consumers = neighbours_.consumers(i);
  if (consumers.empty()) return false;
  if (!std::ranges::all_of(consumers, [&](std::uint64_t c) { return agrees(c, i, before); }))
    return false;
  // A normalisation removes a scale, so nothing after it shows the error.
  const LayerFigures& own = *report_.layers[i].figures;
  const bool along =
      systematic_fault(own, {}) != LayerFault::none && own.relative_error < kMaxInputError;
  const bool normalised = along && std::ranges::all_of(consumers, [&](std::uint64_t c) {
                            return is_op(report_.layers[c], kScaleFree, kScaleFreeWords);
                          });
  return !normalised && (neighbours_.by_graph() || !comes_back(i, before, kFar));
}

bool DumpJudge::is_input_dump(std::uint64_t i, const Inputs& before) const {
  if (!is_dump(i, before)) return false;
  if (neighbours_.by_graph()) return true;
  // A small error may get lost in noise, and a scale in a normalisation that names do not show.
  const LayerFigures& own = *report_.layers[i].figures;
  const bool plain =
      own.relative_error >= kBrokenLimit * floor_of(report_.layers[i]) &&
      (own.relative_error >= kMaxInputError || systematic_fault(own, {}) == LayerFault::none);
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

// Whether its error is no larger than these inputs explain.
bool DumpJudge::is_explained(std::uint64_t consumer, const Inputs& in) const {
  const Layer& layer = report_.layers[consumer];
  const LayerFigures& figures = *layer.figures;
  if (!can_judge(layer)) return figures.equal == figures.pairs;
  return times_noise(figures.relative_error, noise_model_.noise(layer, in)) < options_.limit &&
         (figures.pairs < kFewNumbers ||
          times_noise(figures.slice_error, noise_model_.slice_noise(layer, in)) <
              noise_model_.slice_limit(layer));
}

bool DumpJudge::agrees(std::uint64_t consumer, std::uint64_t i, const Inputs& before) const {
  const Layer& layer = report_.layers[consumer];
  const LayerFigures& figures = *layer.figures;
  if (has_special(figures)) return false;
  const Inputs in = inputs_without(consumer, i, before);
  const double through = carried(i, consumer);
  if (figures.relative_error > through * kCarried &&
      (figures.relative_error > through * kHalf ||
       figures.relative_error >= kQuiet * noise_model_.noise(layer, in)))
    return false;
  // The rest of the error may be in one slice.
  return figures.pairs < kFewNumbers ||
         times_noise(figures.slice_error, noise_model_.slice_noise(layer, in)) <
             noise_model_.slice_limit(layer);
}

Inputs DumpJudge::inputs_without(std::uint64_t layer, std::uint64_t i, const Inputs& before) const {
  return neighbours_.by_graph() ? graph_inputs(report_.layers, layer, i) : before;
}

// By order alone the next layers may be of another branch: checks whether the error turns up later.
bool DumpJudge::comes_back(std::uint64_t i, const Inputs& before, std::uint64_t far) const {
  Inputs in = before;
  const std::uint64_t end = std::min<std::uint64_t>(report_.layers.size(), i + 1 + far);
  for (std::uint64_t later = i + 1; later < end; ++later) {
    const Layer& layer = report_.layers[later];
    if (!can_judge(layer) || layer.state == LayerState::dump) continue;
    const LayerFigures& figures = *layer.figures;
    if (has_special(figures)) return true;
    const double b = times_noise(figures.relative_error, noise_model_.noise(layer, in));
    if (b >= options_.limit) return true;
    if (b >= kMinSystematic && figures.pairs >= kFewNumbers &&
        systematic_fault(figures, order_inputs(report_.layers, i, in)) != LayerFault::none)
      return true;
    in.take(layer, false);
  }
  return false;
}

// Noise is even: no slice has this many times the error of the whole, or this many half steps.
constexpr double kEven = 6;

// This share of an error is proportional to the signal, or constant, where a scale or an offset is
// wrong.
constexpr double kSystematicAtFirst = 0.5;

class LayerJudge {
 public:
  LayerJudge(LayerReport& report, const LayerLimits& options)
      : report_(report),
        options_(options),
        precision_(run_precision(report, options)),
        neighbours_(report),
        noise_model_(options, precision_, neighbours_),
        dumps_(report, options, neighbours_, noise_model_),
        outputs_error_(error_of_outputs(report)),
        earlier_(std::move(report.verdict)) {}

  void run() {
    for (;;) {
      judge_all();
      // Dumps may be wider than what was computed; then the very first products show it.
      const auto coarser = coarser_precision();
      if (!coarser) break;
      precision_ = *coarser;
    }
    if (report_.verdict.kind != VerdictKind::inputs)
      settle(report_, options_, precision_, amplified_, earlier_);
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

  // The coarser precision that explains an error that looks like noise in the first product; unset
  // if none.
  std::optional<RunPrecision> coarser_precision() const {
    if (report_.roots.empty() || report_.verdict.kind == VerdictKind::inputs) return std::nullopt;
    const std::uint64_t first = report_.roots.front();
    const Layer& layer = report_.layers[first];
    if (!layer.figures || layer.fault == LayerFault::born || layer.fault == LayerFault::shape ||
        is_recomputed(layer) || !is_early(first))
      return std::nullopt;
    const LayerFigures& f = *layer.figures;
    if (f.gain_share >= kSystematicAtFirst || f.offset_share >= kSystematicAtFirst ||
        f.slice_error > kEven * f.relative_error || layer.baseline)
      return std::nullopt;
    return coarser_than(precision_, layer, f.relative_error / kEven, options_);
  }

  bool is_early(std::uint64_t i) const {
    constexpr std::uint64_t kFirstProducts = 3;
    constexpr std::uint64_t kEnough = 10;  // layers, to recognise a beginning
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

  // A buffer that holds what another layer computed is a wrong dump, whatever follows it.
  void mark_reused() {
    for (const SanityFinding& finding : report_.sanity) {
      if (finding.code != kReusedBuffer && finding.code != kShifted) continue;
      for (const std::uint64_t i : finding.layers)
        // If consumers were computed from these numbers, the device had them, and an operation was
        // left out instead.
        if (layers()[i].figures->relative_error > kMaxInputError / 5 &&
            !(is_recomputed(layers()[i]) && layers()[i].spot->state != SpotState::unused &&
              layers()[i].spot->state != SpotState::off)) {
          layers()[i].state = LayerState::dump;
          layers()[i].note = finding.message;
        }
    }
  }

  // Whether the dumped run gives the same result as the run without dumps.
  void judge_watching() {
    constexpr double kApart = 8;  // half steps
    report_.watching_changed_result =
        report_.watched_error && *report_.watched_error > kApart * precision_.unit_roundoff;
  }

  // Network inputs that differ explain everything that follows.
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
      // By order alone the next layers need not be computed from this one of several inputs.
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
    conclude(report_, options_, VerdictKind::inputs, report_.roots.front(), earlier_);
    return true;
  }

  // For an input of the network, which the device only rounds: whether it is off by more than
  // rounding, or in proportion to the signal.
  static bool is_off(const Layer& input) {
    const LayerFigures& figures = *input.figures;
    const double b = times_noise(figures.relative_error, floor_of(input));
    return b > 1 || (b >= kMinSystematic && figures.pairs >= kFewNumbers &&
                     systematic_fault(figures, {}) != LayerFault::none);
  }

  bool is_input(std::uint64_t i) const {
    const Layer& layer = report_.layers[i];
    if (layer.role == "input") return true;
    return layer.role.empty() && i == 0 && !report_.linked() && layer.placed &&
           has_word(layer.name(), std::to_array<std::string_view>({"input", "images"}));
  }

  // Whether everything that follows is computed from it. Names of layers have paths.
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

  // Integer or 8-bit float arithmetic may lose NaN and Inf anywhere.
  bool is_special_dump(std::uint64_t i) const {
    constexpr double kCoarse = 0x1p-7;
    return !precision_.grid && precision_.unit_roundoff < kCoarse && dumps_.is_special_dump(i);
  }

  // With a graph, the layer's own inputs; otherwise all layers before it, of which only the last
  // are used for scales.
  Inputs inputs_of(std::uint64_t i) const {
    // Golden's inputs, rounded by the device.
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
    layer.noise = noise_model_.noise(layer, in);
    layer.error_to_noise = times_noise(figures.relative_error, layer.noise);
    layer.slice_error_to_noise =
        times_noise(figures.slice_error, noise_model_.slice_noise(layer, in));
    if (layer.baseline) {
      // After a fault errors are larger than in the baseline.
      const double usual = std::max(*layer.baseline, layer.unit_roundoff);
      layer.noise = report_.roots.empty() ? usual : std::max(usual, layer.noise);
      layer.error_to_noise = times_noise(figures.relative_error, layer.noise);
      layer.slice_error_to_noise = 0;
    }
    if (is_recomputed(layer)) return judge_by_spots(i, in);
    if (in.special) return unjudged(layer, "its inputs have NaN or Inf");
    if (in.relative_error >= kMaxInputError) return unjudged(layer, "its inputs are too far off");
    const LayerFault fault = fault_of(layer, in);
    if (fault == LayerFault::none) {
      if (layer.error_to_noise >= options_.limit && is_subnormal_step(layer))
        layer.note = "a step of float16 below its normal range";
      return;
    }
    const bool amplified = is_amplified(layer, in, fault);
    if (dumps_.is_dump(i, before_)) {
      // An exponential is as far off as its argument, and small results get lost in what is
      // computed from them.
      if (!amplified) dump(layer, fault);
      return;
    }
    root(i, fault);
    if (amplified) amplified_.insert(i);
  }

  // What follows from its own inputs is right, however far off the inputs are; what does not is
  // wrong, however small the error.
  void judge_by_spots(std::uint64_t i, const Inputs& in) {
    Layer& layer = layers()[i];
    const SpotState state = layer.spot->state;
    // Inputs of the network were judged before; no layer computes them.
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
      // A division by a zero that golden does not have: the layer's inputs caused it, not the
      // layer.
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

  // Inf where golden's numbers, as far as they are paired with finite ones, come close to float16's
  // largest.
  bool is_beyond_float16(const Layer& layer) const {
    constexpr double kNear = 65504.0 / 4;
    const LayerFigures& figures = *layer.figures;
    return has_float16(layer) && figures.new_inf() > 0 &&
           figures.new_nan() + figures.nan.golden + figures.inf.golden == 0 &&
           (figures.pairs == 0 || figures.golden.peak > kNear);
  }

  // Compared with the largest error of all layers that have a place.
  void judge_unplaced(Layer& layer) {
    unjudged(layer, "not in the order");
    const LayerFigures& figures = *layer.figures;
    layer.noise = root_sum_of_squares(options_.growth * before_.relative_error, floor_of(layer));
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
      return layer.error_to_noise < kMinSystematic ? LayerFault::none
                                                   : systematic_fault(figures, in);
    if (is_order_of_sums(figures) || is_subnormal_step(layer)) return LayerFault::none;
    // A few numbers may be off, or off alike, by chance.
    const bool few = figures.pairs < kFewNumbers;
    const double limit = layer.baseline ? options_.baseline_limit : options_.limit;
    if (layer.error_to_noise >= (few ? std::max(limit, kBrokenLimit) : limit))
      return LayerFault::error;
    if (few || layer.baseline) return LayerFault::none;
    if (layer.slice_error_to_noise >= noise_model_.slice_limit(layer)) return LayerFault::local;
    // The result of an exponential of a small argument is proportional to the signal too.
    const bool exponential = is_op(layer, kExponentials, kExponentialWords);
    return layer.error_to_noise < (exponential ? 1 : kMinSystematic)
               ? LayerFault::none
               : systematic_fault(figures, in);
  }

  // Whether the difference is only sums in another order, polynomials and transforms, as between
  // two float32 engines. A difference may also cancel there, if the outputs agree.
  bool is_order_of_sums(const LayerFigures& figures) const {
    constexpr double kMax = 1e-4;
    constexpr double kMuch = 100;  // where a signal cancels, and the outputs do not show it
    if (precision_.grid || precision_.unit_roundoff > 0x1p-24) return false;
    constexpr double kSame = 1e-4;
    constexpr double kVerySame = 1e-5;
    const double most = outputs_error_ < kVerySame ? kMuch * kMax
                        : outputs_error_ < kSame   ? kMuch / 10 * kMax
                                                   : kMax;
    return figures.relative_error < most && figures.slice_error < most;
  }

  bool has_float16(const Layer& layer) const {
    constexpr double kHalfStep = 0x1p-11;
    return layer.actual_dtype == DType::float16 ||
           (!precision_.grid && precision_.unit_roundoff == kHalfStep);
  }

  // Below its normal range float16 has a fixed step, however small the numbers are.
  bool is_subnormal_step(const Layer& layer) const {
    constexpr double kStep = 0x1p-24;
    const double most = layer.figures->max_error;
    return has_float16(layer) && most > 0 && most <= kStep;
  }

  // The largest error of the outputs, or that of the last layer if none is known to be an output.
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

  // Indices and flags flip where the numbers they are computed from are close together.
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

  // Where a signal cancels, its error remains: an error that this explains is not a proven fault.
  bool is_amplified(const Layer& layer, const Inputs& in, LayerFault fault) const {
    if (fault != LayerFault::error && fault != LayerFault::local) return false;
    double explained = 0;
    if (is_op(layer, kSubtracting, kSubtractingWords))
      explained = in.adding / layer.figures->golden.norm;
    else if (is_op(layer, kNormalising, kNormWords))
      explained = in.spread_error;
    else if (is_op(layer, kExponentials, kExponentialWords))
      // A name is a guess, so this is the most that an argument as large as golden's can do.
      explained =
          layer.op.empty() ? std::max(in.rms_error, in.peak * in.relative_error) : in.rms_error;
    return layer.figures->relative_error <=
               options_.growth * root_sum_of_squares(explained, floor_of(layer)) &&
           explained > options_.growth * in.relative_error;
  }

  LayerReport& report_;
  const LayerLimits& options_;
  RunPrecision precision_;
  Neighbours neighbours_;
  NoiseModel noise_model_;
  DumpJudge dumps_;
  double outputs_error_;
  Inputs before_;              // all layers judged so far
  bool turns_finite_ = false;  // the next layers do not have this layer's NaN or Inf
  std::set<std::uint64_t> amplified_;
  LayerVerdict earlier_;  // from an earlier judgement
};

}  // namespace

void judge_layers(LayerReport& report, const LayerLimits& options) {
  LayerJudge(report, options).run();
}

bool all_well(const LayerReport& report, const LayerLimits& options) {
  const bool coarse = std::ranges::any_of(
      report.layers, [&](const Layer& layer) { return adds_too_much(layer, options); });
  return report.verdict.kind == VerdictKind::clean && !coarse && report.missing_outputs.empty() &&
         (!options.require_all || (report.actual_only.empty() && report.golden_only.empty()));
}

}  // namespace btf
