// Pairs of tensors in memory, for tests of diff().
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"

namespace pairs {

// Codes in row-major order.
struct Tensor {
  btf::DType dtype{};
  bytes::Words dims;
  bytes::Words codes;
};

inline Tensor line(btf::DType dtype, const bytes::Words& codes) {
  return {dtype, {codes.size()}, codes};
}

inline Tensor f64(const std::vector<double>& values) {
  bytes::Words codes;
  for (const double value : values) codes.push_back(std::bit_cast<std::uint64_t>(value));
  return line(btf::DType::float64, codes);
}

inline bytes::Bytes packed(const Tensor& tensor) {
  return bytes::pack(btf::info(tensor.dtype).bits, tensor.codes);
}

// As kLINEAR.
inline btf::Result<btf::TensorDiff> try_diff(const Tensor& actual, const Tensor& golden,
                                             const btf::DiffOptions& options) {
  const bytes::Bytes left = packed(actual);
  const bytes::Bytes right = packed(golden);
  const auto view = [](const Tensor& tensor, const bytes::Bytes& data) {
    return btf::TensorView{
        tensor.dtype, btf::resolve(btf::Layout::linear, tensor.dims, tensor.dtype).value(), data};
  };
  return btf::diff(view(actual, left), view(golden, right), options);
}

inline btf::TensorDiff diff(const Tensor& actual, const Tensor& golden,
                            const btf::DiffOptions& options) {
  return try_diff(actual, golden, options).value();
}

inline btf::DiffOptions no_hints() {
  btf::DiffOptions options;
  options.hints = false;
  return options;
}

inline btf::DiffOptions tolerance(double rtol, double atol) {
  btf::DiffOptions options = no_hints();
  options.tolerance = {.rtol = rtol, .atol = atol};
  return options;
}

inline std::uint64_t random_code(btf::DType dtype, Random& random) {
  return random.next() >> (64U - btf::info(dtype).bits);
}

// Codes that are the same, a few codes away, or anything.
inline Tensor disturbed(const Tensor& tensor, Random& random) {
  Tensor other = tensor;
  const unsigned unused = 64U - btf::info(tensor.dtype).bits;
  for (std::uint64_t& code : other.codes) {
    if (random.below(3) == 0) code = (code + random.below(9) - 4) << unused >> unused;
    if (random.below(20) == 0) code = random_code(tensor.dtype, random);
  }
  return other;
}

}  // namespace pairs
