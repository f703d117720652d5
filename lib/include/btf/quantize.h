// Quantisation: how real numbers become small codes with a scale, and how codes become numbers
// again (docs/dtypes.md).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// Formats with a scale for each block of elements along the last dim.
enum class BlockFormat : std::uint8_t { mxfp8, mxfp4, nvfp4 };

struct BlockFormatInfo {
  BlockFormat format{};
  std::string_view name;
  std::uint64_t block = 0;  // elements that share a scale
  DType element{};          // the default; another one of the same size may be given
  DType scale{};
  bool tensor_scale = false;  // the tensor as a whole has a float32 scale too
};

BTF_API std::span<const BlockFormatInfo> block_formats();
BTF_API const BlockFormatInfo& info(BlockFormat format);

// Returns true for dtypes that may have a scale: integers, and floats of 8 bits or less except
// E8M0.
BTF_API bool can_scale(DType dtype);

// Numbers become codes as q = round(x / scale) + zero_point, clamped; codes become numbers as
// x = (q - zero_point) * scale. At most one of `scale`, `automatic`, `block` and `dequantize` may
// be set; by default nothing is quantised.
struct Quantization {
  // One scale for every tensor. The dtypes decide whether numbers become codes or codes numbers.
  std::optional<double> scale{};
  // Finds the scale: for signed codes without a zero point max|x| / largest code, else so that the
  // least and the largest element are covered. The scale is written as the next tensor.
  bool automatic = false;
  // With `automatic`: a scale for each index of this dim.
  std::optional<std::uint32_t> axis{};
  std::optional<std::int64_t> zero_point{};  // for integer codes; unset: 0
  // With `automatic`: finds a zero point as well, and writes it after the scale in the codes'
  // dtype. With `dequantize`: reads it from there. If it is not set and the tensor after the scales
  // looks like zero points, `dequantize` is an error with the finding "zero-points-unread".
  bool find_zero_point = false;
  // Quantises in blocks. The scales are written as the next tensor, then that of the whole tensor
  // if the format has one.
  std::optional<BlockFormat> block{};
  // Turns codes into numbers by the scales that the file links to them, or a name does.
  bool dequantize = false;
  // With `dequantize`: how many indices of a dim share a scale, if scales are for blocks and the
  // file does not hold the block size: a number for each of the last dims, or one for all. Empty:
  // the size is taken from a config.json next to the file, or is the only one that fits.
  std::vector<std::uint64_t> scale_blocks{};

  bool active() const { return scale || automatic || block || dequantize; }
};

// Scales that the caller gives, for the whole tensor or for each index of a dim:
// x = (code - zero point) * scale.
struct GivenScale {
  std::optional<std::uint32_t> axis{};  // unset: one scale for the whole tensor
  std::vector<double> scales{};
  std::vector<std::int64_t> zero_points{};  // one for each scale
};

}  // namespace btf
