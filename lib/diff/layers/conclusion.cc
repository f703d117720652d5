#include "diff/layers/conclusion.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/layout.h"
#include "diff/layers/noise_model.h"

namespace btf {
namespace {

// An error of this size is not rounding.
constexpr double kOff = 0.1;

class Sanity {
 public:
  explicit Sanity(const LayerReport& report) : report_(report) {}

  std::vector<SanityFinding> run() {
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const Layer& layer = report_.layers[i];
      if (!layer.figures || layer.figures->pairs == 0) continue;
      check_signal(i, *layer.figures);
    }
    find_reused();
    find_shifted();
    return std::move(found_);
  }

 private:
  const Layer& layer(std::uint64_t i) const { return report_.layers[i]; }

  void add(std::string_view code, std::vector<std::uint64_t> layers, std::string message) {
    found_.push_back({std::string(code), std::move(layers), std::move(message)});
  }

  void check_signal(std::uint64_t i, const LayerFigures& figures) {
    const bool golden = figures.golden.peak > 0;
    const bool actual = figures.actual.peak > 0;
    if (golden && !actual)
      add(kAllZero, {i}, quoted(layer(i).actual) + " is all zero, golden is not");
    if (!golden && actual)
      add(kNoSignal, {i}, quoted(layer(i).golden) + " is all zero, actual is not");
  }

  static bool is_alike(const LayerSide& one, const LayerSide& other) {
    constexpr double kCode = 0.01;  // of the largest number: a step of int8
    const double step = kCode * other.peak;
    const auto near = [&](double a, double b) { return std::abs(a - b) <= step; };
    return near(one.peak, other.peak) && std::ranges::equal(one.samples, other.samples, near) &&
           std::abs(one.norm - other.norm) <= kCode * other.norm;
  }

  // Layers that hold the same numbers, in order. Fingerprints nearly always decide; only where two
  // are equal are more figures compared.
  std::vector<std::vector<std::uint64_t>> alike_layers() const {
    const auto key_of = [&](std::uint64_t i) {
      const LayerFigures& figures = *layer(i).figures;
      return std::tie(figures.elements, figures.actual.samples);
    };
    std::vector<std::pair<std::uint64_t, std::uint64_t>> prints;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->actual.peak == 0) continue;
      prints.emplace_back(figures->actual.fingerprint, i);
    }
    std::ranges::sort(prints, [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first < b.first;
      const auto left = key_of(a.second);
      const auto right = key_of(b.second);
      return left != right ? left < right : a.second < b.second;
    });
    std::vector<std::vector<std::uint64_t>> alike;
    for (auto from = prints.begin(); from != prints.end();) {
      const auto to = std::find_if(from, prints.end(), [&](const auto& print) {
        return print.first != from->first || key_of(print.second) != key_of(from->second);
      });
      if (to - from > 1) {
        auto& layers = alike.emplace_back();
        for (auto at = from; at != to; ++at) layers.push_back(at->second);
      }
      from = to;
    }
    std::ranges::sort(alike);
    return alike;
  }

  // Finds layers with equal numbers where golden's numbers are not equal.
  void find_reused() {
    for (const std::vector<std::uint64_t>& layers : alike_layers()) {
      const LayerSide& first = layer(layers[0]).figures->golden;
      // Views of one tensor, operators that change nothing, and those that round to 8-bit codes.
      if (std::ranges::all_of(
              layers, [&](std::uint64_t i) { return is_alike(layer(i).figures->golden, first); }))
        continue;
      std::string message = quoted(layer(layers[0]).actual) + " and ";
      message += layers.size() == 2 ? quoted(layer(layers[1]).actual)
                                    : std::to_string(layers.size() - 1) + " more";
      add(kReusedBuffer, layers, message + " hold the same numbers: was a buffer used again?");
    }
  }

  // Finds layers whose numbers are golden's of another layer, up to rounding.
  void find_shifted() {
    std::optional<Lookup> golden;  // built only when a layer needs it
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || figures->pairs < kFew || figures->relative_error < kOff ||
          figures->actual.norm == 0)
        continue;
      // If golden's own layers are as close, only a bias or a view separates the two.
      if (same_numbers(*figures, *figures)) continue;
      if (!golden) golden = lookup();
      if (const auto other = find_numbers(*golden, i, *figures))
        add(kShifted, {i},
            quoted(layer(i).actual) + " holds the numbers of golden's " +
                quoted(layer(*other).golden) + ": are names or dumps shifted?");
    }
  }

  // Golden's layers of one size and similar norm, by each of their samples: among very many layers
  // most have a similar size and norm, but few share a number.
  struct SimilarLayers {
    std::array<std::vector<std::pair<double, std::uint64_t>>, 4> by_sample;
    double largest_rms = 0;
  };
  using Lookup = std::map<std::pair<std::uint64_t, long>, SimilarLayers>;

  static long norm_class(double norm) { return std::lround(std::log(norm) / kClose); }

  static double rms(const LayerFigures& figures) {
    return figures.golden.norm / std::sqrt(static_cast<double>(figures.pairs));
  }

  Lookup lookup() const {
    Lookup lookup;
    for (std::uint64_t i = 0; i < report_.layers.size(); ++i) {
      const auto& figures = layer(i).figures;
      if (!figures || !(figures->golden.norm > 0) || !std::isfinite(figures->golden.norm)) continue;
      SimilarLayers& alike = lookup[{figures->elements, norm_class(figures->golden.norm)}];
      for (std::size_t s = 0; s < alike.by_sample.size(); ++s)
        alike.by_sample[s].emplace_back(figures->golden.samples[s], i);
      alike.largest_rms = std::max(alike.largest_rms, rms(*figures));
    }
    for (auto& [key, alike] : lookup)
      for (auto& samples : alike.by_sample) std::ranges::sort(samples);
    return lookup;
  }

  std::optional<std::uint64_t> find_numbers(const Lookup& golden, std::uint64_t i,
                                            const LayerFigures& own) const {
    if (!std::isfinite(own.actual.norm)) return std::nullopt;
    // Where one sample is 0, those of many other layers are too.
    const auto& samples = own.actual.samples;
    const auto magnitude = [](double x) { return std::abs(x); };
    const auto s = static_cast<std::size_t>(std::ranges::max_element(samples, {}, magnitude) -
                                            samples.begin());
    const long from = norm_class(own.actual.norm * (1 - kClose));
    const long to = norm_class(own.actual.norm * (1 + kClose));
    for (long norm = from; norm <= to; ++norm) {
      const auto at = golden.find({own.elements, norm});
      if (at == golden.end()) continue;
      const auto& candidates = at->second.by_sample[s];
      const double reach = 2 * kClose * (at->second.largest_rms + std::abs(samples[s]));
      auto next = std::ranges::lower_bound(candidates, samples[s] - reach, {}, kSample);
      for (; next != candidates.end() && next->first <= samples[s] + reach; ++next)
        if (next->second != i && close_norm(own, *layer(next->second).figures) &&
            same_numbers(own, *layer(next->second).figures))
          return next->second;
    }
    return std::nullopt;
  }

  static bool close_norm(const LayerFigures& own, const LayerFigures& other) {
    return std::abs(own.actual.norm - other.golden.norm) <= kClose * own.actual.norm;
  }

  static bool same_numbers(const LayerFigures& own, const LayerFigures& other) {
    if (own.elements != other.elements) return false;
    const double size = rms(other);
    const auto close = [&](double a, double b) {
      return std::abs(a - b) <= kClose * (size + std::abs(b));
    };
    if (!close(own.actual.peak, other.golden.peak)) return false;
    bool varied = false;
    for (std::size_t i = 0; i < own.actual.samples.size(); ++i) {
      if (!close(own.actual.samples[i], other.golden.samples[i])) return false;
      varied = varied || std::abs(other.golden.samples[i]) > 2 * kClose * size;
    }
    const double mean = other.golden.norm * std::sqrt(static_cast<double>(other.pairs));
    return varied && std::abs(own.actual.sum - other.golden.sum) <= kClose * mean;
  }

  static constexpr std::uint64_t kFew = 16;
  static constexpr double kClose = 0.01;
  static constexpr auto kSample = &std::pair<double, std::uint64_t>::first;

  const LayerReport& report_;
  std::vector<SanityFinding> found_;
};

}  // namespace

std::vector<SanityFinding> check_sanity(const LayerReport& report) { return Sanity(report).run(); }

namespace {

std::string number_text(double value, int digits) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 std::chars_format::general, digits);
  return {text.data(), end.ptr};
}

std::string times_text(double factor) {
  if (std::isinf(factor)) return "beyond all that";
  constexpr double kMaxSpelled = 1e6;
  const bool whole = factor >= 100 && factor < kMaxSpelled;
  return (whole ? std::to_string(std::llround(factor)) : number_text(factor, 2)) + " times what";
}

std::string count_text(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what;
}

std::string list_of(const std::vector<std::string>& names, std::size_t most = 3) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += ", ...";
  return text;
}

// The engine's layer that computes it, if that has another name or contains several nodes.
std::string fused_text(const Layer& layer) {
  constexpr std::size_t kMax = 8;
  if (layer.fused.empty() || layer.fused == layer.name()) return {};
  std::string text = ", in the engine's layer " + quoted(layer.fused);
  if (layer.fused_nodes.size() > 1 ||
      (layer.fused_nodes.size() == 1 && layer.fused_nodes[0] != layer.fused))
    text += " (ONNX " + std::string(layer.fused_nodes.size() == 1 ? "node " : "nodes ") +
            list_of(layer.fused_nodes, kMax) + ")";
  return text;
}

std::string place_text(const LayerReport& report) {
  const Layer& layer = report.layers[*report.verdict.layer];
  const auto& between = report.verdict.between;
  if (between.empty()) return "at " + quoted(layer.name()) + fused_text(layer);
  return "at " + quoted(layer.name()) + " or before it, in what was not dumped (" +
         count_text(between.size(), between.size() == 1 ? "tensor: " : "tensors: ") +
         list_of(between) + ")" + fused_text(layer);
}

std::string specials_text(std::uint64_t nan, std::uint64_t inf) {
  std::string text = inf > 0 ? count_text(inf, "Inf") : "";
  if (nan > 0) text += (text.empty() ? "" : " and ") + count_text(nan, "NaN");
  return text;
}

// NaN and Inf that only one side has.
std::string one_sided_text(const LayerFigures& f) {
  const std::string all = " of " + count_text(f.elements, "elements");
  if (f.new_nan() + f.new_inf() > 0) return specials_text(f.new_nan(), f.new_inf()) + all;
  return specials_text(f.nan.golden, f.inf.golden) + all + " of golden are numbers in actual";
}

std::string index_text(const Dims& index) {
  std::string text;
  for (const std::uint64_t at : index) text += (text.empty() ? "" : ", ") + std::to_string(at);
  return "[" + text + "]";
}

// Elements that do not follow from the layer's own inputs, with one as an example.
std::string spot_text(const SpotCheck& spot) {
  constexpr int kDigits = 7;
  const auto part = [](std::uint64_t some, std::uint64_t all) {
    return std::to_string(some) + " of " + std::to_string(all);
  };
  std::string text = part(spot.off, spot.checked) + " outputs recomputed from its own inputs " +
                     (spot.off == 1 ? "is" : "are") + " off";
  if (spot.golden_checked > 0)
    text += " (golden's: " + part(spot.golden_off, spot.golden_checked) + ")";
  if (spot.own_error)
    text += ", by " + percent_text(*spot.own_error) +
            (spot.usual_error
                 ? " where others of its kind are off by " + percent_text(*spot.usual_error)
                 : "");
  if (!spot.where.empty() && spot.where != "spread") text += " (" + spot.where + ")";
  if (!spot.holds.empty())
    text += "; it holds the numbers of " + quoted(spot.holds) +
            ": was an operation left out (bias, gate, activation)?";
  if (!spot.element) return text;
  const SpotElement& element = *spot.element;
  return text + "; at " + index_text(element.index) + " actual has " +
         number_text(element.actual, kDigits) + ", its inputs give " +
         number_text(element.recomputed, kDigits) + " within " + number_text(element.explained, 2) +
         ", golden has " + number_text(element.golden, kDigits);
}

std::string fault_text(const Layer& layer, bool isolated, bool statistics_only) {
  const LayerFigures empty;
  const LayerFigures& f = layer.figures ? *layer.figures : empty;
  const std::string inputs =
      std::string(statistics_only ? "by their statistics " : "") + "inputs agree (" +
      (isolated ? std::string("they are golden's") : "error " + percent_text(layer.input_error)) +
      "), ";
  const std::string off = (statistics_only ? "at least " : "") + percent_text(f.relative_error);
  const auto explained = [&](double factor) {
    if (layer.baseline) return number_text(factor, 3) + " times the error of the baseline";
    return times_text(factor) + " its inputs and its dtype explain";
  };
  if (is_recomputed(layer) && layer.fault != LayerFault::born && layer.fault != LayerFault::shape) {
    const bool along = layer.fault == LayerFault::gain || layer.fault == LayerFault::offset;
    return spot_text(*layer.spot) +
           (along ? "; " + (layer.fault == LayerFault::gain
                                ? "its numbers are " + number_text(f.gain, 4) + " times golden's"
                                : std::string("its numbers are off by the same everywhere"))
                  : "");
  }
  switch (layer.fault) {
    case LayerFault::born:
      return one_sided_text(f) + (f.new_nan() + f.new_inf() > 0 ? " are born here" : "") +
             ": no input has any" + (layer.note.empty() ? "" : "; " + layer.note);
    case LayerFault::shape:
      return "shape " + dims_text(layer.actual_dims) + " against " + dims_text(layer.golden_dims);
    case LayerFault::gain:
      return inputs + "its numbers are " + number_text(f.gain, 4) + " times golden's (error " +
             percent_text(f.relative_error) + ")";
    case LayerFault::offset:
      return inputs + "its numbers are off by the same everywhere (error " +
             percent_text(f.relative_error) + ")";
    case LayerFault::local:
      return inputs + "one part of its output does not (" + percent_text(f.slice_error) +
             "): " + explained(layer.slice_error_to_noise);
    case LayerFault::error:
    case LayerFault::none:
      break;
  }
  if (is_weight(layer))
    return "it is there before anything is computed, and is off by " + off + ": " +
           times_text(layer.error_to_noise) + " its dtype explains";
  if (is_given(layer))
    return "no call that was dumped gave it, and it is off by " + off + ": " +
           explained(layer.error_to_noise);
  return inputs + "its output does not (" + off + "): " + explained(layer.error_to_noise);
}

std::string clean_text(const LayerReport& report) {
  double least = HUGE_VAL;
  double most = 0;
  double b = 0;
  std::uint64_t judged = 0;
  for (const Layer& layer : report.layers) {
    if (layer.state != LayerState::healthy || !layer.figures) continue;
    ++judged;
    least = std::min(least, layer.figures->relative_error);
    most = std::max(most, layer.figures->relative_error);
    b = std::max(b, layer.error_to_noise);
  }
  if (report.statistics_only && most == 0)
    return "the statistics of " + count_text(judged, judged == 1 ? "layer" : "layers") +
           " are equal; no elements were compared";
  if (most == 0) return count_text(judged, judged == 1 ? "layer is equal" : "layers are equal");
  return std::string(report.statistics_only ? "by statistics alone, errors of at least "
                                            : "errors of ") +
         percent_text(least) + " to " + percent_text(most) + ", at most " + number_text(b, 2) +
         " times " +
         (is_by_baseline(report) ? "the errors of the baseline"
                                 : "what inputs and " + report.noise_source + " explain");
}

// Layers that have no place in the order, and how far off they are.
std::string lost_text(const LayerReport& report) {
  std::vector<std::string> lost;
  double most = 0;
  for (const Layer& layer : report.layers) {
    if (!is_off_unplaced(layer)) continue;
    lost.push_back(quoted(layer.name()));
    const LayerFigures& f = *layer.figures;
    most = std::max(most, f.one_sided() > 0 ? HUGE_VAL : f.relative_error);
  }
  if (lost.empty()) return {};
  const bool one = lost.size() == 1;
  return (one ? lost[0] + " is" : count_text(lost.size(), "layers are")) + " off (" +
         (std::isinf(most) ? "NaN or Inf" : std::string(one ? "" : "up to ") + percent_text(most)) +
         ") and not in the order" + (one ? "" : " (" + list_of(lost) + ")");
}

std::string unmeasured_text(const LayerReport& report) {
  std::vector<std::string> names;
  for (const Layer& layer : report.layers)
    if (layer.state == LayerState::unmeasured) names.push_back(quoted(layer.name()));
  if (names.empty()) return {};
  return (names.size() == 1 ? names[0]
                            : count_text(names.size(), "layers (" + list_of(names) + ")")) +
         " could not be measured";
}

std::string undecided_reason(const LayerReport& report) {
  if (report.verdict.layer)
    return "the errors do not fit the order, which is that of names" +
           std::string(report.order == OrderSource::natural
                           ? ""
                           : " for the " + count_text(report.order_left_out.size(), "layers") +
                                 " that the list leaves out") +
           ": bad, good and bad again behind " +
           quoted(report.layers[*report.verdict.layer].name()) +
           (report.order == OrderSource::natural ? "; give `graph` or `order`" : "; list them too");
  if (std::string unknown = unmeasured_text(report); !unknown.empty()) return unknown;
  if (std::string lost = lost_text(report); !lost.empty()) return lost;
  if (std::ranges::any_of(report.layers, was_judged)) {
    const bool codes = std::ranges::any_of(report.layers, [](const Layer& layer) {
      return layer.figures && layer.figures->actual.step > 0 && layer.figures->golden.step == 0;
    });
    if (codes)
      return "errors are those of int8 from the first product on, and numbers lie on grids of "
             "codes; `judge.compute` int8, if that is meant";
    return std::string(report.linked() ? ""
                                       : "no `graph` says what layers are computed from, and ") +
           "errors are like noise from the first product on, but larger than bfloat16 explains" +
           (report.linked() ? "; `judge.compute` says what is meant"
                            : "; with `graph` layers are recomputed from their inputs, and "
                              "`judge.compute` says what they were computed in");
  }
  return "no layer could be judged";
}

// Tensors without a partner: the outputs among them, or all if none is an output.
std::string missing_text(const LayerReport& report) {
  const auto names = [](const std::vector<std::string>& list) {
    std::vector<std::string> quotes;
    for (const std::string& name : list) quotes.push_back(quoted(name));
    return list_of(quotes);
  };
  const auto is_golden = [&](const std::string& name) {
    return std::ranges::find(report.golden_only, name) != report.golden_only.end();
  };
  std::vector<std::string> golden = report.golden_only;
  std::vector<std::string> actual = report.actual_only;
  if (!report.missing_outputs.empty()) {
    golden.clear();
    std::ranges::copy_if(report.missing_outputs, std::back_inserter(golden), is_golden);
    // Candidates in actual for golden's output.
    if (golden.empty()) actual = report.missing_outputs;
  }
  std::string text = golden.empty() ? "" : "only golden has " + names(golden);
  if (!actual.empty()) text += (text.empty() ? "" : ", ") + ("only actual has " + names(actual));
  if (!report.golden_only.empty() && !report.actual_only.empty())
    text += "; `map` says which belong together";
  return text;
}

struct VerdictText {
  std::string head;
  std::string detail;
};

VerdictText verdict_text(const LayerReport& report, const LayerLimits& options) {
  const LayerVerdict& verdict = report.verdict;
  const Layer* const layer = verdict.layer ? &report.layers[*verdict.layer] : nullptr;
  const double e = layer != nullptr && layer->figures ? layer->figures->relative_error : 0;
  switch (verdict.kind) {
    case VerdictKind::clean:
      return {report.statistics_only ? "the statistics agree" : "nothing broke",
              clean_text(report)};
    case VerdictKind::broke:
      return {"broke " + place_text(report),
              fault_text(*layer, options.isolated, report.statistics_only)};
    case VerdictKind::inputs:
      return {"the inputs of the network differ",
              quoted(layer->name()) +
                  (layer->fault == LayerFault::born ? ": " + one_sided_text(*layer->figures)
                                                    : " has an error of " + percent_text(e)) +
                  ", and all else may follow from that"};
    case VerdictKind::dump_wrong:
      return {"nothing broke, but the dump of " + quoted(layer->name()) + " is wrong",
              (layer->fault == LayerFault::born ? one_sided_text(*layer->figures)
                                                : "error " + percent_text(e)) +
                  "; " + layer->note};
    case VerdictKind::drift:
      return {"nothing broke, but the error drifted",
              quoted(layer->name()) + " is off by " + percent_text(e) + ", more than " +
                  percent_text(options.most_error.value_or(kMaxError))};
    case VerdictKind::amplified:
      return {"an error grew " + place_text(report) +
                  (is_op(*layer, kExponentials, kExponentialWords)
                       ? ", where an exponential amplifies it"
                       : ", where a signal cancels"),
              fault_text(*layer, options.isolated, report.statistics_only) +
                  "; not proved to be a fault"};
    case VerdictKind::missing: {
      const std::uint64_t outputs = report.missing_outputs.size();
      const std::uint64_t all = report.golden_only.size() + report.actual_only.size();
      const std::string head = outputs > 1    ? count_text(outputs, "outputs are missing")
                               : outputs == 1 ? std::string("an output is missing")
                               : all == 1     ? std::string("a tensor is on one side only")
                                              : count_text(all, "tensors are on one side only");
      return {head,
              missing_text(report) + "; in what is paired nothing broke: " + clean_text(report)};
    }
    case VerdictKind::cannot_tell:
      return {"cannot tell", undecided_reason(report)};
  }
  return {};
}

}  // namespace

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string percent_text(double part) {
  if (!std::isfinite(part)) return number_text(part, 3);
  const double percent = part * 100;
  constexpr double kMaxSpelled = 1e6;
  constexpr double kWhole = 99.5;  // two digits would be 1e+02
  if (percent >= kWhole && percent < kMaxSpelled)
    return std::to_string(std::llround(percent)) + " %";
  return number_text(percent, 2) + " %";
}

void describe_verdict(LayerReport& report, const LayerLimits& options) {
  VerdictText text = verdict_text(report, options);
  if (!report.missing_outputs.empty() && report.verdict.kind != VerdictKind::missing)
    text.detail +=
        (report.missing_outputs.size() == 1
             ? std::string("; an output is missing: ")
             : "; " + count_text(report.missing_outputs.size(), "outputs are missing: ")) +
        list_of(report.missing_outputs);
  std::vector<std::string> coarse;
  for (const Layer& layer : report.layers)
    if (adds_too_much(layer, options)) coarse.push_back(quoted(layer.name()));
  if (!coarse.empty())
    text.detail +=
        "; " +
        (coarse.size() == 1 ? coarse[0] + " adds" : count_text(coarse.size(), "layers add")) +
        " more than " + percent_text(*options.most_own_error) + " by " +
        (coarse.size() == 1 ? "itself" : "themselves (" + list_of(coarse) + ")");
  report.verdict.words = text.head + ": " + text.detail;
  report.verdict.detail = std::move(text.detail);
}

namespace {

// Whether layers after the first root turn from good to bad and back more often than in any
// network.
bool is_order_doubtful(const LayerReport& report, const LayerLimits& options) {
  constexpr unsigned kMaxTurns = 2;
  if (report.roots.empty() || report.linked() || report.statistics_only) return false;
  const Layer& first = report.layers[report.roots.front()];
  const double good = 2 * root_sum_of_squares(options.growth * first.input_error, floor_of(first));
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
  return turns > kMaxTurns;
}

bool is_order_guessed(const LayerReport& report) {
  return report.order == OrderSource::natural ||
         (!report.order_left_out.empty() && report.order_left_out_by == OrderSource::natural);
}

// The largest number of a layer and of those it is computed from, whose steps its numbers keep.
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

// Notes a layer that has a coarser dtype than the others.
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

// The output that is furthest off, if that is more than allowed.
std::optional<std::uint64_t> drifted(const LayerReport& report, const LayerLimits& options) {
  std::optional<std::uint64_t> worst;
  std::optional<std::uint64_t> last;
  const double most = options.most_error.value_or(kMaxError);
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

void settle(LayerReport& report, const LayerLimits& options, const RunPrecision& precision,
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

void conclude(LayerReport& report, const LayerLimits& options, VerdictKind kind,
              std::optional<std::uint64_t> layer, const LayerVerdict& earlier) {
  report.verdict = {.kind = kind, .layer = layer};
  // Same layer: its location is already known.
  if (layer == earlier.layer) {
    report.verdict = earlier;
    report.verdict.kind = kind;
    report.verdict.between.clear();
  }
  if (layer && kind != VerdictKind::dump_wrong && kind != VerdictKind::drift)
    report.verdict.between = report.layers[*layer].unseen;
  describe_verdict(report, options);
}

}  // namespace btf
