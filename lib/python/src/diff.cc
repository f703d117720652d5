// Comparisons of files and of arrays, with the reports of btftool.
#include "btf/diff.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/report.h"
#include "btf/set_diff.h"
#include "btf/try.h"
#include "python/src/array.h"
#include "python/src/diff.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

constexpr double kLargest = std::numeric_limits<double>::max();

// A number within bounds; the error for any other number names them.
double limit(const std::string& name, nb::handle argument, double least, double most) {
  const double number = nb::cast<double>(argument);
  if (number >= least && number <= most) return number;
  raise(fail(ErrorCode::invalid_argument, name + " is from " + number_text(least) + " to " +
                                              number_text(most) + ", not " + number_text(number))
            .error());
}

bool take_tolerance(const std::string& name, nb::handle argument, Tolerance& tolerance) {
  if (name == "rtol")
    tolerance.rtol = limit(name, argument, 0, kLargest);
  else if (name == "atol")
    tolerance.atol = limit(name, argument, 0, kLargest);
  else if (name == "ulp")
    tolerance.ulp = nb::cast<std::uint64_t>(argument);
  else if (name == "close")
    tolerance.close = nb::cast<bool>(argument);
  else if (name == "close_as")
    tolerance.close_as = value(parse_dtype(nb::cast<std::string>(argument)));
  else if (name == "equal_nan")
    tolerance.equal_nan = nb::cast<bool>(argument);
  else
    return false;
  return true;
}

bool take_gate(const std::string& name, nb::handle argument, Gates& gates) {
  for (const FigureInfo* const figure : figure_gates()) {
    std::string own(figure->name);
    std::ranges::replace(own, '-', '_');
    if (own != name) continue;
    gates.*figure->limit = limit(name, argument, figure->least_limit(), figure->most_limit());
    return true;
  }
  if (name == "max_mismatch")
    gates.max_mismatch = MismatchLimit{limit(name, argument, 0, kLargest), false};
  else if (name == "max_mismatch_percent")
    gates.max_mismatch = MismatchLimit{limit(name, argument, 0, 100), true};
  else if (name == "top_k")
    gates.top_k = nb::cast<std::uint64_t>(argument);
  else
    return false;
  return true;
}

bool take_criterion(const std::string& name, nb::handle argument, DiffOptions& options) {
  return take_tolerance(name, argument, options.tolerance) ||
         take_gate(name, argument, options.gates);
}

}  // namespace

SetDiffOptions diff_options(const nb::dict& given) {
  SetDiffOptions options;
  options.each.go_on = true;
  options.each.show = 3;  // as the command
  for (const auto& [key, argument] : given) {
    if (argument.is_none()) continue;
    const auto name = nb::cast<std::string>(key);
    if (take_criterion(name, argument, options.each)) continue;
    if (name == "strict")
      options.each.strict = nb::cast<bool>(argument);
    else if (name == "hints")
      options.each.hints = nb::cast<bool>(argument);
    else if (name == "figures")
      options.each.figures = nb::cast<bool>(argument);
    else if (name == "heatmap")
      options.each.heatmap =
          nb::cast<bool>(argument) ? std::optional(HeatmapRequest()) : std::nullopt;
    else if (name == "show")
      options.each.show = nb::cast<std::uint64_t>(argument);
    else if (name == "dequantize")
      options.each.dequantize = nb::cast<bool>(argument);
    else if (name == "block")
      options.each.scale_blocks = sizes_of(argument);
    else if (name == "codes")
      options.each.codes = nb::cast<bool>(argument);
    else if (name == "jobs")
      options.each.execution.jobs = nb::cast<unsigned>(argument);
    else if (name == "tensor")
      options.tensors = nb::cast<std::string>(argument);
    else if (name == "pair")
      options.pairs = nb::cast<std::vector<std::string>>(argument);
    else if (name == "actual_spec")
      options.actual.specs.push_back({"*", nb::cast<std::string>(argument), "actual_spec"});
    else if (name == "golden_spec")
      options.golden.specs.push_back({"*", nb::cast<std::string>(argument), "golden_spec"});
    else
      throw nb::type_error(("diff() has no option '" + name + "'").c_str());
  }
  return options;
}

namespace {

// Options are named only in errors and causes.
TensorDiff in_python_words(TensorDiff diff) {
  if (diff.error) diff.error->message = python_words(std::move(diff.error->message));
  for (Hint& hint : diff.hints) hint.evidence = python_words(std::move(hint.evidence));
  return diff;
}

}  // namespace

std::vector<std::string> others_of(const TwoSets& sets) {
  std::vector<std::string> paths;
  for (const TensorSet* const set : {&sets.actual, &sets.golden})
    for (const SetMember& other : set->others()) paths.push_back(other.path);
  return paths;
}

Result<std::optional<std::int64_t>> newest_input(const TwoSets& sets) {
  PageOrigin origin;
  BTF_TRY(origin.add_inputs(sets.actual));
  BTF_TRY(origin.add_inputs(sets.golden));
  return origin.newest_input;
}

PageOrigin origin_of(const std::string& call, std::optional<std::int64_t> newest,
                     const std::string& date) {
  PageOrigin origin{
      .program = "btf " BTF_VERSION " for Python", .command = call, .newest_input = newest};
  origin.take_date(date);
  return origin;
}

void Keep::take(const TensorDiff& diff) { result.take(in_python_words(diff)); }

void Keep::end(const FilePair& pair, const PairOutcome& outcome) {
  PairOutcome renamed = outcome;
  renamed.error = python_words(std::move(renamed.error));
  result.end(pair, renamed);
}

namespace {

Comparison diff_paths(const std::string& actual, const std::string& golden, const nb::dict& given) {
  SetDiffOptions options = diff_options(given);
  Comparison comparison{.result = {}, .criteria = options.each};
  comparison.result.actual = actual;
  comparison.result.golden = golden;
  const unsigned jobs = options.each.execution.jobs;
  // The amount to read is only known once the sets are open, so assume that it is large.
  value(run(jobs, kLong, [&](const Execution& execution) -> Result<bool> {
    options.each.execution = execution;
    auto sets = open_sets(actual, golden, options);
    if (!sets) return std::unexpected(sets.error());
    comparison.result.others = others_of(*sets);
    Keep keep(comparison.result);
    auto same = diff(sets->actual, sets->golden, options, keep);
    BTF_ASSIGN(comparison.newest_input, newest_input(*sets));
    return same;
  }));
  return comparison;
}

Comparison diff_arrays(const Array& actual, const Array& golden, const std::string& name,
                       const nb::dict& given) {
  SetDiffOptions options = diff_options(given);
  Comparison comparison{.result = {}, .criteria = options.each};
  comparison.result.actual = "actual";
  comparison.result.golden = "golden";
  const std::uint64_t bytes = actual.tensor.bytes.size() + golden.tensor.bytes.size();
  TensorDiff found = value(run(options.each.execution.jobs, bytes, [&](const Execution& execution) {
    options.each.execution = execution;
    return diff(actual.tensor.view(), golden.tensor.view(), options.each);
  }));
  const bool same = found.result == DiffResult::same;
  if (found.actual) found.actual->name = name;
  if (found.golden) found.golden->name = name;
  SetDiffResult::Pair pair;
  pair.files = {.name = "actual", .actual = "actual", .golden = "golden"};
  pair.outcome.result = same ? PairResult::same : PairResult::different;
  pair.tensors.push_back(in_python_words(std::move(found)));
  comparison.result.pairs.push_back(std::move(pair));
  return comparison;
}

// Reads a saved report. `path` is used in errors, and may be empty.
SetDiffResult saved(const std::string& json, const std::string& path) {
  auto read = read_diff_report(json);
  if (!read) raise(path.empty() ? read.error() : read.error().in_file(path));
  return *std::move(read);
}

Comparison judged_again(const SetDiffResult& report, const nb::dict& given,
                        std::optional<std::int64_t> newest = {}) {
  DiffOptions criteria;
  for (const auto& [key, argument] : given) {
    const auto name = nb::cast<std::string>(key);
    if (!argument.is_none() && !take_criterion(name, argument, criteria))
      throw nb::type_error(("rejudge() has no criterion '" + name + "'").c_str());
  }
  Comparison judged{.result = {}, .criteria = std::move(criteria), .newest_input = newest};
  judged.result.actual = report.actual;
  judged.result.golden = report.golden;
  judged.result.directories = report.directories;
  judged.result.others = report.others;
  Keep keep(judged.result);
  check(rejudge(report, {.tolerance = judged.criteria.tolerance, .gates = judged.criteria.gates},
                keep));
  return judged;
}

// The whole comparison as JSON, from which from_state() restores it together with the options of
// diff().
std::string state(const Comparison& comparison) {
  ReportOptions options;
  options.criteria = comparison.criteria;
  return report_text(ReportFormat::json, comparison.result, options);
}

// In JSON, 0 means that a limit was not given.
void forget_zeros(const Tolerance& given, Tolerance& used) {
  if (given.close) return;
  if (!given.rtol && used.rtol == 0) used.rtol.reset();
  if (!given.atol && used.atol == 0) used.atol.reset();
}

Comparison from_state(const std::string& json, const nb::dict& given,
                      std::optional<std::int64_t> newest) {
  Comparison comparison{
      .result = saved(json, ""), .criteria = diff_options(given).each, .newest_input = newest};
  for (SetDiffResult::Pair& pair : comparison.result.pairs)
    for (TensorDiff& diff : pair.tensors)
      forget_zeros(comparison.criteria.tolerance, diff.tolerance);
  return comparison;
}

std::string report(const Comparison& comparison, ReportFormat format, std::size_t columns, bool all,
                   PageOrigin origin = {}) {
  ReportOptions options;
  options.origin = std::move(origin);
  options.criteria = comparison.criteria;
  options.text = {.all = all, .columns = columns, .color = false};
  options.member_names = python_words;
  return report_text(format, comparison.result, options);
}

DiffTotals totals_of(const SetDiffResult& result) {
  DiffTotals totals{.directories = result.directories};
  for (const SetDiffResult::Pair& pair : result.pairs) {
    totals.begin();
    for (const TensorDiff& diff : pair.tensors) totals.take(diff);
    totals.end(pair.files, pair.outcome);
  }
  return totals;
}

bool is_same(const Comparison& comparison) {
  return totals_of(comparison.result).result() == PairResult::same;
}

bool has_trouble(const Comparison& comparison) { return totals_of(comparison.result).trouble(); }

}  // namespace

void bind_diff(nb::module_& module) {
  nb::class_<Comparison>(module, "Comparison")
      .def_prop_ro("same", is_same)
      .def_prop_ro("trouble", has_trouble)
      .def("state", state)
      .def("rejudge",
           [](const Comparison& self, const nb::dict& given) {
             return judged_again(self.result, given, self.newest_input);
           })
      .def("text", [](const Comparison& self, std::size_t columns,
                      bool all) { return report(self, ReportFormat::text, columns, all); })
      .def("json",
           [](const Comparison& self) { return report(self, ReportFormat::json, 80, false); })
      .def("html",
           [](const Comparison& self, const std::string& call, const std::string& date) {
             return report(self, ReportFormat::html, 80, false,
                           origin_of(call, self.newest_input, date));
           })
      .def_ro("newest_input", &Comparison::newest_input)
      .def("junit",
           [](const Comparison& self) { return report(self, ReportFormat::junit, 80, false); });
  module.def("diff_paths", diff_paths);
  module.def("diff_arrays", diff_arrays);
  module.def("diff_from_state", from_state);
  module.def("rejudge",
             [](const std::string& json, const std::string& path, const nb::dict& given) {
               return judged_again(saved(json, path), given);
             });
}

}  // namespace btf::python
