#include "capi/array.h"

#include <span>
#include <string>

#include "btf/try.h"
#include "capi/support.h"

namespace btf::capi {
namespace {

Result<Dims> strides_of(const btf_array& array) {
  Dims strides;
  for (std::uint64_t d = 0; d < array.rank; ++d) {
    if (array.strides[d] < 0)
      return fail(ErrorCode::unsupported, "stride " + std::to_string(array.strides[d]) +
                                              " of dim " + std::to_string(d) + " is negative");
    strides.push_back(static_cast<std::uint64_t>(array.strides[d]));
  }
  return strides;
}

// Before anything is read of dims and strides, which end nobody knows where.
Result<StridedLayout> storage_of(const btf_array& array, Layout layout, DType dtype) {
  if (array.rank > kMaxRank)
    return fail(ErrorCode::unsupported, "the array has rank " + std::to_string(array.rank) +
                                            ", tensors have at most " + std::to_string(kMaxRank));
  if (array.rank > 0 && array.dims == nullptr) return wrong("no dims");
  const std::span<const std::uint64_t> dims(array.dims, array.rank);
  if (array.strides == nullptr) return resolve(layout, dims, dtype);
  if (array.layout != nullptr) return wrong("strides and a layout cannot both be given");
  BTF_ASSIGN(const Dims strides, strides_of(array));
  return resolve_strides(dims, strides, dtype);
}

}  // namespace

Result<Array> array_of(const btf_array* from) {
  if (from == nullptr) return wrong("no array");
  BTF_ASSIGN(const btf_array array, given(from));
  if (array.dtype == nullptr) return wrong("the array has no dtype");
  BTF_ASSIGN(const DType dtype, parse_dtype(array.dtype));
  BTF_ASSIGN(const auto named, layout_named(array.layout));
  if (named && spec(*named).shuffled())
    return wrong("elements in memory are whole: shuffled is for files");
  const Layout layout = named.value_or(Layout::linear);
  BTF_ASSIGN(StridedLayout storage, storage_of(array, layout, dtype));
  const std::uint64_t bytes = storage_bytes(storage, dtype);
  if (array.bytes < bytes)
    return wrong("the array has " + std::to_string(array.bytes) + " bytes, its dims need " +
                 std::to_string(bytes));
  if (array.data == nullptr && bytes > 0) return wrong("the array has no data");
  if (reinterpret_cast<std::uintptr_t>(array.data) % info(dtype).buffer_bytes() != 0)
    return wrong("the data is not aligned to its elements");
  return Array{{dtype, std::move(storage), {static_cast<const std::byte*>(array.data), bytes}},
               layout};
}

}  // namespace btf::capi
