#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/fit/lines.h"
#include "report/fit/scales.h"
#include "report/fit/words.h"
#include "report/text/columns.h"
#include "report/text/paint.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::size_t kWorst = 5;  // tensors and layers that are shown in any case
constexpr std::size_t kMost = 20;  // that are shown at most, but for `all`
// Where a table leaves its names no room there are sentences.
constexpr std::size_t kTableColumns = 76;

// What is left is the rounding of the scale itself, to a float32.
constexpr double kExact = 140;

bool has_ratio(double snr) { return std::isfinite(snr) && snr < kExact; }

// What no scale holds stands first, then by the signal-to-noise ratio.
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
               " NaN or Inf, which no code stands for";
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
      shown.resize(std::min({shown.size(), std::max(bad, kWorst), kMost}));
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
                " Inf, which no code stands for",
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
      lines("keep these wide first, by what each layer alone does to an output (an estimate):", 2);
    std::size_t shown = 0;
    for (const FitScaledLayer& layer : type_.layers) {
      if (layer.error == 0 || (!all_ && shown == kWorst)) break;
      ++shown;
      lines(printable(layer.name) + "  " + layer.op + "  " + magnitude_words(layer.error) +
                fmt::format(", {:.2g}% of the noise", 100 * layer.share),
            6);
    }
    if (type_.unjudged > 0)
      lines(counted(type_.unjudged, "layer") + " left out, whose errors are not known here", 2);
  }

  const FitOfScales& type_;
  std::string name_;
  bool all_;
  bool whole_;  // names are, however long lines become
  std::size_t width_ = 0;  // of their column
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

}  // namespace btf::report
