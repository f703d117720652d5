// Sparse tensors out of their entries: a file in memory that is converted, so that what is checked
// of files is checked of them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "python/src/array.h"
#include "python/src/bindings.h"
#include "python/src/options.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

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
  // Where record `index` begins: here.
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

// As save(), with sparse tensors among the arrays: they are written in canonical order.
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
  // Others hold none, as with save().
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
