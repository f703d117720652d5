// The scales of blocks: which code each gets, and what a code stands for.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convert/quantize/scales.h"
#include "elements/slab_io.h"
#include "kernels/cast/to_floats.h"
#include "kernels/narrow/narrowing.h"
#include "kernels/number/widen.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

// The box of scales that holds those of the box's elements.
Box blocks_of(const Box& box, std::uint64_t block);

// The value of a code of a block's scale: its own scale times the tensor's.
double block_scale(const Scales& scales, std::uint64_t code);

// Finds block_scale_code() of each block.
class BlockScaleFinder {
 public:
  BlockScaleFinder(const Scales& scales, const ScaledCast& cast);

  // Scales of elements with these dims in row-major order; blocks run along the last.
  void find(const std::byte* elements, const Dims& dims, std::byte* codes) const;

 private:
  void find_row(const std::byte* elements, std::uint64_t count, std::byte* codes) const;
  void encode(double* largest, std::size_t count, std::byte* codes) const;

  const BlockFormatInfo& format_;
  DType from_;
  DType element_;
  float tensor_scale_;
  std::uint64_t bytes_;
  int element_exponent_;  // of the element's largest number
  double element_largest_;
  ToFloats to_floats_;
  Narrowing to_scale_;
  WidenFn<double> widen_ = nullptr;  // none: by exact numbers
};

}  // namespace btf
