// Is a file well-formed?
#include "btf/validate.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "btf/tensor_spec.h"
#include "python/src/bindings.h"
#include "python/src/raise.h"
#include "python/src/run.h"
#include "python/src/words.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

std::vector<Finding> findings(const std::string& path, const std::optional<std::string>& spec,
                              bool finite, unsigned jobs) {
  OpenOptions open;
  if (spec) open.spec = value(parse_tensor_spec(*spec));
  std::vector<Finding> found;
  check(run(jobs, kLong, [&](const Execution& execution) {
    return validate(path, [&](const Finding& finding) { found.push_back(finding); }, open,
                    execution, {.finite = finite});
  }));
  return found;
}

std::string told(const Finding& self) {
  return "<btf.Finding " + std::string(self.severity == Severity::error ? "error" : "warning") +
         " " + std::string(self.code) + ": " + python_words(self.message) + ">";
}

}  // namespace

void bind_validate(nb::module_& module) {
  nb::class_<Finding>(module, "Finding", "What is wrong or odd with a file.")
      .def_prop_ro(
          "error", [](const Finding& self) { return self.severity == Severity::error; },
          "True: the record, or the whole file, cannot be used")
      .def_prop_ro("code", [](const Finding& self) { return std::string(self.code); })
      .def_prop_ro("message", [](const Finding& self) { return python_words(self.message); })
      .def_ro("tensor", &Finding::tensor, "its number; None: the file as a whole")
      .def_ro("offset", &Finding::offset, "bytes from the start of the file")
      .def_ro("count", &Finding::count)
      .def_ro("index", &Finding::index)
      .def("__repr__", told);
  module.def("validate", findings);
}

}  // namespace btf::python
