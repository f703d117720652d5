// Dense tensors in memory that Python keeps.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "btf/cast.h"
#include "btf/dlpack.h"
#include "btf/layout.h"

namespace btf::python {

struct Array {
  SharedTensor tensor;
  Layout layout{};
  LossAccount loss;
};

// Memory for so many bytes, at a multiple of 256, whose content nobody has set.
std::shared_ptr<void> unset_memory(std::uint64_t bytes);

// A tensor in memory that Python describes: the address of its first element, strides in elements,
// some of them negative perhaps, and the object that keeps it.
SharedTensor tensor_in_memory(std::uintptr_t address, const std::string& dtype, const Dims& dims,
                              nanobind::object owner);

}  // namespace btf::python
