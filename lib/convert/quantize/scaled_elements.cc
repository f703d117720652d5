#include "convert/quantize/scaled_elements.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "btf/try.h"
#include "convert/quantize/reader.h"
#include "core/checked_math.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

// The block scales in the arrangement of the elements, so that boxes of theirs stand for boxes that
// the elements can be read in.
StridedLayout as_stored_by(const ElementSource& elements, const StridedLayout& scales) {
  StridedLayout storage = elements.storage;
  storage.dims = scales.dims;
  const std::uint64_t last = scales.dims.size() - 1;
  for (StorageAxis& axis : storage.axes) {
    if (axis.dim != last) continue;
    if (axis.part == AxisPart::whole) axis.extent = scales.dims[last];
    if (axis.part == AxisPart::blocks)
      axis.extent = ceil_div(scales.dims[last], storage.split->lanes);
  }
  return storage;
}

// The codes of scales, or of zero points, each in buffer_bytes().
std::vector<std::byte> scale_codes(const QuantizePlan& plan, const ScaleRecord& record) {
  std::vector<Number> numbers;
  if (record.kind == ScaleKind::zero_points)
    std::ranges::transform(plan.scales.zero_points, std::back_inserter(numbers),
                           number::from_integer);
  else
    std::ranges::transform(plan.scales.values, std::back_inserter(numbers), number::from_double);
  std::vector<std::byte> codes(numbers.size() * info(record.dtype).buffer_bytes());
  LossAccount ignored;
  encoder(record.dtype)(numbers.data(), numbers.size(), codes.data(), 1, CastPolicy{}, ignored);
  return codes;
}

}  // namespace

ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales) {
  ElementSource elements = record_elements(work);
  elements.noise = work.measures_noise();
  elements.noise_step = 1;
  if (plan.scaling == Scaling::none) return elements;
  elements.dtype = plan.cast.to;
  elements.accounted = true;
  if (plan.scales.blocks != nullptr) elements.last_granule = plan.scales.blocks->block;
  elements.open = [&plan, block_scales,
                   open = elements.open](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    BTF_ASSIGN(auto source, open(losses));
    if (plan.scaling == Scaling::quantize)
      return quantizing_reader(std::move(source), plan.cast, plan.scales, losses);
    std::unique_ptr<SlabReader> blocks;
    if (plan.block_scales)
      blocks = record_reader(*block_scales, *plan.block_scales, *plan.block_scales->storage);
    return dequantizing_reader(std::move(source), std::move(blocks), plan.cast, plan.scales,
                               losses);
  };
  return elements;
}

ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record) {
  const bool blocks = record.kind == ScaleKind::blocks;
  ElementSource elements;
  elements.storage = blocks ? as_stored_by(record_elements(work), record.storage) : record.storage;
  elements.stored = elements.dtype = record.dtype;
  // A box of block scales stands for a box of elements that is larger by far.
  if (blocks) {
    elements.slab_bytes /= plan.scales.blocks->block * info(plan.cast.from).buffer_bytes();
    elements.bytes = work.record.data_bytes;
  }
  elements.open = [&work, &plan, &record,
                   blocks](Losses& losses) -> Result<std::unique_ptr<SlabReader>> {
    if (blocks) {
      BTF_ASSIGN(auto source, record_elements(work).open(losses));
      return block_scale_reader(std::move(source), plan.cast, work.target.dims, plan.scales);
    }
    return value_reader(scale_codes(plan, record), record.dtype, record.storage);
  };
  return elements;
}

}  // namespace btf
