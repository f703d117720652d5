// The quantisation of one tensor, and the records that it reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/attributes.h"
#include "btf/convert.h"
#include "btf/quantize.h"
#include "convert/quantize/scales.h"
#include "convert/tensor/tensor.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

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

}  // namespace btf
