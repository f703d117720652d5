// Scales: how real numbers become small codes and come back (docs/dtypes.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

// Elements in blocks along the last dim, a scale for each block.
enum class BlockFormat : std::uint8_t { mxfp8, mxfp4, nvfp4 };

struct BlockFormatInfo {
  BlockFormat format{};
  std::string_view name;
  std::uint64_t block = 0;  // elements that share a scale
  DType element{};          // unless another of the same size is asked for
  DType scale{};
  bool tensor_scale = false;  // a float32 scale of the whole tensor on top
};

BTF_API std::span<const BlockFormatInfo> block_formats();
BTF_API const BlockFormatInfo& info(BlockFormat format);

// To integers and small floats: q = round(x / scale) + zero_point, clamped. Back from them:
// x = (q - zero_point) * scale. One of `scale`, `automatic`, `block`, `dequantize` at most.
struct Quantization {
  std::optional<double> scale{};        // of every tensor; the direction follows from the dtypes
  bool automatic = false;               // scale = max|x| / largest representable, written behind
  std::optional<std::uint32_t> axis{};  // automatic: a scale for each index of this dim
  std::int64_t zero_point = 0;          // integers only
  std::optional<BlockFormat> block{};   // written behind: scales, and the tensor's scale if any
  bool dequantize = false;              // by the scale records that stand behind the data

  bool active() const { return scale || automatic || block || dequantize; }
};

}  // namespace btf
