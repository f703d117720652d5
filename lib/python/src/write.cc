// Files written out of arrays.
#include "btf/write.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "python/src/array.h"
#include "python/src/bindings.h"
#include "python/src/options.h"
#include "python/src/raise.h"
#include "python/src/run.h"

namespace btf::python {
namespace {

namespace nb = nanobind;

// One a tensor: names are empty where there are none.
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

}  // namespace btf::python
