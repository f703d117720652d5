// Quantisation: where scales come from, and the elements of scaled tensors.
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
#include "kernels/scale/scale.h"

namespace btf {

// Scales of boxes of several dims: the number of boxes in each dim, and how many indices share a
// scale.
struct ScaleGrid {
  Dims dims;
  Dims block;

  // The number of the scale, in row-major order, for the element at `index`.
  std::uint64_t number(std::span<const std::uint64_t> index) const;
};

// The scales of a tensor: one for all elements, one for each index of `axis`, one for each box of
// `grid`, or one for each block of `block` elements along the last dim.
struct Scales {
  std::vector<double> values{1.0};
  std::vector<std::int64_t> zero_points;  // one for each value; if empty, the cast's
  std::optional<std::uint32_t> axis;
  std::optional<ScaleGrid> grid;
  const BlockFormatInfo* blocks = nullptr;  // the block scales are computed from the elements
  float tensor_scale = 1;                   // with `blocks`: a factor for all block scales

  bool several() const { return axis || grid || blocks != nullptr; }
};

// An error if one scale for each of `indices` would take more memory than the execution allows.
Status check_scale_memory(std::uint64_t indices, const Execution& execution);

// The maximal number of workers for a pass in which each keeps something for every index.
unsigned scale_workers(std::uint64_t indices);

// The largest magnitude among the finite elements: of the tensor (one number) or of each index of
// `axis`, after the edits. Reads the tensor once.
Result<std::vector<double>> largest_magnitudes(const ByteSource& source, const TensorInfo& record,
                                               const EditChain& edits,
                                               std::optional<std::uint32_t> axis,
                                               const Execution& execution);

// max|x| / largest representable, rounded to float32 and clamped to its positive numbers; 1 if all
// elements are 0.
float symmetric_scale(double largest, DType target);

// The same as symmetric_scale() with max|x| / (largest element * largest scale).
float nvfp4_tensor_scale(double largest);

// The code of the scale of a block whose largest magnitude is `largest`, which must be zero or
// finite.
std::uint64_t block_scale_code(const BlockFormatInfo& format, DType element, const Number& largest,
                               float tensor_scale);

// The dims of the record of block scales.
Dims block_scale_dims(const Dims& dims, std::uint64_t block);

// The position of elements in row-major order along an axis: each index has `inner` adjacent
// elements, and the first index follows the last one.
struct AxisPosition {
  std::uint64_t first = 0;
  std::uint64_t inner = 1;
  std::uint64_t indices = 1;
};

// Calls one(index, numbers, count) for elements of a single index, or each(index, numbers, count)
// if every number has its own index, from `index` on.
template <typename Real, typename One, typename Each>
void by_indices(const Real* numbers, std::uint64_t count, const AxisPosition& at, One&& one,
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

enum class Scaling : std::uint8_t { none, quantize, dequantize };

enum class ScaleKind : std::uint8_t { values, blocks, zero_points };

// A record of scales or zero points that is written after the data.
struct ScaleRecord {
  DType dtype{};
  StridedLayout storage;  // kLINEAR
  ScaleKind kind{};
  std::string_view ending;  // appended to the name of the data's record
};

struct QuantizePlan {
  Scaling scaling = Scaling::none;
  ScaledCast cast;
  Scales scales;
  std::optional<TensorInfo> block_scales;  // for dequantizing: the record that holds them
  std::vector<std::uint64_t> consumed;     // source records that were used as scales
  std::vector<ScaleRecord> written;        // in the order of writing
};

// Where the scales of codes come from: given by the caller, else linked by the file or by names,
// else, in a file without names, the records after the codes.
struct ScaleOrigin {
  const QuantizedBy* link = nullptr;
  const GivenScale* given = nullptr;
  bool by_place = false;
};

// Reads the tensor if its scale must be computed.
Result<QuantizePlan> plan_quantization(const TensorFile& file, const TensorConversion& work,
                                       const ScaleOrigin& origin);

// The elements of the data record and of a record of scales. The arguments must outlive the result.
// `block_scales` is the source of the plan's block scales.
ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales);
ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record);

}  // namespace btf
