// Quantisation to codes: where the scales come from, and the numbers as they are scaled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/attributes.h"
#include "btf/convert.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/quantize.h"
#include "convert/tensor/target.h"
#include "core/edit_chain.h"
#include "elements/slabs.h"
#include "kernels/number/number.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

// Where the scales of a quantisation come from.

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

// The quantisation of one tensor, and the records that it reads and writes.

enum class Scaling : std::uint8_t { none, quantize, dequantize };

enum class ScaleKind : std::uint8_t { values, blocks, zero_points };

// A record of scales, or of zero points, that is written behind the data.
struct ScaleRecord {
  DType dtype{};
  StridedLayout storage;  // kLINEAR
  ScaleKind kind{};
  std::string_view ending;  // its name is that of the data with this behind it
};

struct QuantizePlan {
  Scaling scaling = Scaling::none;
  ScaledCast cast;
  Scales scales;
  std::optional<TensorInfo> block_scales;  // dequantize: the record that holds them
  std::vector<std::uint64_t> consumed;     // source records that were used up as scales
  std::vector<ScaleRecord> written;        // in their order
};

// Where the scales of codes are: given, else where the file or a name says, else, in a file without
// names, behind the codes.
struct ScaleOrigin {
  const QuantizedBy* link = nullptr;
  const GivenScale* given = nullptr;
  bool by_place = false;
};

// Reads the tensor where its scale must be found out.
Result<QuantizePlan> plan_quantization(const TensorFile& file, const TensorConversion& work,
                                       const ScaleOrigin& origin);

// Quantised and dequantised tensors, and their scales, as sources of elements to write or compare.

// The elements of the data record, and of each record of scales. The arguments must outlive them.
// `block_scales`: where those of the plan are read from.
ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales);
ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record);

}  // namespace btf
