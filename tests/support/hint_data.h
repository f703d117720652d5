// Tensors to break and to compare: values that look random, and a way from them to a comparison.
// Shares no code with the search for causes.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/shapes.h"

namespace hint_data {

using btf::DType;
using bytes::Bytes;
using bytes::Words;
using shapes::index_of;
using shapes::number_of;
using shapes::product;

using Values = std::vector<double>;

inline bool is_float(DType dtype) { return btf::info(dtype).floating(); }

inline double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

inline double gaussian(Random& random) {
  const double radius = std::sqrt(-2 * std::log(1 - uniform(random)));
  return radius * std::cos(2 * 3.14159265358979323846 * uniform(random));
}

inline Values gaussians(std::uint64_t count, double size, Random& random) {
  Values values(count);
  for (double& value : values) value = size * gaussian(random);
  return values;
}

// Whole numbers from low to high.
inline Values integers(std::uint64_t count, int low, int high, Random& random) {
  Values values(count);
  for (double& value : values)
    value = low + static_cast<double>(random.below(static_cast<std::uint64_t>(high - low) + 1));
  return values;
}

// The nearest code.
inline std::uint64_t code_of(DType dtype, double value) {
  if (!is_float(dtype)) value = std::nearbyint(value);
  return btf::test::oracle_cast(DType::float64, dtype, std::bit_cast<std::uint64_t>(value),
                                {.rounding = btf::Rounding::nearest})
      .code;
}

inline double value_of(DType dtype, std::uint64_t code) {
  return static_cast<double>(btf::test::oracle_value(dtype, code));
}

// Codes in row-major order.
struct Tensor {
  DType dtype{};
  Words dims;
  Words codes;

  double value(std::uint64_t i) const { return value_of(dtype, codes[i]); }
  Values values() const {
    Values all;
    for (const std::uint64_t code : codes) all.push_back(value_of(dtype, code));
    return all;
  }
};

inline Tensor tensor(DType dtype, const Words& dims, const Values& values) {
  Tensor result{dtype, dims, {}};
  for (const double value : values) result.codes.push_back(code_of(dtype, value));
  return result;
}

// Result element i is element from(i) of `source`.
template <typename From>
Tensor gathered(const Tensor& source, From&& from) {
  Tensor result = source;
  for (std::uint64_t i = 0; i < source.codes.size(); ++i) result.codes[i] = source.codes[from(i)];
  return result;
}

// The stored array in a layout by TensorRT's name, padding zero.
inline Bytes stored(const std::string& layout, const Tensor& source) {
  const unsigned bits = btf::info(source.dtype).bits;
  const Bytes packed = bytes::pack(bits, source.codes);
  if (layout == "kLINEAR") return packed;
  return naive::store(naive::layout(layout, source.dims, bits / 8), packed, bits / 8);
}

// A tensor in memory: bytes, and the layout that they are said to have.
class Memory {
 public:
  Memory(DType dtype, const Words& dims, const std::string& layout, Bytes data)
      : data_(std::move(data)),
        view_{dtype, btf::resolve(btf::parse_layout(layout).value(), dims, dtype).value(), data_} {}
  explicit Memory(const Tensor& source, const std::string& layout = "kLINEAR")
      : Memory(source.dtype, source.dims, layout, stored(layout, source)) {}
  Memory(const Memory&) = delete;

  const btf::TensorView& view() const { return view_; }

 private:
  Bytes data_;
  btf::TensorView view_;
};

inline btf::TensorDiff diff_of(const Memory& actual, const Memory& golden,
                               const btf::DiffOptions& options = {}) {
  auto result = btf::diff(actual.view(), golden.view(), options);
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

inline btf::TensorDiff diff_of(const Tensor& actual, const Tensor& golden,
                               const btf::DiffOptions& options = {}) {
  return diff_of(Memory(actual), Memory(golden), options);
}

// "shift: actual is golden ..."; empty without a hint.
inline std::string hint_of(const btf::TensorDiff& diff) {
  std::string text;
  for (const btf::Hint& hint : diff.hints) {
    if (hint.evidence.size() > 200) throw std::runtime_error("too long: " + hint.evidence);
    text += (text.empty() ? "" : " | ") + std::string(btf::cause_name(hint.cause)) + ": " +
            hint.evidence;
  }
  return text;
}

template <typename Side>
std::string hint_of(const Side& actual, const Side& golden, const btf::DiffOptions& options = {}) {
  return hint_of(diff_of(actual, golden, options));
}

}  // namespace hint_data
