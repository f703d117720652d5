// Tensors in memory exchanged with other libraries by DLPack, in both directions.
#include "btf/dlpack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/try.h"
#include "core/dtype.h"
#include "core/errors.h"
#include "core/layout.h"
#include "core/numbers.h"

namespace btf {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;

// The error for tensors that DLPack can describe and this library cannot, or vice versa.
std::unexpected<Error> dlpack_unsupported(std::string message) {
  return fail(ErrorCode::unsupported, "DLPack: " + std::move(message));
}

// Import. Everything in a DLTensor must be checked.

// Without a code of its own, a dtype would look like an integer.
consteval bool codes_are_unique() {
  for (const DTypeInfo& a : dtype_rows::kRows)
    for (const DTypeInfo& b : dtype_rows::kRows)
      if (a.dtype != b.dtype && a.dlpack == b.dlpack && a.bits == b.bits) return false;
  return true;
}
static_assert(codes_are_unique());

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorCode::invalid_argument, "DLPack: " + std::move(message));
}

Result<DType> dtype_of(const dlpack::DLDataType& type) {
  if (type.lanes == 0) return wrong("elements of 0 lanes");
  bool known = false;
  for (const DTypeInfo& row : dtypes()) {
    if (row.dlpack != type.code) continue;
    if (row.bits == type.bits) return row.dtype;
    known = true;
  }
  const std::string code = concat("type code ", type.code);
  if (known) return dlpack_unsupported(concat(code, " with ", type.bits, " bits"));
  return dlpack_unsupported(code + " is not a dtype of this library");
}

// Only accepts memory that the CPU can read directly.
Status check_device(const dlpack::DLDevice& device) {
  constexpr std::array kHost{dlpack::kDLCPU, dlpack::kDLCUDAHost, dlpack::kDLROCMHost};
  if (std::ranges::find(kHost, device.device_type) != kHost.end()) return {};
  return dlpack_unsupported(concat("the tensor is on a device of type ", device.device_type,
                                   ", not in the CPU's memory"));
}

Result<Dims> dims_of(const DLTensor& tensor) {
  if (tensor.ndim < 0) return wrong(concat("a rank of ", tensor.ndim));
  if (tensor.ndim > static_cast<std::int32_t>(kMaxRank))
    return dlpack_unsupported(
        concat("the tensor has rank ", tensor.ndim, ", but tensors have at most ", kMaxRank));
  if (tensor.ndim > 0 && tensor.shape == nullptr)
    return wrong(concat("no shape for rank ", tensor.ndim));
  Dims dims;
  for (std::int32_t d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] < 0) return wrong(concat("dim ", d, " is ", tensor.shape[d]));
    dims.push_back(static_cast<std::uint64_t>(tensor.shape[d]));
  }
  return dims;
}

// Strides in elements of one lane; without strides, those of a compact row-major array.
Result<Dims> strides_of(const DLTensor& tensor, const Dims& dims) {
  Dims strides(dims.size());
  Checked packed = tensor.dtype.lanes;
  for (std::size_t d = dims.size(); d-- > 0;) {
    Checked stride = packed;
    if (tensor.strides != nullptr) {
      if (tensor.strides[d] < 0)
        return dlpack_unsupported(
            concat("stride ", tensor.strides[d], " of dim ", d, " is negative"));
      stride = checked_mul(static_cast<std::uint64_t>(tensor.strides[d]), tensor.dtype.lanes);
    }
    if (!stride) return wrong("the strides do not fit 64 bits");
    strides[d] = *stride;
    packed = checked_mul(packed, std::max<std::uint64_t>(dims[d], 1));
  }
  return strides;
}

Result<std::byte*> address_of(const DLTensor& tensor, std::uint64_t bytes, DType dtype) {
  if (bytes == 0) return nullptr;
  if (tensor.data == nullptr) return wrong(concat("no data for ", bytes, " bytes"));
  const auto base = reinterpret_cast<std::uintptr_t>(tensor.data);
  const Checked first = checked_add(base, tensor.byte_offset);
  if (!first || !checked_add(first, bytes))
    return wrong("byte_offset and size go beyond the end of memory");
  const std::uint64_t element = info(dtype).buffer_bytes();
  if (*first % element != 0)
    return dlpack_unsupported(concat("the elements are not aligned to their ", element, " bytes"));
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

// Calls the deleter of a tensor once it owns one.
template <typename Managed>
struct ManagedDeleter {
  ManagedDeleter() = default;
  ManagedDeleter(const ManagedDeleter&) = delete;
  ManagedDeleter& operator=(const ManagedDeleter&) = delete;
  ~ManagedDeleter() {
    if (tensor != nullptr && tensor->deleter != nullptr) tensor->deleter(tensor);
  }

  Managed* tensor = nullptr;
};

// The caller owns the tensor until nothing can fail any more. A std::shared_ptr constructed from
// the pointer would call the deleter if it ran out of memory.
template <typename Managed>
SharedTensor take_ownership(MutableTensorView view, Managed* tensor, bool read_only) {
  static_assert(std::is_nothrow_move_constructible_v<SharedTensor>);
  auto deleter = std::make_shared<ManagedDeleter<Managed>>();
  Managed*& owned = deleter->tensor;
  SharedTensor shared{view.dtype, std::move(view.storage), view.bytes, std::move(deleter),
                      read_only};
  owned = tensor;
  return shared;
}

}  // namespace

Result<MutableTensorView> from_dlpack(const DLTensor& tensor) {
  BTF_TRY(check_device(tensor.device));
  BTF_ASSIGN(const DType dtype, dtype_of(tensor.dtype));
  BTF_ASSIGN(Dims dims, dims_of(tensor));
  BTF_ASSIGN(Dims strides, strides_of(tensor, dims));
  if (tensor.dtype.lanes > 1) {
    dims.push_back(tensor.dtype.lanes);
    strides.push_back(1);
  }
  auto layout = resolve_strides(dims, strides, dtype);
  if (!layout) return wrong(layout.error().message);
  const std::uint64_t bytes = storage_bytes(*layout, dtype);
  BTF_ASSIGN(std::byte* const data, address_of(tensor, bytes, dtype));
  return MutableTensorView{dtype, *std::move(layout), {data, bytes}};
}

Result<SharedTensor> take_dlpack(dlpack::DLManagedTensor* tensor) {
  if (tensor == nullptr) return wrong("no tensor");
  BTF_ASSIGN(MutableTensorView view, from_dlpack(tensor->dl_tensor));
  return take_ownership(std::move(view), tensor, false);
}

Result<SharedTensor> take_dlpack(dlpack::DLManagedTensorVersioned* tensor) {
  if (tensor == nullptr) return wrong("no tensor");
  // With another major version, only the deleter may be used.
  if (tensor->version.major != dlpack::kMajorVersion)
    return dlpack_unsupported(concat("a tensor of major version ", tensor->version.major));
  const DLTensor& inner = tensor->dl_tensor;
  if ((tensor->flags & dlpack::kFlagSubbytePadded) != 0 && inner.dtype.bits < 8)
    return dlpack_unsupported(concat("elements of ", inner.dtype.bits,
                                     " bits in a byte each; only packed ones are supported"));
  BTF_ASSIGN(MutableTensorView view, from_dlpack(inner));
  return take_ownership(std::move(view), tensor, (tensor->flags & dlpack::kFlagReadOnly) != 0);
}

namespace {

// Export.

struct Shape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::uint16_t lanes = 1;

  bool append(std::uint64_t size, std::uint64_t stride) {
    constexpr auto kMaxInt64 = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (size > kMaxInt64 || stride > kMaxInt64) return false;
    sizes.push_back(static_cast<std::int64_t>(size));
    strides.push_back(static_cast<std::int64_t>(stride));
    return true;
  }
};

// Describes the dims or, since a split dim has no single stride, the stored array, whose innermost
// axis is the lanes.
Result<Shape> describe(const StridedLayout& storage, LaneForm form) {
  Shape shape;
  bool fits = storage.dims.size() < std::numeric_limits<std::int32_t>::max();
  if (!storage.split) {
    for (std::size_t d = 0; d < storage.dims.size(); ++d)
      fits = fits && shape.append(storage.dims[d], storage.strides[d]);
  } else {
    const std::uint64_t lanes = storage.split->lanes;
    const bool as_lanes = form == LaneForm::lanes;
    if (lanes > std::numeric_limits<std::uint16_t>::max() || storage.split->lane_stride != 1)
      return dlpack_unsupported(concat("elements in blocks of ", lanes, " cannot be described"));
    for (const StorageAxis& axis : storage.axes) {
      if (axis.part == AxisPart::lanes) continue;
      if (as_lanes && axis.stride % lanes != 0)
        return dlpack_unsupported("a stride is not a multiple of the lanes");
      fits = fits && shape.append(axis.extent, as_lanes ? axis.stride / lanes : axis.stride);
    }
    if (as_lanes)
      shape.lanes = static_cast<std::uint16_t>(lanes);
    else
      fits = fits && shape.append(lanes, 1);
  }
  if (!fits) return dlpack_unsupported("dims or strides do not fit 63 bits");
  return shape;
}

// A managed tensor and the memory that it points to.
template <typename Managed>
struct Holder {
  Managed managed{};
  Shape shape;
  std::shared_ptr<void> owner;
};

template <typename Managed>
Result<std::unique_ptr<Holder<Managed>>> hold(const SharedTensor& tensor, LaneForm form) {
  BTF_TRY(check_buffer(tensor.bytes.size(), tensor.storage, tensor.dtype));
  auto holder = std::make_unique<Holder<Managed>>();
  BTF_ASSIGN(holder->shape, describe(tensor.storage, form));
  holder->owner = tensor.owner;
  const DTypeInfo& row = info(tensor.dtype);
  const bool empty = tensor.storage.elements() == 0;
  holder->managed.dl_tensor = {.data = empty ? nullptr : tensor.bytes.data(),
                               .device = {dlpack::kDLCPU, 0},
                               .ndim = static_cast<std::int32_t>(holder->shape.sizes.size()),
                               .dtype = {row.dlpack, row.bits, holder->shape.lanes},
                               .shape = holder->shape.sizes.data(),
                               .strides = holder->shape.strides.data(),
                               .byte_offset = 0};
  holder->managed.manager_ctx = holder.get();
  holder->managed.deleter = [](Managed* self) {
    delete static_cast<Holder<Managed>*>(self->manager_ctx);
  };
  return holder;
}

// Passes ownership to the caller of the deleter.
template <typename Managed>
Managed* release(std::unique_ptr<Holder<Managed>> holder) {
  return &holder.release()->managed;
}

}  // namespace

Result<DLManagedTensor*> to_dlpack(const SharedTensor& tensor, LaneForm form) {
  const DTypeInfo& row = info(tensor.dtype);
  if (row.dlpack > dlpack::kDLBool || row.half_byte())
    return dlpack_unsupported(std::string(row.name) + " needs a versioned tensor, of 1.1 or newer");
  if (tensor.read_only)
    return dlpack_unsupported("only a versioned tensor can say that it must not be written");
  BTF_ASSIGN(auto holder, hold<DLManagedTensor>(tensor, form));
  return release(std::move(holder));
}

Result<DLManagedTensorVersioned*> to_dlpack_versioned(const SharedTensor& tensor, LaneForm form,
                                                      bool copied) {
  BTF_ASSIGN(auto holder, hold<DLManagedTensorVersioned>(tensor, form));
  holder->managed.version = {dlpack::kMajorVersion, dlpack::kMinorVersion};
  if (tensor.read_only) holder->managed.flags |= dlpack::kFlagReadOnly;
  if (copied) holder->managed.flags |= dlpack::kFlagIsCopied;
  return release(std::move(holder));
}

}  // namespace btf
