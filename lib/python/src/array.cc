#include "python/src/array.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "btf/convert.h"
#include "btf/dlpack_abi.h"
#include "python/src/bindings.h"
#include "python/src/options.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

// DLPack's capsules: whoever takes the tensor renames its capsule.
template <typename Managed>
nb::object capsule(Managed* managed, const char* name) {
  PyObject* const made = PyCapsule_New(managed, name, [](PyObject* self) {
    for (const char* const own : {"dltensor", "dltensor_versioned"}) {
      if (PyCapsule_IsValid(self, own) == 0) continue;
      auto* const tensor = static_cast<Managed*>(PyCapsule_GetPointer(self, own));
      if (tensor->deleter != nullptr) tensor->deleter(tensor);
    }
  });
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

nb::object dlpack(const Array& array, bool versioned) {
  if (versioned)
    return capsule(value(to_dlpack_versioned(array.tensor, LaneForm::trailing_dim)),
                   "dltensor_versioned");
  return capsule(value(to_dlpack(array.tensor, LaneForm::trailing_dim)), "dltensor");
}

// The stored array as bytes; it keeps the array.
template <typename Byte>
nb::object memory_as(nb::handle_t<Array> self, const SharedTensor& tensor) {
  return nb::cast(nb::ndarray<nb::memview, Byte, nb::ndim<1>, nb::c_contig>(
      tensor.bytes.data(), {tensor.bytes.size()}, self));
}

nb::object memory(nb::handle_t<Array> self) {
  const SharedTensor& tensor = nb::cast<const Array&>(self).tensor;
  return tensor.read_only ? memory_as<const std::uint8_t>(self, tensor)
                          : memory_as<std::uint8_t>(self, tensor);
}

std::optional<Dims> strides(const Array& array) {
  const StridedLayout& storage = array.tensor.storage;
  return storage.split ? std::nullopt : std::optional(storage.strides);
}

using LossState = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t, double, double, std::uint64_t>;

LossState loss_state(const LossAccount& loss) {
  return {loss.elements, loss.overflowed, loss.nan_lost, loss.to_zero,  loss.inexact,
          loss.nan,      loss.max_abs,    loss.max_rel,  loss.sign_lost};
}

LossAccount loss_of(const LossState& state) { return std::make_from_tuple<LossAccount>(state); }

Array relayout(const Array& from, const nb::dict& given) {
  const CastOptions options = cast_options(given);
  const DType dtype = options.dtype.value_or(from.tensor.dtype);
  const Layout layout = options.layout.value_or(from.layout);
  Array to = unset_array(dtype, layout, value(resolve(layout, from.tensor.storage.dims, dtype)));
  to.loss = value(run(options.jobs, from.tensor.bytes.size(), [&](const Execution& execution) {
    return convert(from.tensor.view(), to.tensor.mutable_view(), options.policy, execution);
  }));
  return to;
}

// A copy of a stored array. Layouts by their codes, since two may have one name.
Array memory_of(const std::string& dtype, std::uint8_t layout, const Dims& dims, nb::bytes content,
                const LossAccount& loss) {
  const LayoutSpec* const row = find_layout(layout);
  if (row == nullptr) throw nb::value_error("no layout has this code");
  const DType type = value(parse_dtype(dtype));
  Array array = unset_array(type, row->layout, value(resolve(row->layout, dims, type)));
  if (array.tensor.bytes.size() != content.size())
    throw nb::value_error("the bytes are not those of such an array");
  std::memcpy(array.tensor.bytes.data(), content.data(), content.size());
  array.loss = loss;
  return array;
}

// A tensor in memory that Python describes, row by row, by the address of its first element, and
// the object that keeps it.
Array memory_at(std::uintptr_t address, const std::string& dtype, const Dims& dims, bool read_only,
                nb::object owner) {
  Array array{.tensor = {}, .layout = Layout::linear, .loss = {}};
  SharedTensor& tensor = array.tensor;
  tensor.dtype = value(parse_dtype(dtype));
  tensor.storage = value(resolve(Layout::linear, dims, tensor.dtype));
  tensor.bytes = {reinterpret_cast<std::byte*>(address),
                  storage_bytes(tensor.storage, tensor.dtype)};
  // The last copy may go on any thread.
  tensor.owner = std::shared_ptr<void>(owner.release().ptr(), [](void* kept) {
    const nb::gil_scoped_acquire hold;
    Py_DECREF(static_cast<PyObject*>(kept));
  });
  tensor.read_only = read_only;
  return array;
}

}  // namespace

Array unset_array(DType dtype, Layout layout, StridedLayout storage) {
  constexpr std::size_t kAlignment = 256;
  const std::uint64_t bytes = storage_bytes(storage, dtype);
  const std::uint64_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (whole < bytes) throw std::bad_alloc();
  void* const memory = std::aligned_alloc(kAlignment, whole == 0 ? kAlignment : whole);
  if (memory == nullptr) throw std::bad_alloc();
  return {.tensor = {.dtype = dtype,
                     .storage = std::move(storage),
                     .bytes = {static_cast<std::byte*>(memory), bytes},
                     .owner = {memory, std::free}},
          .layout = layout,
          .loss = {}};
}

void bind_array(nb::module_& module) {
  nb::class_<LossAccount>(module, "Loss", "What a cast lost, in elements.")
      .def_ro("elements", &LossAccount::elements)
      .def_ro("inexact", &LossAccount::inexact, "changed in another way than those below")
      .def_ro("overflowed", &LossAccount::overflowed, "beyond the range of the dtype")
      .def_ro("nan_lost", &LossAccount::nan_lost, "NaN, which the dtype lacks")
      .def_ro("to_zero", &LossAccount::to_zero, "became zero")
      .def_ro("max_abs", &LossAccount::max_abs, "the largest |result - source|")
      .def_ro("max_rel", &LossAccount::max_rel, "the largest |result - source| / |source|")
      .def_ro("nan", &LossAccount::nan, "NaN that were cast, lost or kept; of a copy of bits none")
      .def_ro("sign_lost", &LossAccount::sign_lost,
              "those of inexact that were below 0, where the dtype has no signs")
      .def_prop_ro("changed", &LossAccount::changed, "elements whose value is another one now")
      .def("__repr__",
           [](const LossAccount& self) {
             return "<btf.Loss " + std::to_string(self.changed()) + " of " +
                    std::to_string(self.elements) + " elements>";
           })
      .def("__getstate__", loss_state)
      .def("__setstate__", [](LossAccount& self, const LossState& state) {
        new (&self) LossAccount(loss_of(state));
      });

  nb::class_<Array>(module, "Memory")
      .def_prop_ro("dtype", [](const Array& self) { return info(self.tensor.dtype).name; })
      .def_prop_ro("layout", [](const Array& self) { return spec(self.layout).name; })
      .def_prop_ro("layout_code", [](const Array& self) { return spec(self.layout).code(); })
      .def_prop_ro("dims", [](const Array& self) { return self.tensor.storage.dims; })
      .def_prop_ro("strides", strides)
      .def_prop_ro("stored_dims",
                   [](const Array& self) { return self.tensor.storage.storage_shape(); })
      .def_prop_ro("nbytes", [](const Array& self) { return self.tensor.bytes.size(); })
      .def_ro("loss", &Array::loss)
      .def("memory", memory)
      .def("relayout", relayout)
      .def("dlpack", dlpack);
  module.def("memory_of", memory_of);
  module.def("memory_at", memory_at);
}

}  // namespace btf::python
