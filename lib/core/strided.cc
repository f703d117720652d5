#include "core/strided.h"

#include <algorithm>
#include <string>

#include "core/checked_math.h"
#include "core/try.h"

namespace btf {
namespace {

std::unexpected<Error> too_large() {
  return malformed("size-overflow", 0, "the size in bytes does not fit 64 bits");
}

// Elements from the first to the last, both included; axes innermost last.
Result<std::uint64_t> reach_of(const std::vector<StorageAxis>& axes) {
  std::uint64_t reach = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (axis->extent <= 1) continue;
    if (axis->stride < reach)
      return fail(ErrorCode::invalid_argument,
                  "elements would share a place: the stride of dim " + std::to_string(axis->dim) +
                      " is " + std::to_string(axis->stride) +
                      " elements, what it steps over takes " + std::to_string(reach));
    const Checked longer = checked_add(reach, checked_mul(axis->extent - 1, axis->stride));
    if (!longer) return too_large();
    reach = *longer;
  }
  return reach;
}

}  // namespace

Result<Resolved> strided(Dims dims, std::vector<StorageAxis> axes, DType dtype) {
  if (info(dtype).bits < 8)
    return fail(ErrorCode::unsupported, "4-bit types have no strides of their own");
  if (!element_count(dims)) return too_large();
  std::ranges::stable_sort(axes, std::ranges::greater{}, &StorageAxis::stride);
  Resolved layout;
  layout.strides.resize(dims.size());
  for (const StorageAxis& axis : axes) {
    if (axis.part == AxisPart::lanes)
      layout.split = Split{axis.dim, axis.extent, axis.stride};
    else
      layout.strides[axis.dim] = axis.stride;
  }
  if (std::ranges::find(axes, std::uint64_t{0}, &StorageAxis::extent) == axes.end()) {
    BTF_ASSIGN(layout.storage_elements, reach_of(axes));
    if (!stream_bytes(layout.storage_elements, info(dtype).bits)) return too_large();
  }
  const auto whole_vectors = [&](std::uint64_t stride) {
    return stride % layout.split->lanes == 0;
  };
  if (layout.split && layout.split->lane_stride == 1 &&
      std::ranges::all_of(layout.strides, whole_vectors)) {
    layout.components = layout.split->lanes;
    layout.vectorized_dim = static_cast<int>(layout.split->dim);
  }
  layout.dims = std::move(dims);
  layout.storage = std::move(axes);
  return layout;
}

Result<Resolved> with_padding(const Resolved& layout, DType dtype) {
  Resolved padded = layout;
  std::vector<StorageAxis>& axes = padded.storage;
  StorageAxis* inner = nullptr;  // padded up to the stride of the next
  std::uint64_t unit = 1;
  std::uint64_t end = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    // Axes of one element stand nowhere in particular, but may tell of padding, or take it.
    if (axis->extent == 1 && inner == nullptr) axis->stride = 1;
    if (axis->extent == 0 ||
        (axis->extent == 1 && (axis->stride < end || axis->stride % unit != 0))) {
      axis->stride = end;
      continue;
    }
    if (axis->stride % unit != 0)
      return fail(ErrorCode::unsupported,
                  std::string("to be written, strides must be multiples of one another; ") +
                      std::to_string(axis->stride) + " is none of " + std::to_string(unit));
    if (inner == nullptr && axis->stride != 1)
      return fail(ErrorCode::unsupported, "to be written, one dim must have a stride of 1 element");
    if (inner != nullptr && inner->extent != axis->stride / unit) {
      if (inner->part != AxisPart::whole)
        return fail(ErrorCode::unsupported, "to be written, blocks of channels must have no gaps");
      inner->extent = axis->stride / unit;
    }
    inner = &*axis;
    unit = axis->stride;
    const Checked size = checked_mul(axis->extent, axis->stride);
    if (!size || !stream_bytes(size, info(dtype).bits)) return too_large();
    end = *size;
  }
  padded.storage_elements = layout.storage_elements == 0 ? 0 : end;
  return padded;
}

}  // namespace btf
