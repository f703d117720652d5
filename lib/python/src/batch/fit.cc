// Layers and tensors that workers measure, of which this process says what fits.
#include "python/src/fit.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/part.h"
#include "btf/try.h"
#include "python/src/batch/batch.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

using Texts = std::vector<std::string>;

// Each item as a line of a part.
struct Lines final : FitShare {
  Lines(std::string of_plan, const Texts& deciding, const std::vector<std::uint64_t>& numbers)
      : digest(std::move(of_plan)), words(deciding) {
    for (const std::uint64_t number : numbers) own[number] = {};
  }

  Status plan(std::span<const PlannedFit> items) override {
    BTF_TRY(check_plan(plan_digest("fit", words, 1, plan_of(items)), digest));
    for (auto& [number, name] : own) name = items[number].name;
    last = std::chrono::steady_clock::now();
    return {};
  }
  bool is_own(std::uint64_t number) const override { return own.contains(number); }
  const MeasuredFit* known(std::uint64_t) const override { return nullptr; }
  void take(std::uint64_t number, const MeasuredFit& item) override {
    PartLine line =
        part_line(FitPartItem{.number = number, .name = own.at(number), .measured = item});
    for (const auto& [path, state] : item.files) line.files.push_back(state);
    const auto now = std::chrono::steady_clock::now();
    line.seconds = std::chrono::duration<double>(now - std::exchange(last, now)).count();
    lines.push_back(text(line));
  }

  std::string digest;
  const Texts& words;
  std::unordered_map<std::uint64_t, std::string> own;  // names, by number
  std::chrono::steady_clock::time_point last;
  Texts lines;
};

Status measure(const Texts& dumps, FitOptions options, FitShare& share) {
  return run(1, kLong, [&](const Execution& execution) -> Status {
    options.execution = execution;
    BTF_ASSIGN(std::vector<TensorSet> sets, open_dumps(dumps));
    return measure_fit(sets, options, share);
  });
}

// `words`: all that decides, as the command has it.
BatchPlan plan(const Texts& dumps, const Texts& dtypes, const std::optional<std::string>& graph,
               const Texts& words) {
  BatchPlan plan{.command = "fit", .operands = dumps};
  PlanOnly<PlannedFit, MeasuredFit> share(plan, words);
  const Status status = measure(dumps, fit_options(dtypes, graph), share);
  if (!status && !share.planned) raise(status.error());
  return plan;
}

Texts measured(const Texts& dumps, const Texts& dtypes, const std::optional<std::string>& graph,
               const Texts& words, const std::string& digest,
               const std::vector<std::uint64_t>& numbers) {
  Lines lines(digest, words, numbers);
  check(measure(dumps, fit_options(dtypes, graph), lines));
  return std::move(lines.lines);
}

FitRun report(const std::string& path, const Texts& dumps, const Texts& dtypes,
              const std::optional<std::string>& graph, const Texts& words) {
  const Texts paths{path};
  const Parts parts = value(Parts::open(paths));
  MeasuredFits share = value(read_measured_fit(parts, words));
  FitOptions options = fit_options(dtypes, graph);
  return value(run(0, kLong, [&](const Execution& execution) -> Result<FitRun> {
    options.execution = execution;
    BTF_ASSIGN(std::vector<TensorSet> sets, open_dumps(dumps));
    BTF_ASSIGN(FitReport found, judge_measured(sets, options, share));
    return FitRun{std::move(found), newest_input(sets)};
  }));
}

}  // namespace

void bind_fit_batch(nb::module_& module) {
  module.def("batch_fit_plan", plan, nb::arg("dumps"), nb::arg("dtypes"), nb::arg("graph").none(),
             nb::arg("words"));
  module.def("batch_fit_measure", measured, nb::arg("dumps"), nb::arg("dtypes"),
             nb::arg("graph").none(), nb::arg("words"), nb::arg("digest"), nb::arg("numbers"));
  module.def("batch_fit_report", report, nb::arg("path"), nb::arg("dumps"), nb::arg("dtypes"),
             nb::arg("graph").none(), nb::arg("words"));
}

}  // namespace btf::python
