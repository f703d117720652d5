// The scales and zero points that a file holds for a tensor of codes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/attributes.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "kernels/number/number.h"

namespace btf {

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

}  // namespace btf
