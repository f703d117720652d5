// Pairs broken by one cause each, in every dtype that it makes sense for, and a score of what was
// found: nine of ten must be. Shares no code with the search for causes.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>

#include "support/hint_data.h"

namespace broken_pairs {

using namespace hint_data;

using Index = std::function<Words(const Words& index)>;

struct Types {
  DType actual{};
  DType golden{};
};

inline const std::vector<Types> kFloats{
    {DType::float32, DType::float32}, {DType::float64, DType::float64},
    {DType::float16, DType::float32}, {DType::float32, DType::float16},
    {DType::float16, DType::float16}, {DType::bfloat16, DType::float32}};
inline const std::vector<Types> kAll{
    {DType::float32, DType::float32},   {DType::float16, DType::float32},
    {DType::bfloat16, DType::bfloat16}, {DType::float8_e4m3fn, DType::float8_e4m3fn},
    {DType::float64, DType::float64},   {DType::int8, DType::int8},
    {DType::uint8, DType::uint8},       {DType::int16, DType::int32},
    {DType::int64, DType::int64}};

inline std::string name_of(const Types& types) {
  return std::string(btf::info(types.actual).name) + " of " +
         std::string(btf::info(types.golden).name);
}

// Ordinary data: as it is, behind a ReLU, smooth with a little noise, mostly zeros.
inline constexpr int kKinds = 4;
inline Values data(int kind, const Words& dims, double scale, Random& random) {
  Values values = gaussians(product(dims), scale, random);
  for (std::uint64_t i = 0; i < values.size(); ++i) {
    if (kind == 1) values[i] = std::max(values[i], 0.0);
    if (kind == 2) values[i] = scale * std::sin(0.37 * static_cast<double>(i)) + 0.05 * values[i];
    if (kind == 3 && random.below(10) != 0) values[i] = 0;
  }
  return values;
}

inline double scale_for(DType dtype) {
  if (is_float(dtype)) return 1;
  return btf::info(dtype).bits <= 8 ? 30 : 1000;
}

// Counts by cause, and tells what was said instead.
class Score {
 public:
  void add(const std::string& what, const std::string& hint, const std::string& expected) {
    ++tried_[expected];
    if (hint.starts_with(expected)) {
      ++found_[expected];
    } else {
      missed_ += what + ": " + (hint.empty() ? "nothing" : hint) + "\n";
    }
  }

  void check() const {
    for (const auto& [cause, tried] : tried_) {
      const auto found = found_.find(cause);
      INFO(cause << " of " << tried << "; missed:\n" << missed_);
      CHECK(10 * (found == found_.end() ? 0 : found->second) >= 9 * tried);
    }
  }

 private:
  std::map<std::string, int> tried_;
  std::map<std::string, int> found_;
  std::string missed_;
};

// Element [index] of the result is element [from(index)] of `source`; `missing` where that is none.
inline Tensor moved(const Tensor& source, const Index& from, double missing = 0) {
  Tensor result = source;
  for (std::uint64_t i = 0; i < source.codes.size(); ++i) {
    const Words at = from(index_of(source.dims, i));
    result.codes[i] =
        at.empty() ? code_of(source.dtype, missing) : source.codes[number_of(source.dims, at)];
  }
  return result;
}

template <typename Map>
Tensor with(DType dtype, const Tensor& golden, Map&& map) {
  Values values = golden.values();
  for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = map(values[i], i);
  return tensor(dtype, golden.dims, values);
}

template <typename Try>
void for_data(const std::vector<Types>& all, const std::vector<Words>& shapes, Try&& attempt,
              int kinds = kKinds) {
  std::uint64_t seed = 1000;
  for (const Types& types : all)
    for (const Words& dims : shapes)
      for (int kind = 0; kind < kinds; ++kind) {
        Random random(++seed);
        const double scale = std::min(scale_for(types.actual), scale_for(types.golden));
        const Tensor golden = tensor(types.golden, dims, data(kind, dims, scale, random));
        attempt(types, golden, random,
                name_of(types) + " " + btf::dims_text(dims) + " kind " + std::to_string(kind));
      }
}

}  // namespace broken_pairs
