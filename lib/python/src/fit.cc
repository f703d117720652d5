// Which layers fit a narrow type?
#include "python/src/fit.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/report.h"
#include "btf/tensor_set.h"
#include "btf/try.h"
#include "python/src/bindings.h"
#include "python/src/diff.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

FitRun fit_dumps(const std::vector<std::string>& dumps, const std::vector<std::string>& dtypes,
                 const std::optional<std::string>& graph, unsigned jobs) {
  FitOptions options = fit_options(dtypes, graph);
  return value(run(jobs, kLong, [&](const Execution& execution) -> Result<FitRun> {
    options.execution = execution;
    BTF_ASSIGN(std::vector<TensorSet> sets, open_dumps(dumps));
    BTF_ASSIGN(FitReport report, fit(sets, options));
    return FitRun{std::move(report), newest_input(sets)};
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

// The list of the type that is named, or of the only one of that kind.
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

}  // namespace

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

std::optional<std::int64_t> newest_input(const std::vector<TensorSet>& dumps) {
  PageOrigin origin;
  for (const TensorSet& set : dumps) origin.add_inputs(set);
  return origin.newest_input;
}

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

}  // namespace btf::python
