#include "convert/quantize/stored_scales.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/plan_rules.h"
#include "convert/quantize/scales.h"
#include "elements/row_major.h"
#include "elements/slab_io.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

bool is_damage(const Error& error) {
  return error.code == ErrorCode::malformed || error.code == ErrorCode::unsupported;
}

}  // namespace

std::optional<std::uint64_t> StoredScales::index_of(ScaleRole role) const {
  if (link_ != nullptr) {
    if (role == ScaleRole::scale) return link_->scale;
    return role == ScaleRole::zero_point ? link_->zero_point : link_->global_scale;
  }
  const std::uint64_t index = codes_.index + (role == ScaleRole::scale ? 1 : 2);
  return index < file_.tensor_count() ? std::optional(index) : std::nullopt;
}

Result<std::optional<TensorInfo>> StoredScales::find(ScaleRole role) const {
  const auto index = index_of(role);
  if (!index) return std::nullopt;
  auto record = file_.tensor(*index);
  Status usable;
  if (!record)
    usable = std::unexpected(record.error());
  else
    usable = file_.check_overlap(*record);
  if (!usable && !is_damage(usable.error())) return std::unexpected(usable.error());
  if (!usable || !record->known() || !record->storage) return std::nullopt;
  // Programs without a type for powers of two keep them as bytes.
  if (link_ != nullptr && role == ScaleRole::scale && record->dtype == DType::uint8 &&
      info(*codes_.dtype).floating())
    record->dtype = DType::float8_e8m0fnu;
  const LayoutSpec& layout = btf::spec(*record->layout);
  if (layout.placement != Placement::row_major || layout.pitch_bytes != 0) return std::nullopt;
  return *std::move(record);
}

Result<std::optional<TensorInfo>> StoredScales::find_zero_points(const TensorInfo& scales) const {
  BTF_ASSIGN(std::optional<TensorInfo> record, find(ScaleRole::zero_point));
  if (!record || info(*codes_.dtype).floating()) return std::nullopt;
  // NumPy and torch keep them as wide integers; those found by position alone must fit exactly.
  const bool fits = link_ != nullptr ? record->storage->elements() == scales.storage->elements() &&
                                           is_integer(*record->dtype)
                                     : record->dims == scales.dims && record->dtype == codes_.dtype;
  return fits ? record : std::nullopt;
}

Result<std::vector<double>> StoredScales::read_scales(const TensorInfo& record) const {
  BTF_ASSIGN(std::vector<double> values, read_block_scales(record));
  if (std::ranges::find(values, 0.0) == values.end()) return values;
  return refuse_scaling("a scale in tensor " + std::to_string(record.index) +
                        " is 0: scales are positive numbers");
}

Result<std::vector<double>> StoredScales::read_block_scales(const TensorInfo& record) const {
  BTF_TRY(check_scale_memory(record.storage->elements(), execution_));
  std::vector<double> values;
  BTF_ASSIGN(const std::vector<Number> numbers, read_numbers(record));
  for (const Number& number : numbers) {
    values.push_back(number::to_double(number));
    if (!(values.back() >= 0) || !std::isfinite(values.back()))
      return refuse_scaling("a scale in tensor " + std::to_string(record.index) + " is " +
                            number_text(values.back()) + ": scales are positive numbers");
  }
  return values;
}

Result<std::vector<std::int64_t>> StoredScales::read_zero_points(const TensorInfo& record) const {
  std::vector<std::int64_t> zero_points;
  BTF_ASSIGN(const std::vector<Number> numbers, read_numbers(record));
  for (const Number& number : numbers) {
    const double value = number::to_double(number);
    if (std::abs(value) < 0x1p63) {
      zero_points.push_back(static_cast<std::int64_t>(value));
      if (record.dtype == codes_.dtype || is_code(zero_points.back(), *codes_.dtype)) continue;
    }
    return refuse_scaling("the zero point " + number_text(value) + " in tensor " +
                          std::to_string(record.index) + " cannot be represented in " +
                          std::string(info(*codes_.dtype).name));
  }
  return zero_points;
}

Result<std::vector<Number>> StoredScales::read_numbers(const TensorInfo& record) const {
  BTF_ASSIGN(const ByteSource* const source, file_.elements(record.index));
  const auto reader = record_reader(*source, record, *record.storage);
  BTF_ASSIGN(const SourceSlab slab, reader->read({Dims(record.dims.size(), 0), record.dims}));
  Buffer buffer;
  const SourceSlab codes = in_row_major(slab, record.dims, *record.dtype, buffer);
  std::vector<Number> numbers(record.storage->elements());
  decoder (*record.dtype)(codes.data, 1, numbers.size(), numbers.data());
  return numbers;
}

}  // namespace btf
