// fit(), and runs of it that the workers of an executor share.
#include "btf/fit.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/part.h"
#include "btf/report.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "python/src/batch.h"
#include "python/src/diff.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

FitOptions fit_options(const std::vector<std::string>& dtypes,
                       const std::optional<std::string>& graph);

// The report, and the time of the newest dump (PageOrigin::newest_input).
struct FitRun {
  FitReport report;
  std::optional<std::int64_t> newest_input{};
};
Result<std::optional<std::int64_t>> newest_input(const std::vector<TensorSet>& dumps);

Result<std::vector<TensorSet>> open_dumps(const std::vector<std::string>& paths);

namespace nb = nanobind;

FitRun fit_dumps(const std::vector<std::string>& dumps, const std::vector<std::string>& dtypes,
                 const std::optional<std::string>& graph, unsigned jobs) {
  FitOptions options = fit_options(dtypes, graph);
  return value(run(jobs, kLong, [&](const Execution& execution) -> Result<FitRun> {
    options.execution = execution;
    BTF_ASSIGN(std::vector<TensorSet> sets, open_dumps(dumps));
    BTF_ASSIGN(FitReport report, fit(sets, options));
    BTF_ASSIGN(const auto newest, newest_input(sets));
    return FitRun{std::move(report), newest};
  }));
}

FitListForm form_of(std::string_view name) {
  std::string names;
  for (const Named<FitListForm>& form : fit_list_forms()) {
    if (form.name == name) return form.value;
    names += (names.empty() ? "" : ", ") + std::string(form.name);
  }
  throw nb::value_error(
      ("a list is one of " + names + ", not '" + std::string(name) + "'").c_str());
}

// The list for a named type, or for the only type of that kind.
template <typename Type>
std::string list_of(const std::vector<Type>& types, const std::optional<std::string>& dtype,
                    FitListForm form) {
  const std::optional<DType> wanted =
      dtype ? std::optional(value(parse_dtype(*dtype))) : std::nullopt;
  if (!wanted && types.size() > 1)
    throw nb::value_error("a list is of one dtype, and several were judged: name it");
  const auto found = std::ranges::find_if(
      types, [&](const Type& type) { return !wanted || type.dtype == *wanted; });
  if (found == types.end()) throw nb::value_error("no dtype that such a list is of was judged");
  return value(fit_list(*found, form));
}

std::string list(const FitRun& self, const std::string& form,
                 const std::optional<std::string>& dtype) {
  const FitListForm wanted = form_of(form);
  return lists_scales(wanted) ? list_of(self.report.scaled, dtype, wanted)
                              : list_of(self.report.types, dtype, wanted);
}

FitOptions fit_options(const std::vector<std::string>& dtypes,
                       const std::optional<std::string>& graph) {
  FitOptions options{.dtypes = {}, .graph = graph};
  for (const std::string& dtype : dtypes) options.dtypes.push_back(value(parse_dtype(dtype)));
  return options;
}

Result<std::vector<TensorSet>> open_dumps(const std::vector<std::string>& paths) {
  std::vector<TensorSet> sets;
  for (const std::string& path : paths) {
    BTF_ASSIGN(TensorSet set, TensorSet::open(path));
    if (set.member_count() == 0) return std::unexpected(no_files(set));
    sets.push_back(std::move(set));
  }
  return sets;
}

Result<std::optional<std::int64_t>> newest_input(const std::vector<TensorSet>& dumps) {
  PageOrigin origin;
  for (const TensorSet& set : dumps) BTF_TRY(origin.add_inputs(set));
  return origin.newest_input;
}

}  // namespace

void bind_fit(nb::module_& module) {
  nb::class_<FitRun>(module, "FitRun")
      .def_prop_ro(
          "fits",
          [](const FitRun& self) { return self.report.troubles.empty() && fits(self.report); })
      .def("text",
           [](const FitRun& self, std::size_t columns, bool all) {
             return text(self.report, {.all = all, .columns = columns, .color = false});
           })
      .def("json", [](const FitRun& self) { return json(self.report); })
      .def("html",
           [](const FitRun& self, const std::string& call, const std::string& date) {
             return html(self.report, origin_of(call, self.newest_input, date));
           })
      .def("list", list, nb::arg("form"), nb::arg("dtype").none());
  module.def("fit", fit_dumps, nb::arg("dumps"), nb::arg("dtypes"), nb::arg("graph").none(),
             nb::arg("jobs"));
}

namespace {

// --- Layers and tensors that the workers of an executor measure, and this process judges ---

using Texts = std::vector<std::string>;

// Writes each item as a line of a part.
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

// `words` are the options that affect results, as the command writes them.
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
    BTF_ASSIGN(const auto newest, newest_input(sets));
    return FitRun{std::move(found), newest};
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
