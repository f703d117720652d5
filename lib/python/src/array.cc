// Dense arrays and sparse tensors in memory, and their exchange by DLPack.
#include "python/src/array.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/dlpack_abi.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

// DLPack's capsules. The library that takes the tensor renames the capsule.
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

// The stored array as bytes, which keep the array alive.
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

// Copies a stored array. Layouts are passed as codes, since two may have the same name.
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

// A row-major tensor in memory, given by the address of its first element and the object that owns
// it.
Array memory_at(std::uintptr_t address, const std::string& dtype, const Dims& dims, bool read_only,
                nb::object owner) {
  Array array{.tensor = {}, .layout = Layout::linear, .loss = {}};
  SharedTensor& tensor = array.tensor;
  tensor.dtype = value(parse_dtype(dtype));
  tensor.storage = value(resolve(Layout::linear, dims, tensor.dtype));
  tensor.bytes = {reinterpret_cast<std::byte*>(address),
                  storage_bytes(tensor.storage, tensor.dtype)};
  // The last copy may be destroyed on any thread.
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

namespace {

// --- Sparse tensors from their entries. They are written to a BTF file in memory, which is then
// converted, so that they are checked as files are. ---

// A sparse tensor in memory: entries in any order, as btf/_sparse.py has them.
struct Entries {
  DType dtype{};
  Dims dims;
  std::uint64_t nnz = 0;
  nb::bytes indices;
  nb::bytes values;
};

// A BTF file in memory (docs/format.md).
class Image {
 public:
  void word(std::uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8)
      bytes_.push_back(static_cast<std::byte>(number >> shift & 0xff));
  }
  void header(DType dtype, Layout layout, const Dims& dims) {
    word(dims.size());
    word(info(dtype).code() | std::uint64_t{spec(layout).code()} << 8);
    for (const std::uint64_t dim : dims) word(dim);
  }
  void append(const void* data, std::size_t size) {
    const auto* const begin = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), begin, begin + size);
  }
  void pad() { bytes_.resize((bytes_.size() + 7) / 8 * 8); }
  // Stores the current position as the offset of record `index`.
  void mark(std::size_t index) {
    const std::uint64_t at = bytes_.size();
    for (unsigned i = 0; i < 8; ++i)
      bytes_[8 + 8 * index + i] = static_cast<std::byte>(at >> (8 * i) & 0xff);
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

Image image_of(const nb::list& tensors) {
  Image image;
  image.word(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) image.word(0);
  std::size_t index = 0;
  for (const nb::handle tensor : tensors) {
    image.mark(index++);
    if (nb::isinstance<Array>(tensor)) {
      const Array& array = nb::cast<const Array&>(tensor);
      image.header(array.tensor.dtype, array.layout, array.tensor.storage.dims);
      image.append(array.tensor.bytes.data(), array.tensor.bytes.size());
    } else {
      const Entries& entries = nb::cast<const Entries&>(tensor);
      image.header(entries.dtype, Layout::coo, entries.dims);
      image.word(entries.nnz);
      image.word(entries.dims.size());
      image.append(entries.indices.data(), entries.indices.size());
      image.word(entries.nnz);
      image.append(entries.values.data(), entries.values.size());
    }
    image.pad();
  }
  return image;
}

// Does what save() does, for arrays some of which are sparse. Their entries are written in
// canonical order.
std::uint64_t save_sparse(const std::string& path, const nb::list& tensors,
                          const std::vector<std::string>& names,
                          const std::optional<std::string>& format, bool sync,
                          const nb::dict& given) {
  const CastOptions cast = cast_options(given);
  ConvertOptions options;
  options.dtype = cast.dtype;
  options.layout = cast.layout;
  options.policy = cast.policy;
  options.duplicates = cast.duplicates;
  options.format = format.value_or("");
  options.sync = sync;
  // Other formats hold no names, as with save().
  if (format_has(value(output_format(path, options)), kNamed)) options.names = names;
  const Image image = image_of(tensors);
  return value(run(
      cast.jobs, image.bytes().size(), [&](const Execution& execution) -> Result<std::uint64_t> {
        options.execution = execution;
        BTF_ASSIGN(const TensorFile file,
                   TensorFile::open(std::make_unique<MemorySource>(image.bytes()), "arrays.btf"));
        return convert(file, path, options);
      }));
}

}  // namespace

void bind_sparse(nb::module_& module) {
  nb::class_<Entries>(module, "Entries")
      .def("__init__", [](Entries* self, const std::string& dtype, const Dims& dims,
                          std::uint64_t nnz, const nb::bytes& indices, const nb::bytes& values) {
        new (self) Entries{value(parse_dtype(dtype)), dims, nnz, indices, values};
      });
  module.def("save_sparse", save_sparse);
}

}  // namespace btf::python
