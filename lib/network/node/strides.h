// Numbers of elements in row-major order, and their indices.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/error.h"
#include "btf/layout.h"

namespace btf::network {

// How far apart neighbours in each dim are, of whole tensors in row-major order.
Dims row_major_strides(const Dims& dims);

// The index of an element; as many numbers as there are dims.
Dims index_of(std::uint64_t number, const Dims& dims);
// The same without allocating: `index` has room for them.
void index_into(std::uint64_t number, const Dims& dims, std::span<std::uint64_t> index);
std::uint64_t number_of(std::span<const std::uint64_t> index, const Dims& dims);

// The dims of an elementwise result of several inputs; an error where they do not fit.
Result<Dims> broadcast(const Dims& a, const Dims& b);

// From the number of an element of a broadcast result to that of an input's element.
class Broadcast {
 public:
  Broadcast() = default;
  // `from` fits into `to` as broadcast() has it.
  Broadcast(const Dims& from, const Dims& to);
  std::uint64_t number(std::uint64_t result) const;

 private:
  bool same_ = true;
  Dims to_;
  Dims steps_;  // in the input, for each dim of the result
};

}  // namespace btf::network
