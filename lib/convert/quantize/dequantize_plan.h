// How codes become numbers: which scales and zero points of the file belong to them, and along
// which dims those run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/attributes.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "convert/quantize/scales.h"
#include "kernels/number/number.h"

namespace btf {

struct ScaleFit {
  bool fits = false;
  std::optional<std::uint32_t> axis{};  // unset for one scale for the whole tensor
};

// Decides whether scales fit codes of these dims. They do if they have rank 0, or the codes' rank
// with all dims 1 but one, or, if `link` names them, a single dim. Scales found by position alone
// must be float32. An error if they could belong to several dims.
Result<ScaleFit> fit_scales(const TensorInfo& scales, const Dims& dims, const QuantizedBy* link);

// The role of a tensor that belongs to a tensor of codes.
enum class ScaleRole : std::uint8_t { scale, global_scale, zero_point };

class StoredScales {
 public:
  // `link` is what the file says about the scales; if it is null, they are looked for after the
  // codes. All arguments must outlive this object.
  StoredScales(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
               const Execution& execution)
      : file_(file), codes_(codes), link_(link), execution_(execution) {}

  // Unset if there is no usable tensor. An error only if the system cannot read it, since it might
  // be one.
  Result<std::optional<TensorInfo>> find(ScaleRole role) const;

  // The zero points that belong to the record `scales`. They must have the codes' dtype and the
  // dims of the scales; linked ones may be of any integer dtype if their number matches.
  Result<std::optional<TensorInfo>> find_zero_points(const TensorInfo& scales) const;

  // Reads a record of floats. An error if one is not a positive number.
  Result<std::vector<double>> read_scales(const TensorInfo& record) const;

  // The same for scales of boxes; a box whose elements are all zero may have scale 0.
  Result<std::vector<double>> read_block_scales(const TensorInfo& record) const;

  // Reads a record of integers. An error if one cannot be represented in the codes' dtype.
  Result<std::vector<std::int64_t>> read_zero_points(const TensorInfo& record) const;

 private:
  std::optional<std::uint64_t> index_of(ScaleRole role) const;
  Result<std::vector<Number>> read_numbers(const TensorInfo& record) const;

  const TensorFile& file_;
  const TensorInfo& codes_;
  const QuantizedBy* link_;
  const Execution& execution_;
};

// Completes a plan whose cast is set. Does nothing for a dtype that needs no scales.
Status plan_dequantize(const TensorFile& file, const TensorConversion& work,
                       const ScaleOrigin& origin, QuantizePlan& plan);

// Turns a plan with a scale for each block into one with a grid, for readers of single elements;
// reads the scales.
Status blocks_to_grid(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
                      const Execution& execution, QuantizePlan& plan);

}  // namespace btf
