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
  std::optional<std::uint32_t> axis{};  // nothing: one scale for all
};

// Scales fit codes of these dims if they are of rank 0, or have the codes' rank and all dims 1 but
// one, or, where `link` names them, are of one dim. Scales found by position alone must be
// float32. An error where they may belong to several dims.
Result<ScaleFit> fit_scales(const TensorInfo& scales, const Dims& dims, const QuantizedBy* link);

// The scales and zero points that a file holds for a tensor of codes.

// The role of a tensor that belongs to a tensor of codes.
enum class ScaleRole : std::uint8_t { scale, global_scale, zero_point };

class StoredScales {
 public:
  // `link`: where the file says that they are; null if it says nothing: then they are looked for
  // behind the codes. All must outlive this.
  StoredScales(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
               const Execution& execution)
      : file_(file), codes_(codes), link_(link), execution_(execution) {}

  // None if there is no usable tensor at this position. An error only if the system refuses to read
  // it, for it may then be one.
  Result<std::optional<TensorInfo>> find(ScaleRole role) const;

  // The zero points that go with the record `scales`: of the codes' dtype and with the dims of the
  // scales; those that a link names are any integers, as many as the scales.
  Result<std::optional<TensorInfo>> find_zero_points(const TensorInfo& scales) const;

  // The elements of a record of floats; an error if one is not a positive number.
  Result<std::vector<double>> read_scales(const TensorInfo& record) const;

  // The same of boxes, of which those that are all zero may have 0.
  Result<std::vector<double>> read_block_scales(const TensorInfo& record) const;

  // Those of a record of integers; an error if one is no code.
  Result<std::vector<std::int64_t>> read_zero_points(const TensorInfo& record) const;

 private:
  std::optional<std::uint64_t> index_of(ScaleRole role) const;
  Result<std::vector<Number>> read_numbers(const TensorInfo& record) const;

  const TensorFile& file_;
  const TensorInfo& codes_;
  const QuantizedBy* link_;
  const Execution& execution_;
};

// How codes become numbers: with which scales of the file, and which zero points.

// How codes become numbers: with which scales of the file, and which zero points.

// Fills in a plan whose cast is set. Leaves it as it is for a dtype that needs no scales.
Status plan_dequantize(const TensorFile& file, const TensorConversion& work,
                       const ScaleOrigin& origin, QuantizePlan& plan);

// A plan with a scale for each block, for whoever reads elements one by one: the scales are read.
Status blocks_to_grid(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
                      const Execution& execution, QuantizePlan& plan);

}  // namespace btf
