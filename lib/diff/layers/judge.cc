// The verdict, out of figures and order alone (docs/layers.md, section 3).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "btf/layers/layers.h"
#include "diff/layers/inputs.h"
#include "diff/layers/neighbours.h"
#include "diff/layers/noise.h"
#include "diff/layers/operators.h"
#include "diff/layers/sanity.h"
#include "diff/layers/words.h"

namespace btf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Inputs that are so far off explain anything.
constexpr double kTooFar = 0.5;
// From here on it is broken; below, down to the limit, suspect.
constexpr double kSurely = 8;
// So much of an error goes along with the signal where a scale or an offset is off.
constexpr double kAlong = 0.8;
constexpr double kAlongInputs = 0.5;
constexpr double kLeastAlong = 0.5;  // b
// What goes on from a layer is at least this part of what its size lets through.
constexpr double kCarried = 1.0 / 8;
// Or so much of it, where that is less than so much of the noise without it.
constexpr double kHalf = 0.5;
constexpr double kQuiet = 0.7;
// What noise is: in no slice so many times what it is in the whole, nor so many half steps.
constexpr double kEven = 6;
// Of fewer, figures are what chance makes them.
constexpr std::uint64_t kFewNumbers = 64;
// The worst slice may grow faster.
constexpr double kSliceGrowth = 3;
constexpr double kSliceSteps = 8;
constexpr double kSteps = 4;
// By order alone, so many layers before one may be its inputs.
constexpr std::uint64_t kNear = 3;

class Judgement {
 public:
  Judgement(LayerReport& report, const JudgeLayers& options)
      : report_(report),
        options_(options),
        precision_(run_precision(report, options)),
        neighbours_(report),
        was_(std::move(report.verdict)) {}

  void run() {
    for (;;) {
      judge_all();
      // Dumps may be wider than what was computed: then the very first products show it.
      const auto coarser = coarser_precision();
      if (!coarser) break;
      precision_ = *coarser;
    }
    if (report_.verdict.kind != VerdictKind::inputs) settle();
  }

 private:
  std::vector<Layer>& layers() { return report_.layers; }

  void judge_all() {
    report_.u = precision_.u;
    report_.noise_source = precision_.source;
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
      judge(i);
      before_.take(layers()[i], false);
    }
  }

  // Where the first product is off already, as noise is, by what a coarser dtype explains.
  std::optional<RunPrecision> coarser_precision() const {
    if (report_.roots.empty() || report_.verdict.kind == VerdictKind::inputs) return std::nullopt;
    const std::uint64_t first = report_.roots.front();
    const Layer& layer = report_.layers[first];
    if (!layer.figures || layer.fault == LayerFault::born || layer.fault == LayerFault::shape ||
        !is_early(first))
      return std::nullopt;
    const LayerFigures& f = *layer.figures;
    if (f.rho >= kAlongInputs || f.mu >= kAlongInputs || f.w > kEven * f.e || layer.baseline)
      return std::nullopt;
    return coarser_than(precision_, layer, f.e / kEven, options_);
  }

  bool is_early(std::uint64_t i) const {
    constexpr std::uint64_t kFirstProducts = 3;
    constexpr std::uint64_t kEnough = 10;  // layers, to tell a beginning
    if (report_.layers.size() < kEnough) return false;
    if (!neighbours_.by_graph()) return i * 10 < report_.layers.size();
    if (!is_one_of(report_.layers[i].op, kProducts)) return false;
    std::uint64_t before = 0;
    for (std::uint64_t other = 0; other < i; ++other)
      before += is_one_of(report_.layers[other].op, kProducts) ? 1U : 0U;
    return before < kFirstProducts;
  }

  void reset(Layer& layer) {
    const bool shape = layer.fault == LayerFault::shape;
    layer.fault = shape ? LayerFault::shape : LayerFault::none;
    layer.state = layer.figures || shape ? LayerState::healthy : LayerState::unmeasured;
    layer.note = layer.trouble;
    layer.e_in = layer.noise = layer.b = layer.bw = 0;
    layer.u = layer.figures ? layer_u(layer, precision_, options_) : 0;
  }

  // A buffer that holds what another layer computed is a wrong dump, whatever comes after it.
  void mark_reused() {
    for (const SanityFinding& finding : report_.sanity) {
      if (finding.code != kReusedBuffer && finding.code != kShifted) continue;
      for (const std::uint64_t i : finding.layers)
        if (layers()[i].figures->e > kTooFar / 5) {
          layers()[i].state = LayerState::dump;
          layers()[i].note = finding.message;
        }
    }
  }

  double floor_of(const Layer& layer) const { return kSteps * layer.u; }

  // Inputs of the network that differ explain all that follows.
  bool judge_inputs() {
    for (std::uint64_t i = 0; i < layers().size(); ++i) {
      Layer& layer = layers()[i];
      if (!is_input(i) || !layer.figures) continue;
      const LayerFigures& figures = *layer.figures;
      const bool special = figures.new_nan() + figures.new_inf() > 0;
      const bool off = is_counted(layer) ? figures.equal < figures.pairs
                                         : figures.e > floor_of(layer) && figures.e > 0;
      if (!special && !off) continue;
      layer.state = LayerState::root;
      layer.fault = special ? LayerFault::born : LayerFault::error;
      layer.noise = floor_of(layer);
      layer.b = layer.noise > 0 ? figures.e / layer.noise : kInf;
      report_.roots.push_back(i);
    }
    if (report_.roots.empty()) return false;
    for (Layer& layer : layers())
      if (layer.state == LayerState::healthy) {
        layer.state = LayerState::unjudged;
        layer.note = "the inputs of the network differ";
      }
    conclude(VerdictKind::inputs, report_.roots.front());
    return true;
  }

  bool is_input(std::uint64_t i) const {
    const Layer& layer = report_.layers[i];
    if (layer.role == "input") return true;
    return layer.role.empty() && i == 0 && report_.order != OrderSource::graph && layer.placed &&
           has_word(layer.name(), std::to_array<std::string_view>({"input", "images"}));
  }

  // With a graph, the layer's own; else all that is before it, of which the last ones tell of
  // scales.
  Inputs inputs_of(std::uint64_t i) const {
    // Golden's inputs, which the device has rounded.
    if (options_.isolated) {
      Inputs rounded;
      rounded.e = rounded.w = floor_of(report_.layers[i]);
      return rounded;
    }
    if (neighbours_.by_graph()) return graph_inputs(report_.layers, i);
    return with_near(i, before_);
  }

  Inputs with_near(std::uint64_t i, Inputs in) const {
    Inputs near;
    for (std::uint64_t last = i - std::min(i, kNear); last < i; ++last)
      near.take(report_.layers[last], false);
    in.rho = near.rho;
    in.mu = near.mu;
    in.adding = near.adding;
    in.spread_error = near.spread_error;
    in.rms_error = near.rms_error;
    in.u = near.u;
    in.direct = false;
    return in;
  }

  void unjudged(Layer& layer, std::string note) {
    layer.state = LayerState::unjudged;
    layer.note = std::move(note);
  }

  void root(std::uint64_t i, LayerFault fault) {
    layers()[i].state = LayerState::root;
    layers()[i].fault = fault;
    report_.roots.push_back(i);
  }

  void judge(std::uint64_t i) {
    Layer& layer = layers()[i];
    if (layer.state == LayerState::dump || layer.state == LayerState::unmeasured) return;
    if (!layer.placed) return unjudged(layer, "the order has no place for it");
    const Inputs in = inputs_of(i);
    layer.e_in = in.e;
    if (layer.fault == LayerFault::shape) return root(i, LayerFault::shape);
    const LayerFigures& figures = *layer.figures;
    const bool special = figures.new_nan() + figures.new_inf() > 0;
    if (special && !in.special) return root(i, LayerFault::born);
    if (is_counted(layer)) return judge_counted(i, in);
    if (figures.pairs == 0)
      return unjudged(layer, figures.elements == 0 ? "it is empty" : "golden has no number");
    if (!can_judge(layer)) return unjudged(layer, "golden is all zero");
    layer.noise = noise_of(layer, in);
    layer.b = times(figures.e, layer.noise);
    layer.bw = times(figures.w, slice_noise_of(layer, in));
    if (layer.baseline) {
      layer.noise = std::max(*layer.baseline, layer.u);
      layer.b = times(figures.e, layer.noise);
      layer.bw = 0;
    }
    if (in.special) return unjudged(layer, "its inputs have NaN or Inf");
    if (in.e >= kTooFar) return unjudged(layer, "its inputs are too far off");
    const LayerFault fault = fault_of(layer, in);
    if (fault == LayerFault::none) return;
    if (is_dump(i)) {
      layer.state = LayerState::dump;
      layer.fault = fault;
      layer.note = "what is computed from it agrees";
      return;
    }
    root(i, fault);
    if (is_amplified(layer, in)) amplified_.insert(i);
  }

  static double times(double e, double noise) {
    if (e == 0) return 0;
    return noise > 0 ? e / noise : kInf;
  }

  bool adds(const Layer& layer, const Inputs& in) const {
    return neighbours_.by_graph() && in.direct && is_one_of(layer.op, kAdding);
  }

  double noise_of(const Layer& layer, const Inputs& in) const {
    const double carried =
        adds(layer, in) ? in.adding / layer.figures->golden.norm : options_.a * in.e;
    return std::hypot(carried, kSteps * u_of(layer, in));
  }

  // A quantised product is as coarse as what it multiplies.
  double u_of(const Layer& layer, const Inputs& in) const {
    return precision_.grid ? std::max(layer.u, in.u) : layer.u;
  }

  double slice_noise_of(const Layer& layer, const Inputs& in) const {
    const double carried =
        adds(layer, in) ? in.adding_w / layer.figures->golden.norm : kSliceGrowth * in.w;
    return std::hypot(carried, kSliceSteps * u_of(layer, in));
  }

  // By the graph's operator; else by what the name says.
  static bool is_op(const Layer& layer, std::span<const std::string_view> ops,
                    std::span<const std::string_view> words) {
    return layer.op.empty() ? has_word(layer.name(), words) : is_one_of(layer.op, ops);
  }

  // How much worse the worst slice may be. Slices of what only moves are others than its input's,
  // and what is large among logits is larger among probabilities.
  double slice_limit(const Layer& layer) const {
    if (is_op(layer, kMoving, kMovingWords)) return kInf;
    const bool exponential = is_op(layer, kExponentials, kExponentialWords);
    return exponential ? std::max(options_.limit, kSurely) : options_.limit;
  }

  LayerFault fault_of(const Layer& layer, const Inputs& in) const {
    const LayerFigures& figures = *layer.figures;
    // What golden itself rounds to a grid may fall to the next step.
    constexpr double kOneStep = 1.02;
    if (figures.golden.step > 0 && figures.max_error <= kOneStep * figures.golden.step)
      return layer.b < kLeastAlong ? LayerFault::none : along_of(figures, in);
    // A few numbers are off, or off alike, by chance.
    const bool few = figures.pairs < kFewNumbers;
    const double limit = layer.baseline ? options_.baseline_limit : options_.limit;
    if (layer.b >= (few ? std::max(limit, kSurely) : limit)) return LayerFault::error;
    if (few || layer.baseline) return LayerFault::none;
    if (layer.bw >= slice_limit(layer)) return LayerFault::local;
    return layer.b < kLeastAlong ? LayerFault::none : along_of(figures, in);
  }

  // Does the error go along with the signal, or is it the same everywhere?
  static LayerFault along_of(const LayerFigures& figures, const Inputs& in) {
    if (figures.rho >= kAlong && in.rho < kAlongInputs) return LayerFault::gain;
    if (figures.mu >= kAlong && in.mu < kAlongInputs) return LayerFault::offset;
    return LayerFault::none;
  }

  // Indices and flags flip where what they are made of is close.
  void judge_counted(std::uint64_t i, const Inputs& in) {
    Layer& layer = layers()[i];
    const LayerFigures& figures = *layer.figures;
    if (figures.equal == figures.pairs) return;
    layer.b = kInf;
    if (in.exact) return root(i, LayerFault::error);
    unjudged(layer, percent_text(static_cast<double>(figures.pairs - figures.equal) /
                                 static_cast<double>(figures.pairs)) +
                        " of its integers differ, as they may where what they are made of does");
  }

  // Is what is computed from it as if it were right?
  bool is_dump(std::uint64_t i) const {
    if (options_.isolated) return false;
    const auto& consumers = neighbours_.consumers(i);
    const Layer& layer = report_.layers[i];
    const LayerFigures& own = *layer.figures;
    if (consumers.empty()) return false;
    bool normalised = (own.rho >= kAlong || own.mu >= kAlong) && own.e < kTooFar;
    for (const std::uint64_t c : consumers) {
      const Layer& consumer = report_.layers[c];
      const LayerFigures& figures = *consumer.figures;
      if (figures.new_nan() + figures.new_inf() > 0) return false;
      const double carried = own.e * std::min(1.0, own.golden.norm / figures.golden.norm);
      if (figures.e > carried * kCarried &&
          (figures.e > carried * kHalf || figures.e >= kQuiet * noise_without(c, i)))
        return false;
      normalised = normalised && is_op(consumer, kScaleFree, kScaleFreeWords);
    }
    // A normalisation takes a scale out again, so that nothing behind it can tell.
    return !normalised && (neighbours_.by_graph() || !comes_back(i));
  }

  // What a layer's inputs and dtype explain if layer i, which comes before it, is left out.
  double noise_without(std::uint64_t layer, std::uint64_t i) const {
    const Inputs in = neighbours_.by_graph() ? graph_inputs(report_.layers, layer, i) : before_;
    return noise_of(report_.layers[layer], in);
  }

  // By order alone the next layers may be of another branch: does the error turn up later?
  bool comes_back(std::uint64_t i) const {
    constexpr std::uint64_t kFar = 12;
    Inputs in = before_;
    const std::uint64_t end = std::min<std::uint64_t>(report_.layers.size(), i + 1 + kFar);
    for (std::uint64_t later = i + 1; later < end; ++later) {
      const Layer& layer = report_.layers[later];
      if (!can_judge(layer) || layer.state == LayerState::dump) continue;
      const LayerFigures& figures = *layer.figures;
      if (figures.new_nan() + figures.new_inf() > 0) return true;
      const double b = times(figures.e, noise_of(layer, in));
      if (b >= options_.limit) return true;
      if (b >= kLeastAlong && figures.pairs >= kFewNumbers &&
          along_of(figures, with_near(i, in)) != LayerFault::none)
        return true;
      in.take(layer, false);
    }
    return false;
  }

  // Where a signal cancels, its error stays: what that explains is no fault that is proved.
  bool is_amplified(const Layer& layer, const Inputs& in) const {
    if (layer.fault != LayerFault::error && layer.fault != LayerFault::local) return false;
    double explained = 0;
    if (is_op(layer, kSubtracting, kSubtractingWords))
      explained = in.adding / layer.figures->golden.norm;
    else if (is_op(layer, kNormalising, kNormWords))
      explained = in.spread_error;
    else if (is_op(layer, kExponentials, kExponentialWords))
      explained = in.rms_error;
    return layer.figures->e <= options_.a * std::hypot(explained, floor_of(layer)) &&
           explained > options_.a * in.e;
  }

  // From good to bad and back, behind the first root: more than a network does.
  void doubt_order() {
    report_.order_doubtful = false;
    if (report_.roots.empty() || report_.order == OrderSource::graph) return;
    const Layer& first = layers()[report_.roots.front()];
    const double good = 2 * std::hypot(options_.a * first.e_in, floor_of(first));
    bool bad = true;
    unsigned turns = 0;
    for (std::uint64_t i = report_.roots.front() + 1; i < layers().size(); ++i) {
      const Layer& layer = layers()[i];
      if (!can_judge(layer)) continue;
      const double e = layer.figures->e;
      const bool now = bad ? e > good : e > 2 * good;
      turns += now != bad ? 1U : 0U;
      bad = now;
    }
    constexpr unsigned kMostTurns = 2;
    report_.order_doubtful = turns > kMostTurns;
  }

  // One layer in a coarser dtype than the others.
  void note_quantised() {
    if (precision_.grid) return;
    for (const std::uint64_t i : report_.roots) {
      const auto& figures = layers()[i].figures;
      if (!figures || figures->actual.step == 0 || figures->golden.step > 0) continue;
      layers()[i].note = "its numbers lie on a grid: it was quantised here";
      report_.sanity.push_back(
          {std::string(kQuantised),
           {i},
           "'" + layers()[i].name() +
               "' was quantised: its numbers lie on a grid; --compute int8 expects that"});
    }
  }

  // Does the watched run give what the one that was not watched gave?
  void judge_watching() {
    constexpr double kApart = 8;  // half steps
    report_.watching_changed_result =
        report_.watched_error && *report_.watched_error > kApart * precision_.u;
  }

  void settle() {
    note_quantised();
    doubt_order();
    const auto judged = std::ranges::count_if(layers(), [](const Layer& layer) {
      return layer.state == LayerState::healthy && layer.figures && layer.figures->pairs > 0;
    });
    const auto dump = std::ranges::find(layers(), LayerState::dump, &Layer::state);
    if (!report_.roots.empty()) {
      const std::uint64_t first = report_.roots.front();
      if (report_.order_doubtful && report_.order == OrderSource::natural)
        return conclude(VerdictKind::cannot_tell, first);
      return conclude(amplified_.contains(first) ? VerdictKind::amplified : VerdictKind::broke,
                      first);
    }
    if (dump != layers().end())
      return conclude(VerdictKind::dump_wrong, static_cast<std::uint64_t>(dump - layers().begin()));
    if (judged == 0 || precision_.guessed_grid)
      return conclude(VerdictKind::cannot_tell, std::nullopt);
    if (const auto off = drifted()) return conclude(VerdictKind::drift, off);
    conclude(VerdictKind::clean, std::nullopt);
  }

  // The output that is furthest off, if that is too far.
  std::optional<std::uint64_t> drifted() {
    std::optional<std::uint64_t> worst;
    std::optional<std::uint64_t> last;
    const double most = options_.most_error.value_or(kMostError);
    bool any = false;
    const auto look = [&](std::uint64_t i) {
      if (layers()[i].figures->e > most &&
          (!worst || layers()[i].figures->e > layers()[*worst].figures->e))
        worst = i;
    };
    for (std::uint64_t i = 0; i < layers().size(); ++i) {
      if (!can_judge(layers()[i])) continue;
      last = i;
      if (layers()[i].role != "output") continue;
      any = true;
      look(i);
    }
    if (!any && last) look(*last);
    return worst;
  }

  void conclude(VerdictKind kind, std::optional<std::uint64_t> layer) {
    const LayerVerdict before = std::move(was_);
    report_.verdict = {.kind = kind, .layer = layer};
    // Of the same layer, where it is is known already.
    if (layer == before.layer) {
      report_.verdict = before;
      report_.verdict.kind = kind;
      report_.verdict.between.clear();
    }
    if (layer && kind != VerdictKind::dump_wrong && kind != VerdictKind::drift)
      report_.verdict.between = layers()[*layer].unseen;
    say_verdict(report_, options_);
  }

  LayerReport& report_;
  const JudgeLayers& options_;
  RunPrecision precision_;
  Neighbours neighbours_;
  Inputs before_;  // of all that is judged already
  std::set<std::uint64_t> amplified_;
  LayerVerdict was_;  // of an earlier judgement
};

}  // namespace

void judge_layers(LayerReport& report, const JudgeLayers& options) {
  Judgement(report, options).run();
}

bool all_well(const LayerReport& report, const JudgeLayers& options) {
  return report.verdict.kind == VerdictKind::clean && report.missing_outputs.empty() &&
         (!options.require_all || (report.actual_only.empty() && report.golden_only.empty()));
}

}  // namespace btf
