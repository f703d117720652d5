// The tables of dtypes and layouts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "python/src/bindings.h"
#include "python/src/raise.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

std::optional<std::string> text(std::string_view name) {
  return name.empty() ? std::nullopt : std::optional(std::string(name));
}

}  // namespace

void bind_tables(nb::module_& module) {
  nb::class_<DTypeInfo>(module, "DType", "A row of the table of dtypes.")
      .def_prop_ro("name", [](const DTypeInfo& self) { return self.name; })
      .def_prop_ro("bits", [](const DTypeInfo& self) { return self.bits; })
      .def_prop_ro("code", &DTypeInfo::code, "in BTF")
      .def_prop_ro(
          "numpy", [](const DTypeInfo& self) { return text(self.npy); },
          "type string without the byte order; None: NumPy has none of its own")
      .def_prop_ro("torch", [](const DTypeInfo& self) { return text(self.torch); })
      .def_prop_ro("safetensors", [](const DTypeInfo& self) { return text(self.safetensors); })
      .def_prop_ro("tensorrt", [](const DTypeInfo& self) { return text(self.tensorrt); })
      .def("__repr__",
           [](const DTypeInfo& self) { return "<btf.DType " + std::string(self.name) + ">"; });
  module.def("dtypes", [] {
    nb::list rows;
    for (const DTypeInfo& row : dtypes()) rows.append(nb::cast(row, nb::rv_policy::copy));
    return rows;
  });
  module.def("layouts", [] {
    std::vector<std::string> names;
    for (const LayoutSpec& row : layouts())
      names.push_back(std::string(row.name) + (row.dla == "xavier" ? ":xavier" : ""));
    return names;
  });
  module.def("dtype_name", [](const std::string& name) {
    return std::string(info(value(parse_dtype(name))).name);
  });
  module.def("layout_name", [](const std::string& name) {
    return std::string(spec(value(parse_layout(name))).name);
  });
}

}  // namespace btf::python
