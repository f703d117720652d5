// Elements of dtypes whose values are all floats, as floats.
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

  // False where vectors have no such cast.
  bool can() const { return are_floats_ || cast_ != nullptr; }

  // Floats are given back as they stand, others are written to `room`.
  const float* operator()(const std::byte* codes, std::size_t count, float* room) const {
    if (are_floats_) return reinterpret_cast<const float*>(codes);
    LossAccount nothing_lost;
    cast_({.source = codes, .target = reinterpret_cast<std::byte*>(room), .count = count},
          nothing_lost);
    return room;
  }

 private:
  bool are_floats_;
  CastRunsFn cast_;
};

}  // namespace btf
