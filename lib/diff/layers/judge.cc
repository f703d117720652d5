// The verdict, out of figures and order alone (docs/layers.md, section 3).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "btf/layers/layers.h"
#include "diff/layers/neighbours.h"
#include "diff/layers/noise.h"
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
// The worst slice may grow faster.
constexpr double kSliceGrowth = 3;
constexpr double kSliceSteps = 8;
constexpr double kSteps = 4;
// By order alone, so many layers before one may be its inputs.
constexpr std::uint64_t kNear = 3;

// Whose error is at most the sum of those of its inputs: nothing is multiplied.
constexpr auto kAdding = std::to_array<std::string_view>(
    {"Add", "Sub", "Sum", "Concat", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",
     "Identity", "Slice", "Split", "Pad", "Dropout"});

// Where a signal may cancel and leave its error.
constexpr auto kCancelling = std::to_array<std::string_view>(
    {"Sub", "Softmax", "LogSoftmax", "Exp", "LayerNormalization", "InstanceNormalization",
     "GroupNormalization", "BatchNormalization", "ReduceMean", "Div", "RMSNormalization"});

// What names say where no graph does.
constexpr auto kCancellingWords = std::to_array<std::string_view>(
    {"sub", "softmax", "exp", "norm", "ln", "mean", "bn", "var", "rsqrt"});

bool is_one_of(std::string_view op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool has_word(std::string_view name, std::span<const std::string_view> words) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(words, [&](std::string_view word) {
    const std::size_t at = lower.find(word);
    const auto letter = [&](std::size_t i) {
      return i < lower.size() && lower[i] >= 'a' && lower[i] <= 'z';
    };
    // "norm" within "layernorm" is one; "ln" within "kiln" is none.
    return at != lower.npos &&
           (word.size() > 3 || ((at == 0 || !letter(at - 1)) && !letter(at + word.size())));
  });
}

struct Inputs {
  double e = 0;
  double w = 0;
  double rho = 0;
  double mu = 0;
  bool special = false;  // NaN or Inf that golden has not
  bool exact = true;     // equal to the bit, all of them
  double adding = 0;     // the norm of what an addition carries over
  bool direct = true;    // nothing lies between
};

class Judgement {
 public:
  Judgement(LayerReport& report, const JudgeLayers& options)
      : report_(report),
        options_(options),
        precision_(run_precision(report, options)),
        neighbours_(report) {}

  void run() {
    report_.u = precision_.u;
    report_.noise_source = precision_.source;
    report_.roots.clear();
    for (Layer& layer : report_.layers) reset(layer);
    report_.sanity = check_sanity(report_);
    mark_reused();
    if (judge_inputs()) return judge_watching();
    for (std::uint64_t i = 0; i < layers().size(); ++i) {
      judge(i);
      take_input(layers()[i], before_);
    }
    settle();
  }

 private:
  std::vector<Layer>& layers() { return report_.layers; }

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

  // What may be held against an input: what is known of it is known.
  bool counts_as_input(const Layer& layer) const {
    return layer.state != LayerState::dump && can_judge(layer);
  }

  void take_input(const Layer& layer, Inputs& in) const {
    if (layer.state == LayerState::dump || !layer.figures || !layer.placed) return;
    const LayerFigures& f = *layer.figures;
    in.special = in.special || f.new_nan() + f.new_inf() > 0;
    in.exact = in.exact && f.equal == f.pairs;
    if (!counts_as_input(layer)) return;
    in.e = neighbours_.by_graph() ? std::hypot(in.e, f.e) : std::max(in.e, f.e);
    in.w = neighbours_.by_graph() ? std::hypot(in.w, f.w) : std::max(in.w, f.w);
    in.rho = std::max(in.rho, f.rho);
    in.mu = std::max(in.mu, f.mu);
    in.adding += f.error;
  }

  // With a graph, the layer's own; else all that is before it, of which the last ones tell of
  // scales.
  Inputs inputs_of(std::uint64_t i) const {
    Inputs in;
    if (options_.isolated) return in;
    const auto& all = report_.layers;
    if (neighbours_.by_graph()) {
      for (const std::uint64_t input : all[i].inputs) take_input(all[input], in);
      in.direct = all[i].unseen.empty();
      return in;
    }
    Inputs near;
    for (std::uint64_t last = i - std::min(i, kNear); last < i; ++last) take_input(all[last], near);
    in = before_;
    in.rho = near.rho;
    in.mu = near.mu;
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
    layer.bw = times(figures.w, std::hypot(kSliceGrowth * in.w, kSliceSteps * layer.u));
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
  }

  static double times(double e, double noise) {
    if (e == 0) return 0;
    return noise > 0 ? e / noise : kInf;
  }

  double noise_of(const Layer& layer, const Inputs& in) const {
    double carried = options_.a * in.e;
    if (neighbours_.by_graph() && in.direct && is_one_of(layer.op, kAdding))
      carried = in.adding / layer.figures->golden.norm;
    return std::hypot(carried, floor_of(layer));
  }

  LayerFault fault_of(const Layer& layer, const Inputs& in) const {
    const LayerFigures& figures = *layer.figures;
    if (layer.baseline)
      return layer.b >= options_.baseline_limit ? LayerFault::error : LayerFault::none;
    if (layer.b >= options_.limit) return LayerFault::error;
    if (layer.bw >= options_.limit) return LayerFault::local;
    if (layer.b < kLeastAlong) return LayerFault::none;
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
    const LayerFigures& own = *report_.layers[i].figures;
    return !consumers.empty() && std::ranges::all_of(consumers, [&](std::uint64_t c) {
      const LayerFigures& figures = *report_.layers[c].figures;
      if (figures.new_nan() + figures.new_inf() > 0) return false;
      const double carried = own.e * std::min(1.0, own.golden.norm / figures.golden.norm);
      return figures.e <= carried * kCarried;
    });
  }

  bool is_amplified(const Layer& layer) const {
    if (layer.fault != LayerFault::error) return false;
    const bool graph = neighbours_.by_graph();
    if (graph ? !is_one_of(layer.op, kCancelling) : !has_word(layer.name(), kCancellingWords))
      return false;
    if (layer.b < kSurely) return true;
    // The error has not grown: what it is compared with has shrunk.
    const std::uint64_t i = static_cast<std::uint64_t>(&layer - report_.layers.data());
    double before = 0;
    const auto take = [&](std::uint64_t number) {
      const Layer& input = report_.layers[number];
      if (counts_as_input(input)) before = std::max(before, input.figures->error);
    };
    if (graph)
      for (const std::uint64_t input : layer.inputs) take(input);
    else
      for (std::uint64_t number = i - std::min(i, kNear); number < i; ++number) take(number);
    return layer.figures->error <= options_.a * before;
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
    judge_watching();
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
      return conclude(is_amplified(layers()[first]) ? VerdictKind::amplified : VerdictKind::broke,
                      first);
    }
    if (dump != layers().end())
      return conclude(VerdictKind::dump_wrong, static_cast<std::uint64_t>(dump - layers().begin()));
    if (judged == 0) return conclude(VerdictKind::cannot_tell, std::nullopt);
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
    report_.verdict = {.kind = kind, .layer = layer};
    if (layer && kind != VerdictKind::dump_wrong && kind != VerdictKind::drift)
      report_.verdict.between = layers()[*layer].unseen;
    say_verdict(report_, options_);
  }

  LayerReport& report_;
  const JudgeLayers& options_;
  RunPrecision precision_;
  Neighbours neighbours_;
  Inputs before_;  // of all that is judged already
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
