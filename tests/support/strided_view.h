// Tensors with strides of every kind, and their elements gathered one by one.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "btf/convert.h"
#include "btf/dtype.h"
#include "btf/layout.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"

namespace strided {

using Bytes = std::vector<std::byte>;

inline std::uint64_t load(const Bytes& bytes, std::uint64_t element, btf::DType dtype) {
  const unsigned bits = btf::info(dtype).bits;
  if (bits < 8) {
    const auto byte = static_cast<std::uint64_t>(bytes[element / 2]);
    return element % 2 == 0 ? byte & 15 : byte >> 4;
  }
  std::uint64_t code = 0;
  std::memcpy(&code, bytes.data() + element * (bits / 8), bits / 8);
  return code;
}

inline void store(Bytes& bytes, std::uint64_t element, btf::DType dtype, std::uint64_t code) {
  const unsigned bits = btf::info(dtype).bits;
  if (bits >= 8) {
    std::memcpy(bytes.data() + element * (bits / 8), &code, bits / 8);
    return;
  }
  std::byte& byte = bytes[element / 2];
  byte = element % 2 == 0 ? (byte & std::byte{0xf0}) | static_cast<std::byte>(code)
                          : (byte & std::byte{0x0f}) | static_cast<std::byte>(code << 4);
}

inline std::uint64_t count_of(const btf::Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

inline std::uint64_t offset_of(const btf::Dims& index, const btf::Dims& strides) {
  return std::inner_product(index.begin(), index.end(), strides.begin(), std::uint64_t{0});
}

// The elements in row-major order.
inline Bytes gathered(const Bytes& bytes, const btf::Dims& dims, const btf::Dims& strides,
                      btf::DType dtype) {
  const std::uint64_t count = count_of(dims);
  Bytes result((count * btf::info(dtype).bits + 7) / 8);
  if (count == 0) return result;
  btf::Dims index(dims.size(), 0);
  std::uint64_t i = 0;
  do store(result, i++, dtype, load(bytes, offset_of(index, strides), dtype));
  while (naive::next(index, dims));
  return result;
}

// Strides of the dims in a random order, some with a gap, some 0 if `repeats`.
inline btf::Dims random_strides(const btf::Dims& dims, bool repeats, Random& random) {
  std::vector<std::size_t> order(dims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  btf::Dims strides(dims.size());
  std::uint64_t next = random.below(4) == 0 ? random.between(2, 3) : 1;
  for (const std::size_t d : order) {
    if (repeats && random.below(3) == 0) continue;
    strides[d] = next;
    next *= std::max<std::uint64_t>(dims[d], 1);
    if (random.below(3) == 0) next += random.below(5);
  }
  return strides;
}

}  // namespace strided
