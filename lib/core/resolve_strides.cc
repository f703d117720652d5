// Tensors that are given by strides instead of the name of a layout.
#include <algorithm>
#include <vector>

#include "btf/layout.h"
#include "core/checked_math.h"
#include "core/try.h"

namespace btf {
namespace {

std::unexpected<Error> too_large(std::string_view what, std::span<const std::uint64_t> dims) {
  return fail(ErrorCode::invalid_argument,
              "the " + std::string(what) + " of dims " + dims_text(dims) + " does not fit 64 bits");
}

}  // namespace

Result<Resolved> resolve_strides(std::span<const std::uint64_t> dims,
                                 std::span<const std::uint64_t> strides, DType dtype) {
  if (strides.size() != dims.size())
    return fail(ErrorCode::invalid_argument, std::to_string(strides.size()) + " strides for rank " +
                                                 std::to_string(dims.size()));
  const Checked count = element_count(dims);
  if (!count) return too_large("product", dims);
  if (*count == 0) return resolve(Layout::linear, dims, dtype);

  Resolved resolved;
  resolved.dims.assign(dims.begin(), dims.end());
  resolved.strides.assign(strides.begin(), strides.end());
  Checked span = 1;
  // A dim of size 1 has no stride that matters. It gets the one that it has in a packed array, so
  // that equal arrangements look equal.
  Checked packed = 1;
  for (auto d = static_cast<std::uint32_t>(dims.size()); d-- > 0;) {
    if (dims[d] == 1) resolved.strides[d] = packed.value_or(0);
    packed = checked_mul(dims[d], resolved.strides[d]);
    span = checked_add(span, checked_mul(dims[d] - 1, resolved.strides[d]));
    resolved.storage.push_back({dims[d], resolved.strides[d], d, AxisPart::whole});
  }
  if (!span || !stream_bytes(span, info(dtype).bits)) return too_large("size in bytes", dims);
  resolved.storage_elements = *span;

  // Outermost first; what is repeated is outside of all that it repeats.
  std::ranges::reverse(resolved.storage);
  std::ranges::stable_sort(resolved.storage, [](const StorageAxis& a, const StorageAxis& b) {
    return a.stride - 1 > b.stride - 1;  // 0 becomes the largest
  });
  return resolved;
}

bool distinct_elements(const Resolved& layout) {
  if (layout.elements() == 0) return true;
  std::vector<StorageAxis> axes = layout.storage;
  std::ranges::sort(axes, {}, &StorageAxis::stride);
  std::uint64_t inside = 1;  // elements that the axes so far span
  for (const StorageAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (axis.stride < inside) return false;
    inside += (axis.extent - 1) * axis.stride;
  }
  return true;
}

}  // namespace btf
