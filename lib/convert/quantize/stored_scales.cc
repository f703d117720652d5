#include "convert/quantize/stored_scales.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <string>

#include "btf/try.h"
#include "btf/value.h"
#include "convert/quantize/plan_rules.h"
#include "convert/quantize/scales.h"
#include "elements/row_major.h"
#include "elements/slab_io.h"
#include "elements/stored_elements.h"
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
  const LayoutSpec& layout = btf::spec(*record->layout);
  if (layout.placement != Placement::row_major || layout.pitch_bytes != 0) return std::nullopt;
  return *std::move(record);
}

Result<std::optional<TensorInfo>> StoredScales::find_zero_points(const TensorInfo& scales) const {
  BTF_ASSIGN(std::optional<TensorInfo> record, find(ScaleRole::zero_point));
  if (!record || info(*codes_.dtype).floating() || record->dtype != codes_.dtype ||
      record->dims != scales.dims)
    return std::nullopt;
  return record;
}

Result<std::vector<double>> StoredScales::read_scales(const TensorInfo& record) const {
  BTF_TRY(check_scale_memory(record.storage->elements(), execution_));
  std::vector<float> values(record.storage->elements());
  BTF_ASSIGN(const ByteSource* const source, file_.elements(record.index));
  BTF_TRY(StoredElements(*source, record)
              .read(0, values.size(), std::as_writable_bytes(std::span(values)).data()));
  for (const float value : values)
    if (!(value > 0) || !std::isfinite(value))
      return refuse_scaling("a scale in tensor " + std::to_string(record.index) + " is " +
                            number_text(value) + ": scales are positive numbers");
  return std::vector<double>(values.begin(), values.end());
}

Result<std::vector<std::int64_t>> StoredScales::read_zero_points(const TensorInfo& record) const {
  BTF_ASSIGN(const ByteSource* const source, file_.elements(record.index));
  const auto reader = record_reader(*source, record, *record.storage);
  BTF_ASSIGN(const SourceSlab slab, reader->read({Dims(record.dims.size(), 0), record.dims}));
  Buffer buffer;
  const SourceSlab codes = in_row_major(slab, record.dims, *record.dtype, buffer);
  std::vector<Number> numbers(record.storage->elements());
  decoder (*record.dtype)(codes.data, 1, numbers.size(), numbers.data());
  std::vector<std::int64_t> zero_points;
  for (const Number& number : numbers)
    zero_points.push_back(static_cast<std::int64_t>(number::to_double(number)));
  return zero_points;
}

}  // namespace btf
