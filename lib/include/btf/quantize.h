// Scales: how real numbers become small codes and come back (docs/dtypes.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Elements in blocks along the last dim, a scale for each block.
enum class BlockFormat : std::uint8_t { mxfp8, mxfp4, nvfp4 };

struct BlockFormatInfo {
  BlockFormat format{};
  std::string_view name;
  std::uint64_t block = 0;  // elements that share a scale
  DType element{};          // unless another of the same size is given
  DType scale{};
  bool tensor_scale = false;  // a float32 scale of the whole tensor on top
};

BTF_API std::span<const BlockFormatInfo> block_formats();
BTF_API const BlockFormatInfo& info(BlockFormat format);

// Dtypes that take scales: integers, and floats of 8 bits or less except E8M0.
BTF_API bool can_scale(DType dtype);

// To integers and small floats: q = round(x / scale) + zero_point, clamped. Back from them:
// x = (q - zero_point) * scale. `dequantize` without a word about zero points is refused where a
// record stands behind the scales as theirs does; the error's `finding` is then
// "zero-points-unread". One of `scale`, `automatic`, `block`, `dequantize` at most.
struct Quantization {
  std::optional<double> scale{};  // of every tensor; the direction follows from the dtypes
  // Written behind. Signed and without a zero point max|x| / largest representable; else so that
  // the least and the largest element get codes.
  bool automatic = false;
  std::optional<std::uint32_t> axis{};       // automatic: a scale for each index of this dim
  std::optional<std::int64_t> zero_point{};  // integers only; nothing: 0
  // automatic: found with the scale, and written after it as a record of the codes' dtype.
  // dequantize: read from there.
  bool find_zero_point = false;
  std::optional<BlockFormat> block{};  // written behind: scales, and the tensor's scale if any
  bool dequantize = false;             // by the scales that the file or a name gives the codes
  // dequantize: how many indices of a dim share a scale, where scales are for blocks of a dim and
  // the file does not say how large: of each of the last dims, or one number for all. Empty: a
  // config.json beside the file says it, else the only size that fits.
  std::vector<std::uint64_t> scale_blocks{};

  bool active() const { return scale || automatic || block || dequantize; }
};

// Scales given by the caller, x = (code - zero point) * scale: for the whole tensor, or for each
// index of a dim.
struct GivenScale {
  std::optional<std::uint32_t> axis{};
  std::vector<double> scales{};
  std::vector<std::int64_t> zero_points{};  // one for each scale
};

}  // namespace btf
