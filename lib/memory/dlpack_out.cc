// Tensors for other libraries.
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "btf/dlpack.h"
#include "btf/try.h"
#include "core/strided.h"
#include "memory/dlpack_unsupported.h"

namespace btf {
namespace {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;

struct Shape {
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::uint16_t lanes = 1;

  bool append(std::uint64_t size, std::uint64_t stride) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (size > kMost || stride > kMost) return false;
    sizes.push_back(static_cast<std::int64_t>(size));
    strides.push_back(static_cast<std::int64_t>(stride));
    return true;
  }
};

// A split dim has no single stride: the stored array is described instead, whose lanes are its
// innermost axis.
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
      return dlpack_unsupported("elements in blocks of " + std::to_string(lanes) +
                                " cannot be described");
    for (const StorageAxis& axis : storage.axes) {
      if (axis.part == AxisPart::lanes) continue;
      if (as_lanes && axis.stride % lanes != 0)
        return dlpack_unsupported("a stride is no multiple of the lanes");
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

// The holder belongs to who calls the deleter.
template <typename Managed>
Managed* release(std::unique_ptr<Holder<Managed>> holder) {
  return &holder.release()->managed;
}

}  // namespace

Result<DLManagedTensor*> to_dlpack(const SharedTensor& tensor, LaneForm form) {
  const DTypeInfo& row = info(tensor.dtype);
  if (row.dlpack > dlpack::kDLBool || row.bits < 8)
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
