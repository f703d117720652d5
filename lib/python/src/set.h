// Files, directories, archives and indexes as sets of tensors that are read on demand.
#pragma once

#include <nanobind/nanobind.h>

#include <mutex>
#include <string>
#include <vector>

#include "btf/tensor_set.h"

namespace btf::python {

// A set is not for several threads at once: whoever uses it holds the lock, taken without the GIL.
struct OpenSet {
  explicit OpenSet(TensorSet all) : set(std::move(all)) {}

  TensorSet set;
  std::mutex mutex;
};

}  // namespace btf::python
