// Where the scales of a quantisation come from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/quantize.h"
#include "core/edit_chain.h"
#include "elements/slab_io.h"
#include "kernels/number/number.h"

namespace btf {

// Scales in boxes of several dims: those of the dims, and how many indices of each dim share one.
struct ScaleGrid {
  Dims dims;
  Dims block;

  // The number, in row-major order, of the scale of the element with this index.
  std::uint64_t number(std::span<const std::uint64_t> index) const;
};

// The scales of a tensor: one for all, one for each index of `axis`, one for each box of `grid`, or
// one for each block of `block` elements along the last dim.
struct Scales {
  std::vector<double> values{1.0};
  std::vector<std::int64_t> zero_points;  // one for each value; empty: the cast's
  std::optional<std::uint32_t> axis;
  std::optional<ScaleGrid> grid;
  const BlockFormatInfo* blocks = nullptr;  // block scales follow from the elements
  float tensor_scale = 1;                   // blocks: on top of the block's

  bool several() const { return axis || grid || blocks != nullptr; }
};

// An error if a scale for each of so many indices would take more memory than the execution
// allows.
Status check_scale_memory(std::uint64_t indices, const Execution& execution);

// Workers at most for a pass in which each has something of its own for each index.
unsigned scale_workers(std::uint64_t indices);

// The largest magnitude among the finite elements: of the tensor (one number) or of each index of
// `axis`, after the edits. Reads the tensor once.
Result<std::vector<double>> largest_magnitudes(const ByteSource& source, const TensorInfo& record,
                                               const EditChain& edits,
                                               std::optional<std::uint32_t> axis,
                                               const Execution& execution);

// max|x| / largest representable, rounded to float32 and kept within its positive numbers; 1 where
// everything is 0.
float symmetric_scale(double largest, DType target);

// The same as symmetric_scale() with max|x| / (largest element * largest scale).
float nvfp4_tensor_scale(double largest);

// The code of a block's scale for the largest magnitude in it, which is zero or finite.
std::uint64_t block_scale_code(const BlockFormatInfo& format, DType element, const Number& largest,
                               float tensor_scale);

// The dims of the record of block scales.
Dims block_scale_dims(const Dims& dims, std::uint64_t block);

// Where elements in row-major order stand on an axis: each index has `inner` side by side, and
// after the last the first comes again.
struct OnAxis {
  std::uint64_t first = 0;
  std::uint64_t inner = 1;
  std::uint64_t indices = 1;
};

// Calls one(index, numbers, count) for what stands at one index, or each(index, numbers, count) for
// numbers at this index and those behind it.
template <typename Real, typename One, typename Each>
void by_indices(const Real* numbers, std::uint64_t count, const OnAxis& at, One&& one,
                Each&& each) {
  if (at.indices == 1) return one(std::uint64_t{0}, numbers, count);
  std::uint64_t index = at.first / at.inner % at.indices;
  std::uint64_t left = at.inner - at.first % at.inner;
  while (count > 0) {
    const bool alone = at.inner > 1;
    const std::uint64_t n = std::min(alone ? left : at.indices - index, count);
    alone ? one(index, numbers, n) : each(index, numbers, n);
    index += alone ? (n == left ? 1 : 0) : n;
    if (index == at.indices) index = 0;
    numbers += n;
    count -= n;
    left = at.inner;
  }
}

}  // namespace btf
