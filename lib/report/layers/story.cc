#include "report/layers/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// Returns the value of --actual-scale: "0.02,3", "1:0.02,3/0.05,-1".
std::string scale_text(const GivenScale& given) {
  std::string text = given.axis ? std::to_string(*given.axis) + ":" : "";
  for (std::size_t i = 0; i < given.scales.size(); ++i) {
    text += (i == 0 ? "" : "/") + number_text(given.scales[i]);
    if (!given.zero_points.empty()) text += "," + std::to_string(given.zero_points[i]);
  }
  return text;
}

void add_scales(const std::optional<GivenScale>& actual, const std::optional<GivenScale>& golden,
                std::vector<std::string>& words) {
  if (actual) words.insert(words.end(), {"--actual-scale", scale_text(*actual)});
  if (golden) words.insert(words.end(), {"--golden-scale", scale_text(*golden)});
}

// Returns the options of diff that select the pair by its names, or nothing if none can.
std::vector<std::string> pair_options(const Layer& layer) {
  const auto is_name = [](const std::string& name) {
    return name.find_first_not_of("0123456789-") != std::string::npos && !name.starts_with('@');
  };
  if (layer.actual == layer.golden && is_name(layer.golden) &&
      layer.golden.find_first_of("*?[],!\\") == std::string::npos)
    return {"--tensor", layer.golden};
  const auto named = [&](const std::string& name) { return (is_name(name) ? "" : "@") + name; };
  if (layer.actual.empty() || layer.golden.empty() ||
      (layer.actual + layer.golden).find_first_of(",:") != std::string::npos)
    return {};
  return {"--pair", named(layer.actual) + ":" + named(layer.golden)};
}

// Removes an option and its value.
void drop(std::vector<std::string>& words, std::string_view option) {
  const auto found = std::ranges::find(words, option);
  if (found != words.end()) words.erase(found, found + 2);
}

// Returns true unless the dtype is known to have no codes. Giving a scale for such a tensor is an
// error.
bool may_be_codes(const std::optional<DType>& dtype) {
  return !dtype || !info(*dtype).floating() || info(*dtype).bits <= 8;
}

// Returns true if specs need both directories. Each spec with a glob must match a file that is
// compared, and a spec without dims takes them from the other side of each pair.
bool has_specs(const std::vector<std::string>& words) {
  const auto by_name = [](const std::string& spec) {
    return !spec.starts_with('@') && spec.find('=') < spec.find(':');
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if ((words[i] == "--actual-spec" || words[i] == "--golden-spec") && by_name(words[i + 1]))
      return true;
  return false;
}

}  // namespace

std::vector<std::string> value_options(const LayerRun& run) {
  std::vector<std::string> words = run.scales;
  drop(words, "--files-from");
  return words;
}

// The command compares the two files, or the directories if it needs other files there: scales that
// are too many to be typed, or files that specs apply to.
std::string next_command(const LayerRun& run) {
  const LayerVerdict& verdict = run.report.verdict;
  if (verdict.actual_path.empty() || !verdict.layer || verdict.kind == VerdictKind::clean)
    return {};
  std::vector<std::string> words = run.scales;
  const Layer& layer = run.report.layers[*verdict.layer];
  if (!may_be_codes(layer.actual_dtype)) drop(words, "--actual-scale");
  if (!may_be_codes(layer.golden_dtype)) drop(words, "--golden-scale");
  std::vector<std::string> paths;
  constexpr std::size_t kMaxTyped = 8;
  const auto many = [](const std::optional<GivenScale>& scale) {
    return scale && scale->scales.size() > kMaxTyped;
  };
  const bool actual_in_set = verdict.actual_path != run.actual;
  const bool golden_in_set = verdict.golden_path != run.golden;
  const bool by_sets = (actual_in_set && golden_in_set &&
                        (many(verdict.actual_scale) || many(verdict.golden_scale))) ||
                       ((actual_in_set || golden_in_set) && has_specs(words));
  const std::vector<std::string> pair = by_sets ? pair_options(layer) : std::vector<std::string>();
  if (!pair.empty()) {
    words.insert(words.end(), pair.begin(), pair.end());
    paths = {run.actual, run.golden};
  } else {
    drop(words, "--files-from");
    add_scales(verdict.actual_scale, verdict.golden_scale, words);
    if (verdict.actual_tensor || verdict.golden_tensor)
      words.insert(words.end(), {"--pair", fmt::format("{}:{}", verdict.actual_tensor.value_or(0),
                                                       verdict.golden_tensor.value_or(0))});
    paths = {verdict.actual_path, verdict.golden_path};
  }
  std::string command = "btftool diff --heatmap";
  for (const std::string& word : words) command += " " + shell_word(word);
  for (const std::string& path : paths) command += " " + shell_path(path);
  return command;
}

std::vector<std::string> scale_words(const LayerOptions& options) {
  std::vector<std::string> words;
  if (options.dequantize) words.emplace_back("--dequantize");
  if (!options.scale_blocks.empty())
    words.insert(words.end(), {"--block", by_x(options.scale_blocks)});
  add_scales(options.actual_scale, options.golden_scale, words);
  return words;
}

namespace {

std::string headline(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::clean:
      return "NOTHING BROKE";
    case VerdictKind::broke:
      return "BROKE AT";
    case VerdictKind::inputs:
      return "INPUTS DIFFER";
    case VerdictKind::dump_wrong:
      return "WRONG DUMP";
    case VerdictKind::drift:
      return "DRIFTED TO";
    case VerdictKind::amplified:
      return "AMPLIFIED AT";
    case VerdictKind::missing:
      return "MISSING";
    case VerdictKind::cannot_tell:
      return "CANNOT TELL";
  }
  return {};
}

std::string dtypes_text(const Layer& layer) {
  const auto name = [](const auto& dtype) {
    return dtype ? std::string(btf::info(*dtype).name) : std::string("unknown");
  };
  return name(layer.actual_dtype) + " against " + name(layer.golden_dtype);
}

class StoryWriter {
 public:
  explicit StoryWriter(const LayerRun& run) : run_(run), report_(run.report) {}

  Story write() {
    const auto& verdict = report_.verdict;
    Story story{.headline = report_.statistics_only && verdict.kind == VerdictKind::clean
                                ? "STATISTICS AGREE"
                                : headline(verdict.kind),
                .subject = {},
                .where = {},
                .words = verdict.detail,
                .lines = {}};
    if (verdict.layer) {
      const Layer& layer = report_.layers[*verdict.layer];
      story.subject = printable(layer.name());
      story.where = fmt::format("layer {} of {}, {}", *verdict.layer + 1, report_.layers.size(),
                                dtypes_text(layer));
      if (layer.tier == PairTier::qdq)
        story.where +=
            fmt::format(", {} against {}", printable(layer.actual), printable(layer.golden));
    }
    if (verdict.kind == VerdictKind::missing) {
      std::vector<std::string> names = report_.missing_outputs;
      for (const auto* side : {&report_.golden_only, &report_.actual_only})
        if (report_.missing_outputs.empty()) names.insert(names.end(), side->begin(), side->end());
      story.subject = some_of(names);
    }
    add(story, "why", why());
    add(story, "engine", engine());
    add(story, "region", region());
    add(story, "after", after());
    add(story, "skipped", skipped());
    add(story, "coarser", coarser());
    add(story, "odd", odd());
    add(story, "watched", watched());
    add(story, "pairs", quantised());
    add(story, "missing", missing());
    add(story, "trust", trust());
    add(story, "scales", fitted_scales());
    add(story, "order", unknown_names());
    add(story, "limit", limit());
    add(story, "next", next_command(run_));
    return story;
  }

 private:
  static void add(Story& story, const char* title, std::string text) {
    if (!text.empty()) story.lines.push_back({title, std::move(text)});
  }

  const Layer* subject() const {
    return report_.verdict.layer ? &report_.layers[*report_.verdict.layer] : nullptr;
  }

  std::string why() const {
    const Layer* const layer = subject();
    if (layer == nullptr) return {};
    if (!layer->hints.empty()) {
      const Hint& hint = layer->hints.front();
      const std::string cause =
          hint.other_cause.empty() ? std::string(btf::cause_name(hint.cause)) : hint.other_cause;
      return cause + ": " + hint.evidence;
    }
    if (layer->fault == LayerFault::born && layer->figures && layer->figures->golden.peak > 65504 &&
        layer->figures->new_inf() > 0)
      return fmt::format("overflow: golden reaches {:.4g}, float16 ends at 65504",
                         layer->figures->golden.peak);
    // For wrong dumps, NaN and Inf, the verdict itself has the cause.
    const bool wrong = report_.verdict.kind == VerdictKind::dump_wrong;
    if (wrong && layer->fault == LayerFault::none) return {};
    if (!layer->note.empty() && !wrong && layer->fault != LayerFault::born) return layer->note;
    const bool asked = run_.searched && report_.verdict.kind != VerdictKind::drift &&
                       layer->fault != LayerFault::shape;
    return asked ? "no known cause" : "";
  }

  // The layer of the engine, and the nodes that are fused into it.
  std::string engine() const {
    const Layer* const layer = subject();
    if (layer == nullptr || layer->fused.empty()) return {};
    const std::vector<std::string>& nodes = layer->fused_nodes;
    std::string text = "layer " + printable(layer->fused);
    if (layer->compute) text += ", computed in " + std::string(btf::info(*layer->compute).name);
    if (nodes.empty() || (nodes.size() == 1 && nodes[0] == layer->fused)) return text;
    return text +
           fmt::format("; ONNX {} {}", nodes.size() == 1 ? "node" : "nodes", some_of(nodes, 8));
  }

  std::string region() const {
    const auto& between = report_.verdict.between;
    if (between.empty()) return {};
    return "not dumped before it: " + some_of(between, 4);
  }

  // If a layer broke, after() reports the layers after it.
  std::string skipped() const {
    if (report_.verdict.layer) return {};
    std::map<std::string, std::vector<std::string>> by_reason;
    for (const Layer& layer : report_.layers)
      if (layer.state == LayerState::unjudged || layer.state == LayerState::unmeasured)
        by_reason[layer.note].push_back(layer.name());
    std::string text;
    for (const auto& [reason, names] : by_reason)
      text += fmt::format("{}{} of {}: {} ({})", text.empty() ? "" : "; ", names.size(),
                          report_.layers.size(), reason, some_of(names));
    return text;
  }

  std::string after() const {
    if (!report_.verdict.layer) return {};
    const std::uint64_t first = *report_.verdict.layer;
    std::uint64_t unjudged = 0;
    for (std::uint64_t i = first + 1; i < report_.layers.size(); ++i)
      unjudged += report_.layers[i].state == LayerState::unjudged ? 1U : 0U;
    std::string text;
    if (unjudged > 0)
      text = fmt::format("{} of {} layers after it are not judged: {}", unjudged,
                         report_.layers.size() - first - 1,
                         in_words(run_.member_names,
                                  "fix this one, or run each layer with the inputs of golden "
                                  "(`judge.isolated`)"));
    std::string others;
    for (std::size_t i = 0; i < report_.roots.size() && i < 4; ++i)
      if (report_.roots[i] != first)
        others += (others.empty() ? "" : ", ") +
                  printable(report_.layers[report_.roots[i]].name()) + " (" +
                  state_text(report_.layers[report_.roots[i]]) + ")";
    if (!others.empty())
      text += std::string(text.empty() ? "" : "; ") + "other suspects: " + others +
              (report_.roots.size() > 4 ? ", ..." : "");
    for (auto last = report_.layers.rbegin(); last != report_.layers.rend(); ++last) {
      if (!last->figures || &*last == subject()) continue;
      if (last->role != "output" && last != report_.layers.rbegin()) continue;
      return text + (text.empty() ? "" : "; ") + printable(last->name()) + ": error " +
             btf::percent_text(last->figures->relative_error);
    }
    return text;
  }

  // Layers that were computed with fewer bits than their peers, the coarsest first.
  std::string coarser() const {
    constexpr std::size_t kMax = 3;
    std::vector<const Layer*> layers;
    std::size_t rounded = 0;
    for (const Layer& layer : report_.layers) {
      if (!layer.spot) continue;
      if (layer.spot->state == SpotState::coarser && layer.spot->own_error)
        layers.push_back(&layer);
      rounded += layer.spot->state == SpotState::rounded ? 1U : 0U;
    }
    std::ranges::stable_sort(layers, std::ranges::greater{},
                             [](const Layer* layer) { return *layer->spot->own_error; });
    std::string text;
    for (std::size_t i = 0; i < std::min(kMax, layers.size()); ++i) {
      const SpotCheck& spot = *layers[i]->spot;
      text += fmt::format("{}{} has an own error of {}, as of about {} bits", i == 0 ? "" : "; ",
                          printable(layers[i]->name()), btf::percent_text(*spot.own_error),
                          bits_of(*spot.own_error));
      if (spot.usual_error)
        text += fmt::format(" where others of its kind have about {}{}", bits_of(*spot.usual_error),
                            guess_of(*layers[i]));
      if (spot.adds)
        text += fmt::format(", and adds about {} to the outputs", btf::percent_text(*spot.adds));
    }
    if (layers.size() > kMax) text += fmt::format("; and {} more", layers.size() - kMax);
    if (rounded > 0)
      text += fmt::format(
          "{}{} rounded on the way out: what is computed from {} took finer numbers",
          text.empty() ? "" : "; ", counted(rounded, "dump") + (rounded == 1 ? " was" : " were"),
          rounded == 1 ? "it" : "them");
    return text;
  }

  static std::string guess_of(const Layer& layer) {
    if (layer.op.contains("Conv")) return " (TF32? Winograd?)";
    return layer.op == "MatMul" || layer.op == "Gemm" || layer.op == "Einsum"
               ? " (TF32? bfloat16?)"
               : " (an approximation?)";
  }

  // Returns the bits of a significand whose rounding causes such an error.
  static int bits_of(double error) {
    constexpr double kMax = 24;
    return error > 0 ? static_cast<int>(std::lround(std::clamp(-std::log2(error), 1.0, kMax)))
                     : static_cast<int>(kMax);
  }

  std::string odd() const {
    constexpr std::size_t kMax = 3;
    std::string text;
    std::size_t count = 0;
    for (const SanityFinding& finding : report_.sanity) {
      // The verdict has this one already.
      if (subject() != nullptr && subject()->note == finding.message) continue;
      if (++count <= kMax) text += (text.empty() ? "" : "; ") + printable(finding.message);
    }
    if (count > kMax) text += fmt::format("; and {} more", count - kMax);
    return text;
  }

  std::string watched() const {
    if (!report_.watched_error) return {};
    if (report_.watched_nonfinite)
      return "dumping changed the result: the outputs differ from those of the run without "
             "dumping by NaN or Inf";
    return report_.watching_changed_result
               ? "dumping changed the result: the error of its outputs against those of the run "
                 "without dumping is " +
                     btf::percent_text(*report_.watched_error)
               : "the outputs are those of the run without dumping (error " +
                     btf::percent_text(*report_.watched_error) + ")";
  }

  std::string missing() const {
    std::string text = only("GOLDEN", report_.golden_only);
    const std::string other = only("ACTUAL", report_.actual_only);
    if (!text.empty() && !other.empty()) text += "; ";
    return text + other;
  }

  // Which form of the tensors of a quantised model is compared, and which are not.
  std::string quantised() const {
    std::uint64_t count = 0;
    const Layer* first = nullptr;
    for (const Layer& layer : report_.layers) {
      if (layer.tier != PairTier::qdq) continue;
      if (count++ == 0) first = &layer;
    }
    std::string text;
    if (first != nullptr)
      text = fmt::format("ACTUAL's {} with GOLDEN's {}{}", printable(first->actual),
                         printable(first->golden),
                         count == 1 ? "" : fmt::format(", and {} more so", count - 1));
    for (const auto& [side, list] :
         {std::pair("ACTUAL", &report_.actual_beside), {"GOLDEN", &report_.golden_beside}}) {
      if (list->empty()) continue;
      text += fmt::format(
          "{}{} of {} that are other forms of these are not compared: {} (in place "
          "of it {})",
          text.empty() ? "" : "; ", counted(list->size(), "tensor"), side,
          printable(list->front().name), printable(list->front().compared));
      if (list->size() > 1) text += ", ...";
    }
    return text;
  }

  // "ACTUAL is flat"
  std::string flat() const {
    if (!report_.actual_flat && !report_.golden_flat) return {};
    const bool both = report_.actual_flat && report_.golden_flat;
    return fmt::format(", {} flat and compared by the order of elements", both ? "both are"
                                                                          : report_.actual_flat
                                                                              ? "ACTUAL is"
                                                                              : "GOLDEN is");
  }

  static std::string only(const char* side, const std::vector<std::string>& names) {
    constexpr std::size_t kMaxNames = 3;
    if (names.empty()) return {};
    std::string text = fmt::format("only {} has ", side);
    for (std::size_t i = 0; i < std::min(kMaxNames, names.size()); ++i)
      text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMaxNames) text += fmt::format(" and {} more", names.size() - kMaxNames);
    return text;
  }

  std::string trust() const {
    std::map<PairTier, std::uint64_t> tiers;
    for (const Layer& layer : report_.layers) ++tiers[layer.tier];
    std::string by;
    for (const auto& [tier, count] : tiers)
      by += fmt::format("{}{} by {}", by.empty() ? "" : ", ", count, tier_text(tier));
    std::string text = fmt::format("{} of {} tensors paired ({}), {}, noise from {}",
                                   report_.paired, report_.paired + report_.golden_only.size(), by,
                                   order_text(), report_.noise_source);
    if (report_.statistics_only)
      text +=
          ", from statistics alone: no elements were compared, and errors are the least that "
          "max, min, mean and norm allow";
    text += flat();
    text += recomputed();
    if (!report_.arithmetic.empty()) text += ", " + report_.arithmetic;
    if (report_.order_doubtful) text += ", order doubtful: errors come and go along it";
    if (!report_.actual_only.empty())
      text += fmt::format(", {} of ACTUAL without a pair", report_.actual_only.size());
    if (!report_.ambiguous.empty())
      text += fmt::format(", {} could be several", counted(report_.ambiguous.size(), "name"));
    return text;
  }

  // The number of layers with recomputed elements, and why the others have none.
  std::string recomputed() const {
    std::uint64_t checked = 0;
    std::map<std::string, std::uint64_t> reasons;
    for (const Layer& layer : report_.layers) {
      if (!layer.spot) continue;
      const bool has_check = layer.spot->state != SpotState::unchecked;
      checked += has_check ? 1U : 0U;
      if (!has_check && layer.role != "input") ++reasons[layer.spot->why];
    }
    if (checked == 0 && reasons.empty()) return {};
    std::string text = fmt::format(", {} recomputed from {} inputs", counted(checked, "layer"),
                                   checked == 1 ? "its" : "their");
    if (reasons.empty()) return text;
    const auto most =
        std::ranges::max_element(reasons, {}, &std::pair<const std::string, std::uint64_t>::second);
    return text + fmt::format(" ({} not: {}{})", report_.layers.size() - checked,
                              printable(most->first), reasons.size() > 1 ? ", and others" : "");
  }

  static std::string tier_text(PairTier tier) {
    if (tier == PairTier::exact) return "name";
    return std::string(
        std::ranges::find(btf::pair_tier_names(), tier, &Named<PairTier>::value)->name);
  }

  std::string order_text() const {
    const std::string text(words_of(report_.order).whole);
    if (report_.order_path.empty()) return text;
    if (report_.linked() && !report_.engine_path.empty() && report_.order_left_out.empty() &&
        report_.engine_path != report_.order_path)
      return text + printable(report_.engine_path) + ", links from " +
             printable(report_.order_path);
    return text + (report_.order == OrderSource::recorded ? " in " : "") +
           printable(report_.order_path) + left_out() +
           (report_.graph_path.empty() ? "" : ", links from " + printable(report_.graph_path));
  }

  // The layers that a list of names leaves out.
  std::string left_out() const {
    const std::size_t count = report_.order_left_out.size();
    if (count == 0) return {};
    return fmt::format(" except for {} that it leaves out ({}): {}", counted(count, "layer"),
                       some_of(report_.order_left_out), words_of(report_.order_left_out_by).rest);
  }

  struct OrderWords {
    OrderSource source;
    std::string_view whole;  // before the path, if there is one
    std::string_view rest;   // for layers that a list leaves out
  };

  static const OrderWords& words_of(OrderSource source) {
    static constexpr auto kWords = std::to_array<OrderWords>({
        {OrderSource::file, "order from ", "as they were"},
        {OrderSource::graph, "order from ", "as in the graph"},
        {OrderSource::recorded, "order as recorded", "as recorded"},
        {OrderSource::numbered, "order by the numbers of names", "by the numbers of names"},
        {OrderSource::stored, "order of the file", "as in the file"},
        {OrderSource::natural, "order of names (a guess)", "by names, a guess"},
    });
    return *std::ranges::find(kWords, source, &OrderWords::source);
  }

  std::string fitted_scales() const {
    std::vector<std::string> names;
    for (const Layer& layer : report_.layers)
      if (layer.figures && layer.figures->scale_fitted) names.push_back(layer.name());
    if (names.empty()) return {};
    return fmt::format(
        "fitted to golden for the codes of {} ({}), so a wrong scale cannot be detected there; {}",
        counted(names.size(), "layer"), some_of(names),
        in_words(run_.member_names, "`dequantize` and `actual_scale` use the real ones"));
  }

  std::string unknown_names() const {
    const std::size_t count = report_.order_unknown.size();
    if (count == 0) return {};
    return fmt::format("{} of {} {} no compared tensor: {}", counted(count, "line"),
                       printable(report_.order_path), count == 1 ? "names" : "name",
                       some_of(report_.order_unknown));
  }

  static std::string some_of(const std::vector<std::string>& names, std::size_t most = 3) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
      text += (i == 0 ? "" : ", ") + printable(names[i]);
    return text + (names.size() > most ? ", ..." : "");
  }

  // The largest error before the layer that broke that would not be detected.
  std::string limit() const {
    if (report_.statistics_only)
      return "changes that keep max, min, mean and norm, such as another order of elements, are "
             "not detected; the fault may be in an earlier layer";
    double noise = 0;
    for (const Layer& layer : report_.layers) {
      if (&layer == subject()) break;
      if (layer.state == LayerState::healthy && layer.figures) noise = std::max(noise, layer.noise);
    }
    if (noise == 0) return {};
    return fmt::format("an error below {} would not be detected {}",
                       btf::percent_text(run_.judge.limit * noise),
                       subject() == nullptr ? "everywhere" : "before it");
  }

  const LayerRun& run_;
  const LayerReport& report_;
};

}  // namespace

Story story_of(const LayerRun& run) { return StoryWriter(run).write(); }

std::string state_text(const Layer& layer) {
  const auto name_of = [](const auto names, const auto value) {
    return std::string(std::ranges::find(names, value, &decltype(names)::value_type::value)->name);
  };
  if (layer.state == LayerState::dump) return "dump wrong";
  if (layer.state != LayerState::root) return name_of(btf::layer_state_names(), layer.state);
  if (layer.spot && layer.spot->off > 0 && layer.fault != LayerFault::born)
    return fmt::format("broke {}/{}", layer.spot->off, layer.spot->checked);
  if (layer.fault != LayerFault::error && layer.fault != LayerFault::local)
    return "broke: " + name_of(btf::layer_fault_names(), layer.fault);
  const double times =
      layer.fault == LayerFault::local ? layer.slice_error_to_noise : layer.error_to_noise;
  return times < 1e5 ? fmt::format("broke x{:.3g}", times) : fmt::format("broke x{:.0e}", times);
}

}  // namespace btf::report
