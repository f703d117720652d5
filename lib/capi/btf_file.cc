// Opening, listing, reading.
#include <iterator>
#include <map>
#include <memory>
#include <string>

#include "btf/dlpack.h"
#include "btf/read.h"
#include "btf/try.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

Result<ReadOptions> read_options(const btf_read_options* from) {
  BTF_ASSIGN(const btf_read_options options, given(from));
  BTF_ASSIGN(ReadOptions read, common_options<ReadOptions>(options));
  if (options.region_rank == 0 && (options.begin || options.end || options.step))
    return wrong("a region without a rank");
  if (options.region_rank > kMaxRank) return wrong("no tensor has the rank of the region");
  read.region.resize(options.region_rank);
  for (std::size_t d = 0; d < options.region_rank; ++d) {
    DimRange& range = read.region[d];
    if (options.begin != nullptr) range.begin = options.begin[d];
    if (options.end != nullptr) range.end = options.end[d];
    if (options.step != nullptr) range.step = options.step[d];
  }
  return read;
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

Result<std::uint64_t> find(btf_file& file, const std::string& name) {
  if (!file.numbers) {
    std::multimap<std::string, std::uint64_t> numbers;
    for (std::uint64_t i = 0; i < file.file.tensor_count(); ++i) {
      BTF_ASSIGN(const std::string one, file.file.name(i));
      // As btf_name() gives it: a C string ends at a NUL, and what is then the same is ambiguous.
      numbers.emplace(one.c_str(), i);
    }
    file.numbers = std::move(numbers);
  }
  const auto [first, last] = file.numbers->equal_range(name);
  const auto about = [&](const std::string& what) {
    return std::unexpected(wrong(what).error().in_file(file.file.path()));
  };
  if (first == last) return about("there is no tensor '" + name + "'");
  if (std::next(first) != last)
    return about("tensors " + std::to_string(first->second) + " and " +
                 std::to_string(std::next(first)->second) + " are called '" + name + "'");
  return first->second;
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
    opened = new btf_file(std::make_shared<const btf::TensorFile>(std::move(file)));
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

const char* btf_name(btf_file* file, uint64_t index) {
  const char* name = nullptr;
  with_handle(file, [&]() -> btf::Status {
    BTF_ASSIGN(std::string found, file->file.name(index));
    name = file->names.try_emplace(index, std::move(found)).first->second.c_str();
    return {};
  });
  return name;
}

btf_status btf_find(btf_file* file, const char* name, uint64_t* index) {
  return with_handle(file, [&]() -> btf::Status {
    if (name == nullptr) return wrong("no name");
    if (index == nullptr) return wrong("no room for the number");
    BTF_ASSIGN(*index, find(*file, name));
    return {};
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
