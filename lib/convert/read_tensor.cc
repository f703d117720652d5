#include <memory>
#include <new>
#include <string>

#include "btf/read.h"
#include "btf/try.h"
#include "convert/tensor/tensor.h"
#include "elements/element_access.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

// DLPack asks for as much as CUDA's allocator gives.
constexpr std::align_val_t kAlignment{256};

Result<std::shared_ptr<std::byte>> allocate(std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr)
    return fail(ErrorCode::no_space, "no memory for " + std::to_string(bytes) + " bytes");
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                    [](std::byte* at) { ::operator delete(at, kAlignment); });
}

ConvertOptions convert_options(const ReadOptions& options) {
  ConvertOptions convert;
  convert.dtype = options.dtype;
  convert.layout = options.layout;
  convert.policy = options.policy;
  convert.duplicates = options.duplicates;
  convert.execution = options.execution;
  return convert;
}

Result<LossAccount> read_into(const TensorFile& file, const TensorInfo& tensor,
                              const MutableTensorView& target, const ReadOptions& options) {
  BTF_TRY(check_known(tensor));
  if (tensor.dims != target.storage.dims)
    return fail(ErrorCode::invalid_argument, "the tensor has dims " + dims_text(tensor.dims) +
                                                 ", the target " + dims_text(target.storage.dims));
  BTF_TRY(file.check_overlap(tensor));
  BTF_TRY(check_policy(*tensor.dtype, target.dtype, options.policy));
  const ConvertTarget to{.job = {*tensor.dtype, target.dtype, options.policy},
                         .layout = Layout::linear,
                         .edits = {},
                         .dims = tensor.dims,
                         .storage = target.storage,
                         .kept = {},
                         .objections = {}};
  const ConvertOptions convert = convert_options(options);
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  const ElementSource elements = record_elements({*source, tensor, to, convert});
  BTF_ASSIGN(const LossAccount loss,
             write_memory(elements, options.policy, target, options.execution));
  BTF_TRY(file.check_unchanged());
  return loss;
}

}  // namespace

Result<ReadShape> read_shape(const TensorInfo& tensor, const ReadOptions& options) {
  ConvertOptions convert = convert_options(options);
  if (tensor.coo && !convert.layout) convert.layout = Layout::linear;
  if (convert.layout && spec(*convert.layout).shuffled())
    return fail(ErrorCode::unsupported, "elements in memory are whole: shuffled is for files");
  convert.shuffle = false;
  BTF_ASSIGN(ConvertTarget target, choose_target(tensor, convert));
  if (target.sparse())
    return fail(ErrorCode::unsupported, "a tensor in memory is dense: COO is for files");
  return ReadShape{target.job.to, target.layout, *std::move(target.storage)};
}

Result<LossAccount> read_tensor_into(const TensorFile& file, const TensorInfo& tensor,
                                     const MutableTensorView& target, const ReadOptions& options) {
  auto loss = read_into(file, tensor, target, options);
  if (!loss) return std::unexpected(file.about(tensor.index, loss.error()));
  return loss;
}

Result<LoadedTensor> read_tensor(const TensorFile& file, const TensorInfo& tensor,
                                 const ReadOptions& options) {
  auto shape = read_shape(tensor, options);
  if (!shape) return std::unexpected(file.about(tensor.index, shape.error()));
  const std::uint64_t bytes = storage_bytes(shape->storage, shape->dtype);
  const auto memory = allocate(bytes);
  if (!memory) return std::unexpected(file.about(tensor.index, memory.error()));
  LoadedTensor loaded{.tensor = {.dtype = shape->dtype,
                                 .storage = std::move(shape->storage),
                                 .bytes = {memory->get(), bytes},
                                 .owner = *memory},
                      .layout = shape->layout,
                      .loss = {}};
  BTF_ASSIGN(loaded.loss, read_tensor_into(file, tensor, loaded.tensor.mutable_view(), options));
  return loaded;
}

}  // namespace btf
