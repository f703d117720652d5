// Opening, listing, reading.
#include <memory>

#include "btf/dlpack.h"
#include "btf/read.h"
#include "btf/try.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

Result<ReadOptions> read_options(const btf_read_options* from) {
  BTF_ASSIGN(const btf_read_options options, given(from));
  return common_options<ReadOptions>(options);
}

struct Request {
  const TensorInfo* tensor;
  ReadOptions options;
  ReadShape shape;

  std::uint64_t bytes() const { return storage_bytes(shape.storage, shape.dtype); }
};

Result<Request> request(btf_file& file, std::uint64_t index, const btf_read_options* from) {
  BTF_ASSIGN(const TensorInfo* const tensor, file.tensor(index));
  BTF_ASSIGN(ReadOptions options, read_options(from));
  auto shape = read_shape(*tensor, options);
  if (!shape) return std::unexpected(file.file.about(index, shape.error()));
  return Request{tensor, std::move(options), *std::move(shape)};
}

Status read(btf_file& file, const Request& what, void* buffer, std::uint64_t bytes,
            btf_loss* loss) {
  if (bytes < what.bytes())
    return wrong("the buffer has " + std::to_string(bytes) + " bytes, " +
                 std::to_string(what.bytes()) + " are needed");
  if (buffer == nullptr && what.bytes() > 0) return wrong("no buffer");
  if (reinterpret_cast<std::uintptr_t>(buffer) % info(what.shape.dtype).buffer_bytes() != 0)
    return wrong("the buffer is not aligned to its elements");
  const MutableTensorView target{
      what.shape.dtype, what.shape.storage, {static_cast<std::byte*>(buffer), what.bytes()}};
  BTF_ASSIGN(const LossAccount account,
             read_tensor_into(file.file, *what.tensor, target, what.options));
  return give_loss(loss, account);
}

Status copy_strides(const StridedLayout& storage, std::uint64_t* strides, std::size_t capacity) {
  if (storage.split) return fail(ErrorCode::unsupported, "a layout with blocks has no strides");
  if (capacity < storage.strides.size())
    return wrong("room for " + std::to_string(capacity) + " strides, there are " +
                 std::to_string(storage.strides.size()));
  if (strides == nullptr && !storage.strides.empty()) return wrong("no room for the strides");
  std::ranges::copy(storage.strides, strides);
  return {};
}

template <typename Managed, typename Export>
btf_status read_managed(btf_file* file, std::uint64_t index, const btf_read_options* options,
                        Managed** tensor, Export&& to_managed) noexcept {
  if (tensor != nullptr) *tensor = nullptr;
  return with_handle(file, [&]() -> Status {
    if (tensor == nullptr) return wrong("no room for the tensor");
    BTF_ASSIGN(const Request what, request(*file, index, options));
    BTF_ASSIGN(const LoadedTensor loaded, read_tensor(file->file, *what.tensor, what.options));
    BTF_ASSIGN(auto* const managed, to_managed(loaded.tensor));
    *tensor = reinterpret_cast<Managed*>(managed);
    return {};
  });
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_file* btf_open(const char* path) {
  btf_file* opened = nullptr;
  guarded(nullptr, [&]() -> btf::Status {
    if (path == nullptr) return wrong("no path");
    BTF_ASSIGN(btf::TensorFile file, btf::TensorFile::open(path));
    opened = new btf_file(std::move(file));
    return {};
  });
  return opened;
}

void btf_close(btf_file* file) { delete file; }

const char* btf_file_error(const btf_file* file) {
  return file == nullptr ? "" : file->error.c_str();
}

// The names in the format table are literals.
const char* btf_format(const btf_file* file) {
  return file == nullptr ? "" : file->file.format().data();
}

uint64_t btf_count(const btf_file* file) { return file == nullptr ? 0 : file->file.tensor_count(); }

btf_status btf_info(btf_file* file, uint64_t index, btf_tensor_info* info) {
  return with_handle(file, [&]() -> btf::Status {
    if (info == nullptr) return wrong("no room for the information");
    BTF_ASSIGN(const btf::TensorInfo* const tensor, file->tensor(index));
    return give(info, {.size = 0,
                       .name = tensor->named ? tensor->name.c_str() : "",
                       .dtype = name_of(tensor->dtype),
                       .layout = name_of(tensor->layout),
                       .rank = tensor->dims.size(),
                       .dims = tensor->dims.data(),
                       .bytes = tensor->data_bytes,
                       .nnz = tensor->coo ? tensor->coo->nnz : 0});
  });
}

btf_status btf_read_size(btf_file* file, uint64_t index, const btf_read_options* options,
                         uint64_t* bytes) {
  return with_handle(file, [&]() -> btf::Status {
    if (bytes == nullptr) return wrong("no room for the size");
    BTF_ASSIGN(const Request what, request(*file, index, options));
    *bytes = what.bytes();
    return {};
  });
}

btf_status btf_read_strides(btf_file* file, uint64_t index, const btf_read_options* options,
                            uint64_t* strides, size_t capacity) {
  return with_handle(file, [&]() -> btf::Status {
    BTF_ASSIGN(const Request what, request(*file, index, options));
    return copy_strides(what.shape.storage, strides, capacity);
  });
}

btf_status btf_read(btf_file* file, uint64_t index, const btf_read_options* options, void* buffer,
                    uint64_t bytes, btf_loss* loss) {
  return with_handle(file, [&]() -> btf::Status {
    BTF_TRY(can_give(loss));
    BTF_ASSIGN(const Request what, request(*file, index, options));
    return read(*file, what, buffer, bytes, loss);
  });
}

btf_status btf_read_dlpack(btf_file* file, uint64_t index, const btf_read_options* options,
                           DLManagedTensor** tensor) {
  return read_managed(file, index, options, tensor,
                      [](const btf::SharedTensor& loaded) { return btf::to_dlpack(loaded); });
}

btf_status btf_read_dlpack_versioned(btf_file* file, uint64_t index,
                                     const btf_read_options* options,
                                     DLManagedTensorVersioned** tensor) {
  return read_managed(file, index, options, tensor, [](const btf::SharedTensor& loaded) {
    return btf::to_dlpack_versioned(loaded, btf::LaneForm::lanes, true);
  });
}
}
