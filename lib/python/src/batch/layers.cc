// Layers that workers measure and this process judges.
#include "python/src/layers.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/layers.h"
#include "btf/part.h"
#include "btf/try.h"
#include "python/src/batch/batch.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

// Each pair as a line of a part.
struct Lines final : LayerShare {
  Lines(std::string of_plan, const std::vector<std::string>& deciding,
        const std::vector<std::uint64_t>& numbers)
      : digest(std::move(of_plan)), words(deciding) {
    for (const std::uint64_t number : numbers) own[number] = {};
  }

  Status plan(std::span<const PlannedLayer> layers) override {
    BTF_TRY(check_plan(plan_digest("layers", words, 1, plan_of(layers)), digest));
    for (auto& [number, pair] : own)
      pair = {layers[number], FileState::of(layers[number].actual_path),
              FileState::of(layers[number].golden_path)};
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

// `words`: all that decides, as the command has it.
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
