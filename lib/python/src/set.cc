// Sets of tensors that are read on demand, files written from arrays, and validate().
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/inspect.h"
#include "btf/read.h"
#include "btf/tensor_set.h"
#include "btf/tensor_spec.h"
#include "btf/try.h"
#include "btf/validate.h"
#include "btf/write.h"
#include "formats/io/byte_source.h"
#include "python/src/array.h"
#include "python/src/support.h"

namespace btf::python {
namespace {

// A set and the lock that its users must hold, since a set may be used by one thread at a time.
// Take it without the GIL.
struct OpenSet {
  explicit OpenSet(TensorSet all) : set(std::move(all)) {}

  TensorSet set;
  std::mutex mutex;
};

namespace nb = nanobind;

// A tensor of a set. Its elements are read on demand.
struct LazyTensor {
  std::shared_ptr<OpenSet> set;
  SetTensor place;
  TensorInfo info;
  std::string format;
  bool plain = false;
};

// Returns true for a short tensor whose bytes in the file are those in memory, in row-major order.
bool stands_plainly(const TensorInfo& tensor) {
  constexpr std::uint64_t kShort = 1U << 20;  // more is read faster by those who can share the work
  if (!tensor.known() || !tensor.storage || tensor.data_bytes > kShort || tensor.unpacked)
    return false;
  const DTypeInfo& dtype = info(*tensor.dtype);
  const StridedLayout& storage = *tensor.storage;
  if (dtype.half_byte() || spec(*tensor.layout).shuffled() || storage.split || storage.padded() ||
      tensor.data_bytes != storage_bytes(storage, *tensor.dtype))
    return false;
  std::uint64_t stride = 1;
  for (std::size_t d = storage.dims.size(); d-- > 0; stride *= storage.dims[d])
    if (storage.dims[d] != 1 && storage.strides[d] != stride) return false;
  return true;
}

Result<std::shared_ptr<OpenSet>> open_set(const std::vector<std::string>& paths,
                                          const std::optional<std::string>& spec,
                                          const std::optional<Layout>& layout_in) {
  OpenOptions options;
  if (spec) {
    BTF_ASSIGN(options.spec, parse_tensor_spec(*spec));
  }
  options.layout_in = layout_in;
  BTF_ASSIGN(TensorSet set, TensorSet::open(paths, options));
  // A file that does not exist or cannot be read is an error at once.
  if (set.member_count() == 0) return std::unexpected(no_files(set));
  for (std::uint64_t i = 0; i < paths.size() && set.member_count() == paths.size(); ++i) {
    BTF_TRY(set.file(i));
  }
  return std::make_shared<OpenSet>(std::move(set));
}

// Calls `work` while holding the set's lock.
template <typename Work>
auto with_set(OpenSet& open, unsigned jobs, std::uint64_t bytes, Work&& work) {
  return value(run(jobs, bytes, [&](const Execution& execution) {
    const std::lock_guard lock(open.mutex);
    return work(open.set, execution);
  }));
}

LazyTensor tensor_of(const std::shared_ptr<OpenSet>& open, std::uint64_t number) {
  return with_set(*open, 1, 0, [&](const TensorSet& set, const Execution&) -> Result<LazyTensor> {
    BTF_ASSIGN(const SetTensor place, set.tensor(number));
    BTF_ASSIGN(const auto file, set.file(place.member));
    BTF_ASSIGN(TensorInfo info, file->tensor(place.index));
    const bool plain = stands_plainly(info);
    return LazyTensor{open, place, std::move(info), std::string(file->format()), plain};
  });
}

std::vector<std::string> names_of(const std::shared_ptr<OpenSet>& open) {
  return with_set(*open, 1, kLong,
                  [](const TensorSet& set, const Execution&) -> Result<std::vector<std::string>> {
                    std::vector<std::string> names;
                    for (std::uint64_t member = 0; member < set.member_count(); ++member) {
                      BTF_ASSIGN(const auto file, set.file(member));
                      for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
                        BTF_ASSIGN(std::string name, file->name(i));
                        names.push_back(std::move(name));
                      }
                    }
                    return names;
                  });
}

// The elements of a plain tensor.
Status read_plain(const TensorSet& set, const LazyTensor& tensor, std::span<std::byte> memory) {
  BTF_ASSIGN(const auto file, set.file(tensor.place.member));
  const auto about = [&](const Status& status) -> Status {
    if (status) return {};
    return std::unexpected(file->about(tensor.place.index, status.error()));
  };
  BTF_TRY(about(file->check_overlap(tensor.info)));
  BTF_ASSIGN(const ByteSource* const source, file->elements(tensor.place.index));
  BTF_TRY(about(source->read_at(tensor.info.data_offset, memory)));
  return about(file->check_unchanged());
}

// The bytes of a plain tensor as a bytearray; None for all other tensors.
nb::object content(const LazyTensor& self) {
  if (!self.plain) return nb::none();
  const auto bytes = static_cast<Py_ssize_t>(self.info.data_bytes);
  nb::object memory = nb::steal(PyByteArray_FromStringAndSize(nullptr, bytes));
  if (!memory.is_valid()) throw nb::python_error();
  const std::span target(reinterpret_cast<std::byte*>(PyByteArray_AsString(memory.ptr())),
                         self.info.data_bytes);
  check(run(1, 0, [&](const Execution&) {
    const std::lock_guard lock(self.set->mutex);
    return read_plain(self.set->set, self, target);
  }));
  return memory;
}

// (begin, end, step) for each dim.
using Box = std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>>;

Array read(const LazyTensor& tensor, const std::optional<Box>& box, const nb::dict& given) {
  const CastOptions cast = cast_options(given);
  ReadOptions options{.region = {},
                      .dtype = cast.dtype,
                      .layout = cast.layout,
                      .policy = cast.policy,
                      .duplicates = cast.duplicates,
                      .execution = {}};
  if (box)
    for (const auto& [begin, end, step] : *box) options.region.push_back({begin, end, step});
  auto shape = read_shape(tensor.info, options);
  if (!shape) raise(shape.error().of_tensor(tensor.place.index));
  Array array = unset_array(shape->dtype, shape->layout, std::move(shape->storage));
  array.loss =
      with_set(*tensor.set, cast.jobs, array.tensor.bytes.size(),
               [&](const TensorSet& set, const Execution& execution) -> Result<LossAccount> {
                 options.execution = execution;
                 BTF_ASSIGN(const auto file, set.file(tensor.place.member));
                 return read_tensor_into(*file, tensor.info, array.tensor.mutable_view(), options);
               });
  return array;
}

// Reads sparse entries into memory that btf/_sparse.py has allocated: addresses of nnz * rank
// indices and of the codes.
void read_entries(const LazyTensor& self, std::uintptr_t indices, std::uintptr_t values,
                  std::uint64_t value_bytes) {
  const std::uint64_t nnz = self.info.coo ? self.info.coo->nnz : 0;
  const std::span index_memory(reinterpret_cast<std::uint64_t*>(indices),
                               nnz * self.info.dims.size());
  const std::span value_memory(reinterpret_cast<std::byte*>(values), value_bytes);
  check(run(1, self.info.data_bytes, [&](const Execution& execution) -> Status {
    const std::lock_guard lock(self.set->mutex);
    BTF_ASSIGN(const auto file, self.set->set.file(self.place.member));
    return read_coo(*file, self.info, index_memory, value_memory, execution);
  }));
}

// Statistics of all elements, with the names of `inspect --stats --json`.
nb::dict stats_of(const LazyTensor& self, unsigned jobs) {
  const TensorStats found =
      with_set(*self.set, jobs, self.info.data_bytes,
               [&](const TensorSet& set, const Execution& execution) -> Result<TensorStats> {
                 BTF_ASSIGN(const auto file, set.file(self.place.member));
                 auto all = stats(*file, self.info, execution);
                 if (!all) return std::unexpected(file->about(self.place.index, all.error()));
                 return all;
               });
  const auto number = [&](const std::optional<Extreme>& extreme) -> nb::object {
    if (!extreme) return nb::none();
    const DTypeInfo& dtype = info(*self.info.dtype);
    if (dtype.floating()) return nb::float_(value_double(dtype.dtype, extreme->code));
    if (dtype.kind == NumberKind::boolean) return nb::bool_(extreme->code != 0);
    return nb::int_(nb::str(value_text(dtype.dtype, extreme->code).c_str()));
  };
  const auto place = [](const std::optional<Extreme>& extreme) -> nb::object {
    return extreme ? nb::object(nb::tuple(nb::cast(extreme->index))) : nb::none();
  };
  nb::dict stats;
  stats["count"] = found.elements;
  stats["finite"] = found.finite;
  stats["min"] = number(found.min);
  stats["max"] = number(found.max);
  stats["mean"] = found.mean;
  stats["std"] = found.std;
  stats["nan"] = found.nan;
  stats["pos_inf"] = found.positive_inf;
  stats["neg_inf"] = found.negative_inf;
  stats["zeros"] = found.zeros;
  stats["subnormals"] = found.subnormals;
  stats["min_index"] = place(found.min);
  stats["max_index"] = place(found.max);
  stats["first_nan_index"] =
      found.first_nan ? nb::object(nb::tuple(nb::cast(*found.first_nan))) : nb::none();
  return stats;
}

// Strides for mapping the elements in the file. An error says why they cannot be mapped.
Result<Dims> mapped_strides(const TensorFile& file, const TensorInfo& tensor) {
  const auto refuse = [](const std::string& why) {
    return fail(ErrorCode::unsupported, "its elements cannot be mapped: " + why);
  };
  if (file.compressed() || tensor.deflated()) return refuse("they are compressed");
  if (!tensor.known() || !tensor.storage || info(*tensor.dtype).half_byte())
    return refuse("they do not stand one by one");
  BTF_ASSIGN(const ByteSource* const elements, file.elements(tensor.index));
  if (elements != &file.source())
    return refuse(
        "the file has them in another form: as text, in the other byte order, in another file");
  if (tensor.storage->split || spec(*tensor.layout).shuffled())
    return refuse("no strides say " + std::string(spec(*tensor.layout).name));
  return tensor.storage->strides;
}

Dims strides_to_map(const LazyTensor& self) {
  return with_set(*self.set, 1, 0, [&](const TensorSet& set, const Execution&) -> Result<Dims> {
    BTF_ASSIGN(const auto file, set.file(self.place.member));
    auto strides = mapped_strides(*file, self.info);
    if (!strides) return std::unexpected(file->about(self.place.index, strides.error()));
    return strides;
  });
}

std::optional<std::string> dtype_of(const LazyTensor& self) {
  if (!self.info.dtype) return std::nullopt;
  return std::string(info(*self.info.dtype).name);
}

std::optional<std::string> layout_of(const LazyTensor& self) {
  if (!self.info.layout) return std::nullopt;
  return std::string(spec(*self.info.layout).name);
}

}  // namespace

void bind_set(nb::module_& module) {
  nb::class_<LazyTensor>(module, "Record")
      .def_prop_ro("name", [](const LazyTensor& self) { return self.info.name; })
      .def_prop_ro("index", [](const LazyTensor& self) { return self.place.index; })
      .def_prop_ro("path",
                   [](const LazyTensor& self) { return self.set->set.path(self.place.member); })
      .def_prop_ro("format", [](const LazyTensor& self) { return self.format; })
      .def_prop_ro("dtype", dtype_of)
      .def_prop_ro("layout", layout_of)
      .def_prop_ro("dims", [](const LazyTensor& self) { return self.info.dims; })
      .def_prop_ro("nbytes", [](const LazyTensor& self) { return self.info.data_bytes; })
      .def_prop_ro("offset", [](const LazyTensor& self) { return self.info.data_offset; })
      .def_prop_ro("nnz",
                   [](const LazyTensor& self) {
                     return self.info.coo ? std::optional(self.info.coo->nnz) : std::nullopt;
                   })
      .def("strides_to_map", strides_to_map)
      .def("content", content)
      .def("entries", read_entries)
      .def("stats", stats_of)
      .def("read", read);

  nb::class_<OpenSet>(module, "Set")
      .def("count",
           [](const std::shared_ptr<OpenSet>& self) {
             return with_set(*self, 1, kLong, [](const TensorSet& set, const Execution&) {
               return set.tensor_count();
             });
           })
      .def("tensor", tensor_of)
      .def("names", names_of)
      .def("format", [](const std::shared_ptr<OpenSet>& self) {
        return with_set(
            *self, 1, 0,
            [](const TensorSet& set, const Execution&) -> Result<std::optional<std::string>> {
              if (!set.one_file()) return std::nullopt;
              BTF_ASSIGN(const auto file, set.file(0));
              return std::string(file->format());
            });
      });
  module.def(
      "open_set", [](const std::vector<std::string>& paths, const std::optional<std::string>& spec,
                     const std::optional<std::string>& layout_in) {
        const auto layout = layout_in ? std::optional(layout_named(*layout_in)) : std::nullopt;
        return value(run(1, 0, [&](const Execution&) { return open_set(paths, spec, layout); }));
      });
}

namespace {

// One entry per tensor; names are empty for tensors without one.
std::uint64_t save(const std::string& path, const std::vector<const Array*>& arrays,
                   const std::vector<std::string>& names, const std::optional<std::string>& format,
                   bool sync, const nb::dict& given) {
  const CastOptions cast = cast_options(given);
  std::vector<TensorToWrite> tensors;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const Array& array = *arrays[i];
    bytes += array.tensor.bytes.size();
    tensors.push_back({.tensor = array.tensor.view(),
                       .dtype = cast.dtype,
                       .layout = cast.layout.value_or(array.layout),
                       .name = names[i]});
  }
  WriteOptions options{
      .policy = cast.policy, .format = format.value_or(""), .sync = sync, .execution = {}};
  return value(run(cast.jobs, bytes, [&](const Execution& execution) {
    options.execution = execution;
    return write_tensors(path, tensors, options);
  }));
}

}  // namespace

void bind_write(nb::module_& module) { module.def("save", save); }

namespace {

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

std::string repr(const Finding& self) {
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
      .def("__repr__", repr);
  module.def("validate", findings);
}

}  // namespace btf::python
