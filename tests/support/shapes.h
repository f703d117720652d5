// Row-major numbers of elements, by plain loops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shapes {

using Dims = std::vector<std::uint64_t>;

inline std::uint64_t product(const Dims& dims) {
  std::uint64_t all = 1;
  for (const std::uint64_t dim : dims) all *= dim;
  return all;
}

inline Dims index_of(const Dims& dims, std::uint64_t number) {
  Dims index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; number /= dims[d]) index[d] = number % dims[d];
  return index;
}

inline std::uint64_t number_of(const Dims& dims, const Dims& index) {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) number = number * dims[d] + index[d];
  return number;
}

}  // namespace shapes
