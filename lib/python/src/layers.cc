// layers(), and runs of it that the workers of an executor share.
#include "btf/layers.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/part.h"
#include "btf/report.h"
#include "btf/tensor_set.h"
#include "btf/tensorrt.h"
#include "btf/try.h"
#include "python/src/batch.h"
#include "python/src/diff.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

struct LayerSets {
  TwoSets two;
  std::optional<TensorSet> baseline{};

  static Result<LayerSets> open(const std::string& actual, const std::string& golden,
                                const std::optional<std::string>& baseline,
                                const Execution& execution);
  TensorSet* healthy() { return baseline ? &*baseline : nullptr; }
};

namespace nb = nanobind;

DType dtype_of(const nb::handle& argument) {
  return value(parse_dtype(nb::cast<std::string>(argument)));
}

// An ONNX model, an engine's layer list, or both.
Status take_graphs(const std::vector<std::string>& paths, LayerOptions& options) {
  for (const std::string& path : paths) {
    BTF_ASSIGN(const bool engine, is_engine_list(path));
    auto& taken = engine ? options.engine : options.graph;
    if (taken)
      return fail(ErrorCode::invalid_argument,
                  "graph takes one model and one layer list of an engine, and got two of a kind");
    taken = path;
  }
  return {};
}

// Values for single layers, as in {"softmax*": "fp32"}.
std::vector<ComputeRule> compute_rules(const nb::dict& given) {
  std::vector<ComputeRule> rules;
  for (const auto& [glob, dtype] : given)
    rules.push_back({nb::cast<std::string>(glob), dtype_of(dtype)});
  return rules;
}

LayerOptions layer_options(const nb::dict& given, std::optional<std::string>& baseline) {
  LayerOptions options;
  LayerLimits& judge = options.judge;
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    if (name == "graph")
      check(take_graphs(nb::cast<std::vector<std::string>>(argument), options));
    else if (name == "actual_graph")
      options.actual_graph = nb::cast<std::string>(argument);
    else if (name == "weights")
      options.spot_checks = nb::cast<bool>(argument);
    else if (name == "accumulate")
      options.accumulate = dtype_of(argument);
    else if (name == "compute")
      judge.compute = dtype_of(argument);
    else if (name == "computes")
      judge.computes = compute_rules(nb::cast<nb::dict>(argument));
    else if (name == "order")
      options.order = nb::cast<std::string>(argument);
    else if (name == "isolated")
      judge.isolated = nb::cast<bool>(argument);
    else if (name == "max_error")
      judge.most_error = nb::cast<double>(argument);
    else if (name == "require_all")
      judge.require_all = nb::cast<bool>(argument);
    else if (name == "hints")
      options.hints = nb::cast<bool>(argument);
    else if (name == "dequantize")
      options.dequantize = nb::cast<bool>(argument);
    else if (name == "block")
      options.scale_blocks = sizes_of(argument);
    else if (name == "baseline")
      baseline = nb::cast<std::string>(argument);
    else if (name == "jobs")
      options.execution.jobs = nb::cast<unsigned>(argument);
    else
      throw nb::type_error(("layers() has no option '" + name + "'").c_str());
  }
  return options;
}

Result<LayerSets> LayerSets::open(const std::string& actual, const std::string& golden,
                                  const std::optional<std::string>& baseline,
                                  const Execution& execution) {
  const OpenOptions open;
  BTF_ASSIGN(TwoSets two, open_two_sets({actual, open}, {golden, open}, execution));
  LayerSets sets{.two = std::move(two)};
  if (baseline) {
    BTF_ASSIGN(sets.baseline, TensorSet::open(*baseline));
  }
  return sets;
}

// Opens the sets and calls `judge` without the GIL.
LayerRun judged(const std::string& actual, const std::string& golden, const nb::dict& given,
                const std::function<Result<LayerReport>(LayerSets&, const LayerOptions&)>& judge) {
  std::optional<std::string> baseline;
  LayerOptions options = layer_options(given, baseline);
  const unsigned jobs = options.execution.jobs;
  std::optional<std::int64_t> newest;
  LayerReport report =
      value(run(jobs, kLong, [&](const Execution& execution) -> Result<LayerReport> {
        options.execution = execution;
        BTF_ASSIGN(LayerSets sets, LayerSets::open(actual, golden, baseline, execution));
        auto found = judge(sets, options);
        BTF_ASSIGN(newest, newest_input(sets.two));
        return found;
      }));
  return {.actual = actual,
          .golden = golden,
          .judge = options.judge,
          .searched = options.hints,
          .report = with_names(std::move(report), python_words),
          .member_names = python_words,
          .origin = {.newest_input = newest}};
}

LayerRun layers(const std::string& actual, const std::string& golden, const nb::dict& given) {
  return judged(actual, golden, given,
                [](LayerSets& sets, const LayerOptions& options) -> Result<LayerReport> {
                  return compare_layers(sets.two.actual, sets.two.golden, sets.healthy(), nullptr,
                                        options);
                });
}

// The whole result as JSON, from which from_state() restores it together with the options of
// layers().
LayerRun from_state(const std::string& json, const nb::dict& given,
                    std::optional<std::int64_t> newest) {
  std::optional<std::string> baseline;
  const LayerOptions options = layer_options(given, baseline);
  LayerRun run = value(read_layer_report(json));
  run.judge = options.judge;
  run.searched = options.hints;
  judge_layers(run.report, run.judge);
  run.report = with_names(std::move(run.report), python_words);
  run.member_names = python_words;
  run.origin.newest_input = newest;
  return run;
}

}  // namespace

void bind_layers(nb::module_& module) {
  nb::class_<LayerRun>(module, "LayerRun")
      .def_prop_ro("well",
                   [](const LayerRun& self) {
                     return self.report.troubles.empty() && all_well(self.report, self.judge);
                   })
      .def("text",
           [](const LayerRun& self, std::size_t columns, bool all) {
             return text(self, {.all = all, .columns = columns, .color = false});
           })
      .def("json", [](const LayerRun& self) { return json(self); })
      .def("html",
           [](const LayerRun& self, const std::string& call, const std::string& date) {
             LayerRun run = self;
             run.origin = origin_of(call, self.origin.newest_input, date);
             return html(run);
           })
      .def_prop_ro("newest_input", [](const LayerRun& self) { return self.origin.newest_input; })
      .def("junit", [](const LayerRun& self) { return junit(self); });
  module.def("layers", layers);
  module.def("layers_from_state", from_state);
}

namespace {

// --- Layers that the workers of an executor measure, and this process judges ---

// Writes each pair as a line of a part.
struct Lines final : LayerShare {
  Lines(std::string of_plan, const std::vector<std::string>& deciding,
        const std::vector<std::uint64_t>& numbers)
      : digest(std::move(of_plan)), words(deciding) {
    for (const std::uint64_t number : numbers) own[number] = {};
  }

  Status plan(std::span<const PlannedLayer> layers) override {
    BTF_TRY(check_plan(plan_digest("layers", words, 1, plan_of(layers)), digest));
    FileStates states;
    for (auto& [number, pair] : own)
      pair = {layers[number], states.of(layers[number].actual_path),
              states.of(layers[number].golden_path)};
    BTF_TRY(states.status);
    last = std::chrono::steady_clock::now();
    return {};
  }
  bool is_own(std::uint64_t number) const override { return own.contains(number); }
  const MeasuredLayer* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const MeasuredLayer& layer) override {
    const Own& pair = own.at(number);
    PartLine line = part_line(LayerItem{.number = number,
                                        .name = pair.layer.name,
                                        .actual_path = pair.layer.actual_path,
                                        .golden_path = pair.layer.golden_path,
                                        .measured = layer});
    line.files = {pair.actual, pair.golden};
    for (const auto& [path, state] : layer.inputs) line.files.push_back(state);
    const auto now = std::chrono::steady_clock::now();
    line.seconds = std::chrono::duration<double>(now - std::exchange(last, now)).count();
    lines.push_back(text(line));
  }

  struct Own {
    PlannedLayer layer;
    std::optional<FileState> actual;
    std::optional<FileState> golden;
  };
  std::string digest;
  const std::vector<std::string>& words;
  std::unordered_map<std::uint64_t, Own> own;
  std::chrono::steady_clock::time_point last;
  std::vector<std::string> lines;
};

Status measure(const std::string& actual, const std::string& golden, const nb::dict& given,
               LayerShare& share) {
  std::optional<std::string> baseline;
  LayerOptions options = layer_options(given, baseline);
  return run(1, kLong, [&](const Execution& execution) -> Status {
    options.execution = execution;
    BTF_ASSIGN(LayerSets sets, LayerSets::open(actual, golden, baseline, execution));
    return measure_layers(sets.two.actual, sets.two.golden, sets.healthy(), nullptr, options,
                          share);
  });
}

// `words` are the options that affect results, as the command writes them.
BatchPlan plan(const std::string& actual, const std::string& golden, const nb::dict& given,
               const std::vector<std::string>& words) {
  BatchPlan plan{.command = "layers", .operands = {actual, golden}};
  PlanOnly<PlannedLayer, MeasuredLayer> share(plan, words);
  const Status status = measure(actual, golden, given, share);
  if (!status && !share.planned) raise(status.error());
  return plan;
}

std::vector<std::string> measured(const std::string& actual, const std::string& golden,
                                  const nb::dict& given, const std::vector<std::string>& words,
                                  const std::string& digest,
                                  const std::vector<std::uint64_t>& numbers) {
  Lines lines(digest, words, numbers);
  check(measure(actual, golden, given, lines));
  return std::move(lines.lines);
}

LayerRun report(const std::string& path, const std::string& actual, const std::string& golden,
                const nb::dict& given, const std::vector<std::string>& words) {
  const std::vector<std::string> paths{path};
  const Parts parts = value(Parts::open(paths));
  MeasuredLayers share = value(read_measured_layers(parts, words));
  return judged(actual, golden, given,
                [&](LayerSets& sets, const LayerOptions& options) -> Result<LayerReport> {
                  return judge_measured(sets.two.actual, sets.two.golden, sets.healthy(), nullptr,
                                        options, share);
                });
}

}  // namespace

void bind_layer_batch(nb::module_& module) {
  module.def("batch_layers_plan", plan);
  module.def("batch_layers_measure", measured);
  module.def("batch_layers_report", report);
}

}  // namespace btf::python
