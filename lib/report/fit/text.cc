#include "report/fit/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/report.h"
#include "btf/try.h"
#include "report/text/json.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

class FitLines {
 public:
  explicit FitLines(std::size_t columns) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  bool empty() const { return text_.empty(); }
  std::string take() { return std::move(text_); }

  void put(std::string_view line) { text_.append(line).append("\n"); }
  // Whole lines.
  void add(std::string_view text) { text_ += text; }
  // Text that does not fit is continued on the next line, indented by two more blanks. The text may
  // contain names as files have them.
  void lines(const std::string& text, std::size_t indent) {
    const std::string whole = std::string(indent, ' ') + printable(text);
    for (const std::string& line : wrapped(whole, columns_, indent + 2)) put(line);
  }

 private:
  std::string text_;
  std::size_t columns_;
};

std::string overflow_words(const FitFinding& finding, const FitOfType& type) {
  return "up to " + size_words(finding.number) + "; above " + size_words(finding.limit) +
         " they may overflow (" + std::string(info(type.dtype).name) + " ends at " +
         size_words(type.largest) + ")";
}

std::string off_words(const FitFinding& finding) {
  return " off by " + part_words(finding.number) + "; " + part_words(finding.limit) +
         " would be borne";
}

}  // namespace

std::string size_words(double size) { return fmt::format("{:.5g}", size); }

std::string part_words(double part) {
  if (std::isinf(part)) return "more than all of it";
  return part >= 1e-4 && part < 10 ? fmt::format("{:.2g}%", part * 100)
                                   : fmt::format("{:.2g}", part);
}

std::string magnitude_words(double error) {
  if (std::isinf(error)) return "Inf or NaN";
  if (error == 0) return "nothing";
  return "about 1e" + std::to_string(static_cast<int>(std::lround(std::log10(error))));
}

std::string verdict_words(const FitOfType& type) {
  const std::uint64_t all = type.layers.size();
  const std::uint64_t judged = all - type.unjudged;
  std::string text =
      std::to_string(type.wide) + " of " + counted(all, "layer") + " must stay float32";
  if (type.wide == 0)
    text = judged == 1 ? "the layer that can be judged fits"
                       : "all " + std::to_string(judged) + " layers that can be judged fit";
  if (type.unjudged > 0) text += "; " + std::to_string(type.unjudged) + " cannot be judged";
  return text;
}

std::string reason_words(const FitFinding& finding, const FitOfType& type) {
  const std::string tensor = quoted_name(finding.tensor);
  switch (finding.reason) {
    case FitReason::overflow_output:
      return "its result " + tensor + " has numbers " + overflow_words(finding, type);
    case FitReason::overflow_input:
      return "it reads " + tensor + ", which has numbers " + overflow_words(finding, type);
    case FitReason::overflow_inside:
      return "sums on the way to " + tensor + " are " + overflow_words(finding, type);
    case FitReason::variance:
      return "squares that are rounded take the variance inside" + off_words(finding);
    case FitReason::nonfinite:
      return counted(static_cast<std::uint64_t>(finding.number), "result") +
             (finding.number == 1 ? " becomes" : " become") + " Inf or NaN where " + tensor +
             " is rounded";
    case FitReason::lost:
      return "numbers of " + tensor + " are lost below " + size_words(type.smallest) +
             ", which takes the result" + off_words(finding);
    case FitReason::rounding:
      return "rounding " + tensor + " takes its result" + off_words(finding);
    case FitReason::feeds:
      break;
  }
  const std::string reader = quoted_name(finding.layer);
  if (finding.limit == 0)
    return "it rounds " + tensor + ", of which " + reader + " cannot bear a zero or an Inf";
  return "it rounds " + tensor + " by " + part_words(finding.number) + ", of which " + reader +
         " bears " + part_words(finding.limit);
}

std::string finding_words(const FitFinding& finding, const FitOfType& type, std::size_t dumps) {
  const std::string words = reason_words(finding, type);
  if (dumps < 2) return words;
  return words + " (in " + std::to_string(finding.dumps) + " of " + counted(dumps, "dump") + ")";
}

std::string output_words(const FitOutput& output, const FitOfType& type) {
  std::string words = "output " + quoted_name(output.name) + ": an error of " +
                      magnitude_words(type.wide > 0 ? output.kept : output.narrow) +
                      " (an estimate, to an order of magnitude)";
  if (type.wide > 0)
    words += "; with all layers in " + std::string(info(type.dtype).name) + " " +
             magnitude_words(output.narrow);
  return words;
}

bool is_poor(const FitTensor& tensor, const FitOfType& type) {
  return tensor.beyond > 0 || tensor.error > kPoorSteps * type.unit_roundoff;
}

}  // namespace btf::report

namespace btf {
namespace {

// Wide layers as other tools take them.

using Names = std::vector<std::string>;

constexpr auto kForms = std::to_array<Named<FitListForm>>({
    {FitListForm::autocast, "autocast"},
    {FitListForm::onnxconverter, "onnxconverter"},
    {FitListForm::trtexec, "trtexec"},
    {FitListForm::polygraphy, "polygraphy"},
    {FitListForm::names, "names"},
    {FitListForm::scales, "scales"},
});

// What is not among these stands between names, or ends them.
Status check_without(const Names& names, std::string_view characters, std::string_view tool) {
  for (const std::string& name : names)
    if (const std::size_t at = name.find_first_of(characters); at != name.npos)
      return fail(ErrorCode::refused, std::string(tool) + " cannot be given the layer '" + name +
                                          "': its name has '" + name[at] + "' in it");
  return {};
}

// The name and nothing else, as Python's re has it.
std::string exactly(const std::string& name) {
  constexpr std::string_view kSpecial = R"(\.^$*+?{}[]|()-&~# )";
  std::string pattern = "^";
  for (const char c : name) {
    if (kSpecial.contains(c)) pattern += '\\';
    pattern += c;
  }
  return pattern + "$";
}

Result<std::string> one_a_line(const Names& names) {
  BTF_TRY(check_without(names, "\n\r", "a list of lines"));
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Result<std::string> autocast(const Names& names) {
  Names patterns;
  for (const std::string& name : names) patterns.push_back(exactly(name));
  return one_a_line(patterns);
}

Result<std::string> onnxconverter(const Names& names) {
  return report::dump(report::Json(names)) + "\n";
}

// Writes options, or an empty line if no layer must stay in float32.
Result<std::string> trtexec(const Names& names) {
  BTF_TRY(check_without(names, ",\n\r", "trtexec"));
  if (names.empty()) return "\n";
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ",") + name + ":fp32";
  return "--precisionConstraints=obey " + report::shell_word("--layerPrecisions=" + list) + "\n";
}

Result<std::string> polygraphy(const Names& names) {
  BTF_TRY(check_without(names, "\n\r", "polygraphy"));
  if (names.empty()) return "\n";
  std::string words = "--precision-constraints obey --layer-precisions";
  for (const std::string& name : names) words += " " + report::shell_word(name + ":float32");
  return words + "\n";
}

}  // namespace

std::span<const Named<FitListForm>> fit_list_forms() { return kForms; }

bool lists_scales(FitListForm form) { return form == FitListForm::scales; }

Result<std::string> fit_list(const FitOfScales& type, FitListForm form) {
  if (!lists_scales(form))
    return fail(ErrorCode::refused, "lists of layers exist only for float16 and bfloat16; " +
                                        std::string(info(type.dtype).name) + " has scales");
  report::Json scales = report::Json::object();
  for (const FitScaledTensor& tensor : type.tensors)
    if (!tensor.scales.empty())
      scales[tensor.name] = report::json_number(tensor.scales[tensor.best].scale);
  return report::dump(scales) + "\n";
}

Result<std::string> fit_list(const FitOfType& type, FitListForm form) {
  if (lists_scales(form))
    return fail(ErrorCode::refused, std::string(info(type.dtype).name) + " has no scales");
  if (type.layers.empty()) return fail(ErrorCode::refused, "a list of layers needs a graph");
  Names names;
  for (const FitLayer& layer : type.layers)
    if (layer.state == FitState::wide) names.push_back(layer.name);
  switch (form) {
    case FitListForm::autocast:
      return autocast(names);
    case FitListForm::onnxconverter:
      return onnxconverter(names);
    case FitListForm::trtexec:
      return trtexec(names);
    case FitListForm::polygraphy:
      return polygraphy(names);
    case FitListForm::names:
    case FitListForm::scales:
      break;
  }
  return one_a_line(names);
}

}  // namespace btf

namespace btf::report {
namespace {

constexpr std::size_t kWorst = 5;  // tensors and layers that are always shown
constexpr std::size_t kMax = 20;   // more are only shown with `all`

// If there are fewer columns, sentences are printed instead of a table.
constexpr std::size_t kTableColumns = 76;

// A higher ratio in dB only shows that the scale itself is rounded to float32.
constexpr double kExact = 140;

bool has_ratio(double snr) { return std::isfinite(snr) && snr < kExact; }

// Tensors without a good scale come first; the others are sorted by their signal-to-noise ratio.
std::pair<bool, double> rank(const FitScaledTensor& tensor) {
  return {is_held(tensor), tensor.scales.empty() ? HUGE_VAL : tensor.scales[tensor.best].snr};
}

class ScalesScreen : FitLines {
 public:
  ScalesScreen(const FitOfScales& type, const TextOptions& options)
      : FitLines(options.columns),
        type_(type),
        name_(info(type.dtype).name),
        all_(options.all),
        whole_(options.whole_lines),
        paint_{options.color} {}

  std::string text() {
    verdict();
    tensors();
    layers();
    for (const FitScaledOutput& output : type_.outputs)
      lines("output " + quoted_name(output.name) + ": an error of " +
                magnitude_words(output.error) + " with all layers in " + name_ +
                " (an estimate, to an order of magnitude)",
            2);
    return take();
  }

 private:
  void verdict() {
    double least = HUGE_VAL;
    double most = -HUGE_VAL;
    std::uint64_t poor = 0;
    std::uint64_t nonfinite = 0;
    for (const FitScaledTensor& tensor : type_.tensors) {
      poor += tensor.state == FitScaling::poor ? 1 : 0;
      nonfinite += tensor.state == FitScaling::nonfinite ? 1 : 0;
      if (tensor.scales.empty() || !has_ratio(tensor.scales[tensor.best].snr)) continue;
      least = std::min(least, tensor.scales[tensor.best].snr);
      most = std::max(most, tensor.scales[tensor.best].snr);
    }
    const std::string all = counted(type_.tensors.size(), "tensor");
    std::string words = name_ + ": ";
    if (most < least)
      words += poor == 0 ? "exact" : "no ratio";
    else if (most == least)
      words += "SNR of " + decibel_words(least);
    else
      words += fmt::format("SNR of {:.1f} to {:.1f} dB", least, most);
    words += " with one scale a tensor";
    const std::string limits =
        fmt::format(" below {:g} dB, or with more than {:g}% of the numbers lost", kFitLeastSnr,
                    100 * kFitMostLost);
    words += "; " + (poor == 0 ? "none" : std::to_string(poor)) + " of " + all + limits;
    if (nonfinite > 0)
      words += "; " + std::to_string(nonfinite) + (nonfinite == 1 ? " has" : " have") +
               " NaN or Inf, which no code can represent";
    std::vector<std::string> wrapping = wrapped(words, columns(), 2);
    wrapping[0].replace(0, name_.size(),
                        poor + nonfinite == 0 ? paint_.green(name_) : paint_.red(name_));
    for (const std::string& line : wrapping) put(line);
  }

  void tensors() {
    std::vector<const FitScaledTensor*> shown;
    for (const FitScaledTensor& tensor : type_.tensors) shown.push_back(&tensor);
    if (!all_) {
      std::ranges::stable_sort(shown, {}, [](const auto* tensor) { return rank(*tensor); });
      const auto held = std::ranges::find_if(shown, [](const auto* t) { return is_held(*t); });
      const auto bad = static_cast<std::size_t>(held - shown.begin());
      shown.resize(std::min({shown.size(), std::max(bad, kWorst), kMax}));
    }
    if (shown.empty()) return;
    const bool table = columns() >= kTableColumns;
    std::vector<std::string> names;
    for (const FitScaledTensor* const tensor : shown) names.push_back(printable(tensor->name));
    width_ = table ? columns() - 64 : 0;
    if (whole_)
      for (const std::string& name : names) width_ = std::max(width_, columns_of(name) + 1);
    if (!whole_) names = short_names(names, table ? width_ - 1 : columns() - 4);
    if (table) head();
    for (std::size_t i = 0; i < shown.size(); ++i) {
      table ? row(*shown[i], names[i]) : sentence(*shown[i], names[i]);
      notes(*shown[i]);
    }
    if (shown.size() < type_.tensors.size())
      put("  and " + std::to_string(type_.tensors.size() - shown.size()) +
          " more, with less noise");
  }

  void head() {
    put("  " + pad_right("tensor", width_) + pad_left("by", 9) + pad_left("scale", 15) +
        pad_left("SNR", 9) + pad_left("clipped", 9) + pad_left("lost", 9) +
        pad_left("channels", 10));
  }

  void row(const FitScaledTensor& tensor, const std::string& name) {
    std::string line = "  " + fill_right(name, width_);
    if (tensor.scales.empty()) {
      put(line + "  " + nothing_words(tensor));
      return;
    }
    const FitScale& best = tensor.scales[tensor.best];
    put(line + pad_left(fit_scale_method_name(best.method), 9) + pad_left(scale_words(best), 15) +
        pad_left(decibel_words(best.snr), 9) + pad_left(percent(best.clipped, tensor.elements), 9) +
        pad_left(lost_words(tensor, best), 9) +
        (tensor.channels ? pad_left(decibel_words(tensor.channels->snr), 10) : ""));
  }

  void sentence(const FitScaledTensor& tensor, const std::string& name) {
    std::string words = name + "  ";
    if (tensor.scales.empty()) return lines(words + nothing_words(tensor), 2);
    const FitScale& best = tensor.scales[tensor.best];
    words += "scale " + scale_words(best) + " by " +
             std::string(fit_scale_method_name(best.method)) + ": " + decibel_words(best.snr) +
             ", " + percent(best.clipped, tensor.elements) + " clipped, " +
             lost_words(tensor, best) + " lost";
    if (tensor.channels)
      words += "; with a scale for each channel " + decibel_words(tensor.channels->snr);
    lines(words, 2);
  }

  static std::string scale_words(const FitScale& scale) {
    return fmt::format("{:.9g}", scale.scale);
  }

  static std::string nothing_words(const FitScaledTensor& tensor) {
    if (tensor.elements == 0) return "no numbers";
    return tensor.nan + tensor.infinite == tensor.elements ? "no finite numbers" : "zeros only";
  }

  void notes(const FitScaledTensor& tensor) {
    if (all_ && !tensor.scales.empty()) methods(tensor);
    if (tensor.state == FitScaling::nonfinite)
      lines(std::to_string(tensor.nan) + " NaN and " + std::to_string(tensor.infinite) +
                " Inf, which no code can represent",
            6);
    if (!tensor.channels || !tensor.channels->outlier) return;
    const FitOutlier& outlier = *tensor.channels->outlier;
    lines("channel " + std::to_string(outlier.channel) + " of " +
              std::to_string(tensor.channels->count) + " (dim " +
              std::to_string(tensor.channels->axis) + ") has numbers up to " +
              size_words(outlier.largest) + ", the median channel up to " +
              size_words(outlier.median) +
              "; with a scale of its own: " + decibel_words(outlier.snr),
          6);
  }

  void methods(const FitScaledTensor& tensor) {
    std::string words;
    for (const FitScale& scale : tensor.scales)
      words += (words.empty() ? "" : ", ") + std::string(fit_scale_method_name(scale.method)) +
               " " + decibel_words(scale.snr);
    lines(words, 6);
  }

  void layers() {
    if (type_.layers.empty()) return;
    if (type_.layers[0].error > 0)
      lines(
          "keep these layers in float32 first; the errors are what each of them alone causes in "
          "an output (an estimate):",
          2);
    std::size_t shown = 0;
    for (const FitScaledLayer& layer : type_.layers) {
      if (layer.error == 0 || (!all_ && shown == kWorst)) break;
      ++shown;
      lines(printable(layer.name) + "  " + layer.op + "  " + magnitude_words(layer.error) +
                fmt::format(", {:.2g}% of the noise", 100 * layer.share),
            6);
    }
    if (type_.unjudged > 0)
      lines(counted(type_.unjudged, "layer") + " left out: their errors are not known", 2);
  }

  const FitOfScales& type_;
  std::string name_;
  bool all_;
  bool whole_;             // names are never shortened
  std::size_t width_ = 0;  // width of the column of names
  Paint paint_;
};

}  // namespace

std::string decibel_words(double snr) {
  if (snr == -HUGE_VAL) return "none";
  return snr >= kExact ? "exact" : fmt::format("{:.1f} dB", snr);
}

std::string lost_words(const FitScaledTensor& tensor, const FitScale& scale) {
  return percent(scale.lost, tensor.elements - tensor.nan - tensor.infinite - tensor.zeros);
}

bool is_held(const FitScaledTensor& tensor) {
  return tensor.state == FitScaling::held || tensor.state == FitScaling::nothing;
}

std::string scales_text(const FitOfScales& type, const TextOptions& options) {
  return ScalesScreen(type, options).text();
}

namespace {

class FitScreen : FitLines {
 public:
  FitScreen(const FitReport& report, const TextOptions& options)
      : FitLines(options.columns),
        report_(report),
        options_(options),
        all_(options.all),
        paint_{options.color} {}

  std::string text() {
    for (const FitOfType& type : report_.types) {
      if (!empty()) put("");
      report_.graph ? layers(type) : alone(type);
    }
    for (const FitOfScales& type : report_.scaled) {
      if (!empty()) put("");
      add(scales_text(type, options_));
    }
    if (!report_.graph)
      lines("Without a graph no layer can be judged: only a model shows how layers are connected.",
            0);
    if (report_.integers > 0)
      lines(counted(report_.integers, "tensor") + " left out: not of a floating-point dtype.", 0);
    if (!report_.unused.empty())
      lines(counted(report_.unused.size(), "tensor") + " left out: not in the graph, such as " +
                quoted_name(report_.unused.front()) + ".",
            0);
    return take();
  }

 private:
  static std::string name(const FitOfType& type) { return std::string(info(type.dtype).name); }

  void layers(const FitOfType& type) {
    const std::string dtype = type.wide == 0 ? paint_.green(name(type)) : paint_.red(name(type));
    put(dtype + ": " + verdict_words(type));
    for (const FitLayer& layer : type.layers)
      if (all_ || layer.state == FitState::wide) one(layer, type);
    if (!all_) unjudged(type);
    for (const FitOutput& output : type.outputs) lines(output_words(output, type), 2);
    if (all_) tensors(type, true);
  }

  void one(const FitLayer& layer, const FitOfType& type) {
    std::string head = printable(layer.name) + "  " + layer.op;
    if (layer.state == FitState::narrow) head += "  fits";
    if (layer.state == FitState::unjudged) head += "  cannot be judged: " + layer.why;
    lines(head, 2);
    // The first finding is reason enough; the others are shown with `all`.
    for (std::size_t i = 0;
         i < (all_ ? layer.findings.size() : std::min<std::size_t>(1, layer.findings.size()));
         ++i) {
      lines(finding_words(layer.findings[i], type, report_.dumps.size()), 6);
    }
  }

  void unjudged(const FitOfType& type) {
    constexpr std::size_t kMax = 5;
    std::size_t shown = 0;
    for (const FitLayer& layer : type.layers) {
      if (layer.state != FitState::unjudged) continue;
      if (shown++ < kMax)
        lines("cannot be judged: " + printable(layer.name) + " (" + layer.op + "): " + layer.why,
              2);
    }
    if (shown > kMax) put("  and " + std::to_string(shown - kMax) + " more");
  }

  void alone(const FitOfType& type) {
    std::uint64_t poor = 0;
    for (const FitTensor& tensor : type.tensors) poor += is_poor(tensor, type) ? 1 : 0;
    put((poor == 0 ? paint_.green(name(type)) + ": the numbers of all " +
                         counted(type.tensors.size(), "tensor") + " fit"
                   : paint_.red(name(type)) + ": the numbers of " + std::to_string(poor) + " of " +
                         counted(type.tensors.size(), "tensor") + " do not fit"));
    tensors(type, all_);
  }

  void tensors(const FitOfType& type, bool all) {
    if (std::ranges::none_of(type.tensors,
                             [&](const FitTensor& t) { return all || is_poor(t, type); }))
      return;
    std::vector<std::string> names;
    for (const FitTensor& tensor : type.tensors)
      if (all || is_poor(tensor, type)) names.push_back(printable(tensor.name));
    std::size_t width = std::max<std::size_t>(columns(), 56) - 46;
    if (options_.whole_lines)
      for (const std::string& name : names) width = std::max(width, columns_of(name) + 1);
    names = short_names(names, width - 1);
    auto next = names.begin();
    put("  " + pad_right("tensor", width) + pad_left("largest", 11) + pad_left("margin", 10) +
        pad_left("error", 9) + pad_left("lost", 11));
    for (const FitTensor& tensor : type.tensors) {
      if (!all && !is_poor(tensor, type)) continue;
      put("  " + fill_right(*next++, width) + pad_left(size_words(tensor.largest), 11) +
          pad_left(std::isinf(tensor.margin) ? "" : fmt::format("{:.3g}", tensor.margin), 10) +
          pad_left(part_words(tensor.error), 9) + pad_left(std::to_string(tensor.lost), 11));
    }
  }

  const FitReport& report_;
  const TextOptions& options_;
  bool all_;
  Paint paint_;
};

}  // namespace
}  // namespace btf::report

namespace btf {

std::string text(const FitReport& report, const TextOptions& options) {
  return report::FitScreen(report, options).text();
}

}  // namespace btf
