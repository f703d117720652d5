// Converts elements of dtypes whose values are all exact as float32.
#pragma once

#include <cstddef>

#include "btf/dtype.h"
#include "kernels/cast/cast_runs.h"

namespace btf {

class ToFloats {
 public:
  explicit ToFloats(DType from)
      : are_floats_(from == DType::float32),
        cast_(is_lossless(from, DType::float32) ? find_cast_runs(from, DType::float32) : nullptr) {}

  // Returns false if vectors have no such cast.
  bool can() const { return are_floats_ || cast_ != nullptr; }

  // Returns `codes` if they are floats already, otherwise writes floats to `buffer` and returns it.
  const float* operator()(const std::byte* codes, std::size_t count, float* buffer) const {
    if (are_floats_) return reinterpret_cast<const float*>(codes);
    LossAccount nothing_lost;
    cast_({.source = codes, .target = reinterpret_cast<std::byte*>(buffer), .count = count},
          nothing_lost);
    return buffer;
  }

 private:
  bool are_floats_;
  CastRunsFn cast_;
};

}  // namespace btf
