// A conversion out of a dict, and what is said of a tensor.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/error.h"
#include "btf/file.h"
#include "btf/tensor_set.h"

namespace btf::python {

// The options of Python's convert(): ConvertOptions, and those that are not in it.
struct Conversion {
  ConvertOptions options;
  unsigned jobs = 0;
  std::optional<std::string> tensors;  // selections by number and name
  std::vector<std::string> exclude;
};

Conversion conversion_of(const nanobind::dict& given);
OpenOptions open_options(const std::optional<std::string>& spec,
                         const std::optional<std::string>& layout_in);

// Sets the options' tensors.
Status select(const TensorSet& set, Conversion& conversion);

// Members of btf.ConvertedTensor.
nanobind::dict told(const TensorReport& report);

}  // namespace btf::python
