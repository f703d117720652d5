// Statistics of the elements of a tensor.
#pragma once

#include <cstdint>
#include <optional>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"

namespace btf {

// One element: its bits and where the first of its kind is, in row-major order.
struct Extreme {
  std::uint64_t code = 0;
  Dims index;
};

// Over all logical elements: those that a COO tensor does not store count too.
struct TensorStats {
  std::uint64_t elements = 0;
  std::uint64_t finite = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zeros = 0;       // of either sign
  std::uint64_t subnormals = 0;  // of the tensor's dtype
  // Over the finite elements; nothing if there are none.
  std::optional<Extreme> min;
  std::optional<Extreme> max;
  std::optional<double> mean;
  std::optional<double> std;  // of the population, as NumPy's default
  std::optional<Dims> first_nan;
};

// Reads the whole tensor, in bounded memory.
BTF_API Result<TensorStats> stats(const TensorFile& file, const TensorInfo& tensor,
                                  const Execution& execution = {});

}  // namespace btf
