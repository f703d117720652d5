// The module btf._btf, and the tables of dtypes and layouts.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "python/src/support.h"

NB_MODULE(_btf, module) {
  btf::python::bind_tables(module);
  btf::python::bind_array(module);
  btf::python::bind_set(module);
  btf::python::bind_write(module);
  btf::python::bind_sparse(module);
  btf::python::bind_convert(module);
  btf::python::bind_diff(module);
  btf::python::bind_batch(module);
  btf::python::bind_layers(module);
  btf::python::bind_fit(module);
  btf::python::bind_validate(module);
}

namespace btf::python {
namespace {

namespace nb = nanobind;

std::optional<std::string> text(std::string_view name) {
  return name.empty() ? std::nullopt : std::optional(std::string(name));
}

// A layout applied to a shape.
struct Resolved {
  DType dtype{};
  Layout layout{};
  StridedLayout storage;
};

Resolved resolved(const std::string& layout, const Dims& dims, const std::string& dtype) {
  const DType type = value(parse_dtype(dtype));
  const Layout row = layout_named(layout);
  return {type, row, value(resolve(row, dims, type))};
}

// Converts numbers of elements to numbers of bytes; unset if an element is not a whole number of
// bytes.
std::optional<Dims> in_bytes(const Resolved& self, Dims numbers) {
  const DTypeInfo& row = info(self.dtype);
  if (row.half_byte()) return std::nullopt;
  for (std::uint64_t& number : numbers) number *= row.buffer_bytes();
  return numbers;
}

nb::tuple tuple_of(const Dims& numbers) { return nb::tuple(nb::cast(numbers)); }

nb::object tuple_of(const std::optional<Dims>& numbers) {
  return numbers ? nb::object(tuple_of(*numbers)) : nb::none();
}

std::uint64_t place(const Resolved& self, const std::vector<std::int64_t>& index) {
  const Dims& dims = self.storage.dims;
  if (index.size() != dims.size())
    throw nb::index_error(
        ("the index has " + std::to_string(index.size()) + " numbers, the shape " + dims_text(dims))
            .c_str());
  Dims inside;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto at = resolve_index(index[d], dims[d]);
    if (!at)
      throw nb::index_error((std::to_string(index[d]) + " is no index of dim " + std::to_string(d) +
                             " of size " + std::to_string(dims[d]))
                                .c_str());
    inside.push_back(*at);
  }
  return offset(self.storage, inside);
}

// Why TensorRT does not support it.
std::vector<std::string> objections(const Resolved& self) {
  std::vector<std::string> reasons;
  for (auto& reason : {tensorrt_objection(self.layout, self.dtype),
                       tensorrt_objection(self.layout, self.storage.dims)})
    if (reason) reasons.push_back(*reason);
  return reasons;
}

std::string repr(const Resolved& self) {
  return "<btf.Resolved " + std::string(spec(self.layout).name) + " " +
         std::string(info(self.dtype).name) + " " + dims_text(self.storage.dims) + " stored as " +
         dims_text(self.storage.storage_shape()) + ", " +
         std::to_string(storage_bytes(self.storage, self.dtype)) + " bytes>";
}

void bind_resolved(nb::module_& module) {
  using Split = std::optional<btf::Split>;
  const auto split = [](const Resolved& self) -> const Split& { return self.storage.split; };
  nb::class_<Resolved>(module, "Resolved", "A layout on a shape: see btf.resolve().")
      .def_prop_ro("layout", [](const Resolved& self) { return spec(self.layout).name; })
      .def_prop_ro("dtype", [](const Resolved& self) { return info(self.dtype).name; })
      .def_prop_ro(
          "shape", [](const Resolved& self) { return tuple_of(self.storage.dims); },
          "the logical dims")
      .def_prop_ro(
          "strides", [](const Resolved& self) { return tuple_of(self.storage.strides); },
          "elements, of each logical dim; of split_dim from block to block")
      .def_prop_ro(
          "byte_strides",
          [](const Resolved& self) { return tuple_of(in_bytes(self, self.storage.strides)); },
          "the same in bytes; None of 4-bit elements")
      .def_prop_ro(
          "stored_shape",
          [](const Resolved& self) { return tuple_of(self.storage.storage_shape()); },
          "of the stored array, outermost first, padding included")
      .def_prop_ro(
          "split_dim",
          [split](const Resolved& self) {
            return split(self) ? std::optional(split(self)->dim) : std::nullopt;
          },
          "the logical dim that stands in blocks of lanes; None: there is none")
      .def_prop_ro(
          "lanes", [split](const Resolved& self) { return split(self) ? split(self)->lanes : 1; },
          "elements of split_dim in a block")
      .def_prop_ro(
          "lane_stride",
          [split](const Resolved& self) { return split(self) ? split(self)->lane_stride : 1; },
          "elements, from one lane to the next")
      .def_prop_ro(
          "elements", [](const Resolved& self) { return self.storage.elements(); }, "logical ones")
      .def_prop_ro(
          "stored_elements", [](const Resolved& self) { return self.storage.storage_elements; },
          "padding included")
      .def_prop_ro("padded", [](const Resolved& self) { return self.storage.padded(); })
      .def_prop_ro(
          "nbytes", [](const Resolved& self) { return storage_bytes(self.storage, self.dtype); },
          "of the stored array")
      .def_prop_ro(
          "vector_strides",
          [](const Resolved& self) { return tuple_of(tensorrt_strides(self.storage)); },
          "as TensorRT's getTensorStrides(): of each logical dim, in vectors of components")
      .def_prop_ro(
          "vectorized_dim", [](const Resolved& self) { return self.storage.vectorized_dim; },
          "as TensorRT's getTensorVectorizedDim(); -1: none")
      .def_prop_ro(
          "components", [](const Resolved& self) { return self.storage.components; },
          "as TensorRT's getTensorComponentsPerElement()")
      .def_prop_ro("tensorrt_objections", objections,
                   "sentences on why TensorRT would not take dtype, layout and shape")
      .def("offset", place, nb::arg("index"),
           "Elements from the start of the memory to the element of a logical index; negative "
           "numbers count from the end. IndexError where it is not inside.")
      .def("__repr__", repr);
  module.def("resolve", resolved);
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
  bind_resolved(module);
  module.def("dtype_name", [](const std::string& name) {
    return std::string(info(value(parse_dtype(name))).name);
  });
  module.def("layout_name",
             [](const std::string& name) { return std::string(spec(layout_named(name)).name); });
}

}  // namespace btf::python
