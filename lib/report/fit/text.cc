#include "report/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "btf/report/fit.h"
#include "report/fit/lines.h"
#include "report/fit/scales.h"
#include "report/fit/words.h"
#include "report/text/columns.h"
#include "report/text/paint.h"

namespace btf::report {
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
      lines("Without a graph no layer can be judged: a model says what is computed from what.", 0);
    if (report_.integers > 0)
      lines(counted(report_.integers, "tensor") + " of other types than floats: left out.", 0);
    if (!report_.unused.empty())
      lines(counted(report_.unused.size(), "tensor") + " not in the graph, as " +
                quoted_name(report_.unused.front()) + ": left out.",
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
    // The first says it; the others are there for those who ask.
    for (std::size_t i = 0;
         i < (all_ ? layer.findings.size() : std::min<std::size_t>(1, layer.findings.size()));
         ++i) {
      lines(finding_words(layer.findings[i], type, report_.dumps.size()), 6);
    }
  }

  void unjudged(const FitOfType& type) {
    constexpr std::size_t kMost = 5;
    std::size_t shown = 0;
    for (const FitLayer& layer : type.layers) {
      if (layer.state != FitState::unjudged) continue;
      if (shown++ < kMost)
        lines("cannot be judged: " + printable(layer.name) + " (" + layer.op + "): " + layer.why,
              2);
    }
    if (shown > kMost) put("  and " + std::to_string(shown - kMost) + " more");
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
      put("  " + fill_right(*next++, width) +
          pad_left(size_words(tensor.largest), 11) +
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
