#include "diff/layers/verdict/words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/strided.h"
#include "diff/layers/verdict/explained.h"
#include "diff/layers/verdict/neighbours.h"
#include "diff/layers/verdict/noise.h"
#include "diff/layers/verdict/operators.h"

namespace btf {
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
  constexpr double kMostSpelled = 1e6;
  const bool whole = factor >= 100 && factor < kMostSpelled;
  return (whole ? std::to_string(std::llround(factor)) : number_text(factor, 2)) + " times what";
}

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what;
}

std::string list_of(const std::vector<std::string>& names, std::size_t most = 3) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += ", ...";
  return text;
}

// The engine's layer that computes it, where that has another name or is several nodes.
std::string fused_text(const Layer& layer) {
  constexpr std::size_t kMost = 8;
  if (layer.fused.empty() || layer.fused == layer.name()) return {};
  std::string text = ", in the engine's layer " + quoted(layer.fused);
  if (layer.fused_nodes.size() > 1 ||
      (layer.fused_nodes.size() == 1 && layer.fused_nodes[0] != layer.fused))
    text += " (ONNX " +
            std::string(layer.fused_nodes.size() == 1 ? "node " : "nodes ") +
            list_of(layer.fused_nodes, kMost) + ")";
  return text;
}

std::string place_text(const LayerReport& report) {
  const Layer& layer = report.layers[*report.verdict.layer];
  const auto& between = report.verdict.between;
  if (between.empty()) return "at " + quoted(layer.name()) + fused_text(layer);
  return "at " + quoted(layer.name()) + " or before it, in what was not dumped (" +
         counted(between.size(), between.size() == 1 ? "tensor: " : "tensors: ") +
         list_of(between) + ")" + fused_text(layer);
}

std::string specials_text(std::uint64_t nan, std::uint64_t inf) {
  std::string text = inf > 0 ? counted(inf, "Inf") : "";
  if (nan > 0) text += (text.empty() ? "" : " and ") + counted(nan, "NaN");
  return text;
}

// NaN and Inf on one side only.
std::string one_sided_text(const LayerFigures& f) {
  const std::string all = " of " + counted(f.elements, "elements");
  if (f.new_nan() + f.new_inf() > 0) return specials_text(f.new_nan(), f.new_inf()) + all;
  return specials_text(f.nan.golden, f.inf.golden) + all + " of golden are numbers in actual";
}

std::string index_text(const Dims& index) {
  std::string text;
  for (const std::uint64_t at : index) text += (text.empty() ? "" : ", ") + std::to_string(at);
  return "[" + text + "]";
}

// Elements that do not follow from the layer's own inputs, and one of them.
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
    return "the statistics of " + counted(judged, judged == 1 ? "layer" : "layers") +
           " are equal; no elements were compared";
  if (most == 0) return counted(judged, judged == 1 ? "layer is equal" : "layers are equal");
  return std::string(report.statistics_only ? "by statistics alone, errors of at least " : "errors of ") + percent_text(least) + " to " + percent_text(most) + ", at most " +
         number_text(b, 2) + " times " +
         (is_by_baseline(report) ? "the errors of the baseline"
                                 : "what inputs and " + report.noise_source + " explain");
}

// Layers that the order has no place for, and how far off they are.
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
  return (one ? lost[0] + " is" : counted(lost.size(), "layers are")) + " off (" +
         (std::isinf(most) ? "NaN or Inf" : std::string(one ? "" : "up to ") + percent_text(most)) +
         ") and not in the order" + (one ? "" : " (" + list_of(lost) + ")");
}

std::string unmeasured_text(const LayerReport& report) {
  std::vector<std::string> names;
  for (const Layer& layer : report.layers)
    if (layer.state == LayerState::unmeasured) names.push_back(quoted(layer.name()));
  if (names.empty()) return {};
  return (names.size() == 1 ? names[0] : counted(names.size(), "layers (" + list_of(names) + ")")) +
         " could not be measured";
}

std::string why_untold(const LayerReport& report) {
  if (report.verdict.layer)
    return "the errors do not fit the order, which is that of names" +
           std::string(report.order == OrderSource::natural
                           ? ""
                           : " for the " + counted(report.order_left_out.size(), "layers") +
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
    return std::string(report.linked() ? "" : "no `graph` says what layers are computed from, and ") +
           "errors are like noise from the first product on, but larger than bfloat16 explains" +
           (report.linked() ? "; `judge.compute` says what is meant"
                            : "; with `graph` layers are recomputed from their inputs, and "
                              "`judge.compute` says what they were computed in");
  }
  return "no layer could be judged";
}

// Tensors without a partner: first the outputs among them, else all.
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
    // What golden's may be called in actual.
    if (golden.empty()) actual = report.missing_outputs;
  }
  std::string text = golden.empty() ? "" : "only golden has " + names(golden);
  if (!actual.empty()) text += (text.empty() ? "" : ", ") + ("only actual has " + names(actual));
  if (!report.golden_only.empty() && !report.actual_only.empty())
    text += "; `map` says which belong together";
  return text;
}

struct Said {
  std::string head;
  std::string detail;
};

Said say(const LayerReport& report, const JudgeLayers& options) {
  const LayerVerdict& verdict = report.verdict;
  const Layer* const layer = verdict.layer ? &report.layers[*verdict.layer] : nullptr;
  const double e = layer != nullptr && layer->figures ? layer->figures->relative_error : 0;
  switch (verdict.kind) {
    case VerdictKind::clean:
      return {report.statistics_only ? "the statistics agree" : "nothing broke",
              clean_text(report)};
    case VerdictKind::broke:
      return {"broke " + place_text(report), fault_text(*layer, options.isolated, report.statistics_only)};
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
                  percent_text(options.most_error.value_or(kMostError))};
    case VerdictKind::amplified:
      return {"an error grew " + place_text(report) +
                  (is_op(*layer, kExponentials, kExponentialWords)
                       ? ", where an exponential amplifies it"
                       : ", where a signal cancels"),
              fault_text(*layer, options.isolated, report.statistics_only) + "; not proved to be a fault"};
    case VerdictKind::missing: {
      const std::uint64_t outputs = report.missing_outputs.size();
      const std::uint64_t all = report.golden_only.size() + report.actual_only.size();
      const std::string head =
          outputs > 1    ? counted(outputs, "outputs are missing")
          : outputs == 1 ? std::string("an output is missing")
          : all == 1     ? std::string("a tensor is on one side only")
                         : counted(all, "tensors are on one side only");
      return {head, missing_text(report) + "; in what is paired nothing broke: " +
                        clean_text(report)};
    }
    case VerdictKind::cannot_tell:
      return {"cannot tell", why_untold(report)};
  }
  return {};
}

}  // namespace

std::string quoted(const std::string& name) { return "'" + name + "'"; }

std::string percent_text(double part) {
  if (!std::isfinite(part)) return number_text(part, 3);
  const double percent = part * 100;
  constexpr double kMostSpelled = 1e6;
  constexpr double kWhole = 99.5;  // two digits would be 1e+02
  if (percent >= kWhole && percent < kMostSpelled)
    return std::to_string(std::llround(percent)) + " %";
  return number_text(percent, 2) + " %";
}

void say_verdict(LayerReport& report, const JudgeLayers& options) {
  Said said = say(report, options);
  if (!report.missing_outputs.empty() && report.verdict.kind != VerdictKind::missing)
    said.detail += (report.missing_outputs.size() == 1
                        ? std::string("; an output is missing: ")
                        : "; " + counted(report.missing_outputs.size(), "outputs are missing: ")) +
                   list_of(report.missing_outputs);
  std::vector<std::string> coarse;
  for (const Layer& layer : report.layers)
    if (adds_too_much(layer, options)) coarse.push_back(quoted(layer.name()));
  if (!coarse.empty())
    said.detail += "; " + (coarse.size() == 1 ? coarse[0] + " adds"
                                              : counted(coarse.size(), "layers add")) +
                   " more than " + percent_text(*options.most_own_error) + " by " +
                   (coarse.size() == 1 ? "itself" : "themselves (" + list_of(coarse) + ")");
  report.verdict.words = said.head + ": " + said.detail;
  report.verdict.detail = std::move(said.detail);
}

}  // namespace btf
