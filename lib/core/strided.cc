// Layouts made of strides instead of the name of a layout; nothing else makes them.
#include "core/strided.h"

#include <algorithm>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/checked_math.h"
#include "core/finding_table.h"

namespace btf {
namespace {

std::unexpected<Error> too_large() {
  return malformed("size-overflow", 0, "the size in bytes does not fit 64 bits");
}

// `axes` in any order, every dim once (a split one as blocks and lanes). The stored array ends with
// its last element. Nothing if its size does not fit 64 bits; that of `dims` does.
std::optional<StridedLayout> of_axes(Dims dims, std::vector<StorageAxis> axes, DType dtype) {
  // Outermost first; what is repeated, by a stride of 0, is outside of all that it repeats.
  std::ranges::stable_sort(axes, std::ranges::greater{},
                           [](const StorageAxis& axis) { return axis.stride - 1; });
  StridedLayout storage;
  storage.strides.resize(dims.size());
  Checked span = 1;
  bool empty = false;
  for (const StorageAxis& axis : axes) {
    if (axis.part == AxisPart::lanes)
      storage.split = Split{axis.dim, axis.extent, axis.stride};
    else
      storage.strides[axis.dim] = axis.stride;
    empty = empty || axis.extent == 0;
    if (axis.extent > 1) span = checked_add(span, checked_mul(axis.extent - 1, axis.stride));
  }
  if (!empty) {
    if (!span || !stream_bytes(span, info(dtype).bits)) return std::nullopt;
    storage.storage_elements = *span;
  }
  const auto whole_vectors = [&](std::uint64_t stride) {
    return stride % storage.split->lanes == 0;
  };
  if (storage.split && storage.split->lane_stride == 1 &&
      std::ranges::all_of(storage.strides, whole_vectors)) {
    storage.components = storage.split->lanes;
    storage.vectorized_dim = static_cast<int>(storage.split->dim);
  }
  storage.dims = std::move(dims);
  storage.axes = std::move(axes);
  return storage;
}

// The innermost axis that steps over less than what stands inside it takes, and how much that is.
struct Overlap {
  const StorageAxis* axis = nullptr;
  std::uint64_t inside = 1;  // elements
};

std::optional<Overlap> find_overlap(const StridedLayout& storage) {
  if (storage.storage_elements == 0) return std::nullopt;
  std::uint64_t inside = 1;
  for (auto axis = storage.axes.rbegin(); axis != storage.axes.rend(); ++axis) {
    if (axis->extent == 1) continue;
    if (axis->stride < inside) return Overlap{&*axis, inside};
    inside += (axis->extent - 1) * axis->stride;
  }
  return std::nullopt;
}

}  // namespace

Result<StridedLayout> strided(Dims dims, std::vector<StorageAxis> axes, DType dtype) {
  if (info(dtype).bits < 8)
    return fail(ErrorCode::unsupported, "4-bit types have no strides of their own");
  if (!element_count(dims)) return too_large();
  auto storage = of_axes(std::move(dims), std::move(axes), dtype);
  if (!storage) return too_large();
  if (const auto overlap = find_overlap(*storage))
    return fail(ErrorCode::invalid_argument,
                "elements would overlap: the stride of dim " + std::to_string(overlap->axis->dim) +
                    " is " + std::to_string(overlap->axis->stride) +
                    " elements, the dims inside it span " + std::to_string(overlap->inside));
  return *std::move(storage);
}

Result<StridedLayout> resolve_strides(std::span<const std::uint64_t> dims,
                                      std::span<const std::uint64_t> strides, DType dtype) {
  const auto too_large_for = [&](std::string_view what) {
    return fail(ErrorCode::invalid_argument, "the " + std::string(what) + " of dims " +
                                                 dims_text(dims) + " does not fit 64 bits");
  };
  if (strides.size() != dims.size())
    return fail(ErrorCode::invalid_argument, std::to_string(strides.size()) + " strides for rank " +
                                                 std::to_string(dims.size()));
  const Checked count = element_count(dims);
  if (!count) return too_large_for("product");
  if (*count == 0) return resolve(Layout::linear, dims, dtype);
  std::vector<StorageAxis> axes(dims.size());
  // A dim of size 1 has no stride that matters. It gets the one that it has in a packed array, so
  // that equal arrangements look equal.
  Checked packed = 1;
  for (auto d = static_cast<std::uint32_t>(dims.size()); d-- > 0;) {
    const std::uint64_t stride = dims[d] == 1 ? packed.value_or(0) : strides[d];
    packed = checked_mul(dims[d], stride);
    axes[d] = {dims[d], stride, d, AxisPart::whole};
  }
  auto storage = of_axes(Dims(dims.begin(), dims.end()), std::move(axes), dtype);
  if (!storage) return too_large_for("size in bytes");
  return *std::move(storage);
}

// Whatever made the layout, its axes are looked at by their strides.
bool distinct_elements(const StridedLayout& storage) {
  if (storage.elements() == 0) return true;
  StridedLayout sorted = storage;
  std::ranges::stable_sort(sorted.axes, std::ranges::greater{}, &StorageAxis::stride);
  return !find_overlap(sorted);
}

Result<StridedLayout> with_padding(const StridedLayout& storage, DType dtype) {
  StridedLayout padded = storage;
  std::vector<StorageAxis>& axes = padded.axes;
  StorageAxis* inner = nullptr;  // padded up to the stride of the next
  std::uint64_t unit = 1;
  std::uint64_t end = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    // The stride of an axis of one element is free, but it may describe padding, or take it.
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
  padded.storage_elements = storage.storage_elements == 0 ? 0 : end;
  return padded;
}

Status check_buffer(std::size_t bytes, const StridedLayout& storage, DType dtype) {
  if (bytes >= storage_bytes(storage, dtype)) return {};
  return fail(ErrorCode::invalid_argument, "a buffer is smaller than its layout");
}

}  // namespace btf
