// Tensors read into memory and written from it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "btf/read.h"
#include "btf/try.h"
#include "btf/write.h"
#include "convert/tensor/target.h"
#include "core/errors.h"
#include "core/layout.h"
#include "elements/cast.h"
#include "elements/elements.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/tensor_file.h"

namespace btf {
namespace {

// DLPack recommends the alignment of CUDA's allocator.
constexpr std::align_val_t kAlignment{256};

Result<std::shared_ptr<std::byte>> allocate(std::uint64_t bytes) {
  if (bytes == 0) return nullptr;
  void* memory = ::operator new(bytes, kAlignment, std::nothrow);
  if (memory == nullptr)
    return system_failure(ErrorCode::no_space, ENOMEM, concat("no memory for ", bytes, " bytes"));
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                    [](std::byte* at) { ::operator delete(at, kAlignment); });
}

std::unexpected<Error> bad_range(std::size_t dim, const std::string& what) {
  return fail(ErrorCode::invalid_argument, "region, dim ", dim, ": ", what);
}

Result<SliceRange> slice_range(const DimRange& range, std::size_t dim, std::uint64_t size) {
  constexpr std::uint64_t kMaxSize = INT64_MAX;
  const std::uint64_t end = range.end.value_or(size);
  if (range.step == 0) return bad_range(dim, "the step is 0");
  if (range.begin > end)
    return bad_range(dim, concat("begin ", range.begin, " is beyond end ", end));
  if (end > size) return bad_range(dim, concat("end ", end, " is beyond its size ", size));
  if (size > kMaxSize) return bad_range(dim, "a size of 2^63 and more is not supported");
  return SliceRange{static_cast<std::int64_t>(range.begin), static_cast<std::int64_t>(end),
                    static_cast<std::int64_t>(std::min(range.step, kMaxSize))};
}

Result<std::vector<Edit>> region_edits(const Dims& dims, const std::vector<DimRange>& region) {
  if (region.empty()) return std::vector<Edit>();
  if (region.size() != dims.size())
    return fail(ErrorCode::invalid_argument, "the region has ", region.size(),
                " dims, the tensor has rank ", dims.size());
  Slice slice;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    BTF_ASSIGN(const SliceRange range, slice_range(region[d], d, dims[d]));
    slice.parts.emplace_back(range);
  }
  return std::vector<Edit>{std::move(slice)};
}

Result<ConvertOptions> convert_options(const TensorInfo& tensor, const ReadOptions& options) {
  ConvertOptions convert;
  BTF_ASSIGN(convert.edits, region_edits(tensor.dims, options.region));
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
  BTF_ASSIGN(const ConvertOptions convert, convert_options(tensor, options));
  BTF_ASSIGN(EditChain edits, EditChain::make(tensor.dims, convert.edits));
  const Dims& dims = edits.empty() ? tensor.dims : edits.steps().back().to;
  if (dims != target.storage.dims)
    return fail(ErrorCode::invalid_argument,
                std::string(options.region.empty() ? "the tensor" : "the region") + " has dims " +
                    dims_text(dims) + ", the target " + dims_text(target.storage.dims));
  BTF_TRY(file.check_overlap(tensor));
  BTF_TRY(check_policy(*tensor.dtype, target.dtype, options.policy));
  const ConvertTarget to{.job = {*tensor.dtype, target.dtype, options.policy},
                         .layout = Layout::linear,
                         .edits = std::move(edits),
                         .dims = target.storage.dims,
                         .storage = target.storage,
                         .kept = {},
                         .objections = {}};
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  const ElementSource elements = record_elements({*source, tensor, to, convert});
  BTF_ASSIGN(const LossAccount loss,
             write_memory(elements, options.policy, target, options.execution));
  BTF_TRY(file.check_unchanged());
  return loss;
}

}  // namespace

Result<ReadShape> read_shape(const TensorInfo& tensor, const ReadOptions& options) {
  BTF_TRY(check_known(tensor));
  BTF_ASSIGN(ConvertOptions convert, convert_options(tensor, options));
  if (tensor.coo && !convert.layout) convert.layout = Layout::linear;
  if (convert.layout && spec(*convert.layout).shuffled())
    return fail(ErrorCode::unsupported, "the shuffled layout exists only in files, not in memory");
  convert.shuffle = false;
  BTF_ASSIGN(ConvertTarget target, choose_target(tensor, convert));
  if (target.sparse())
    return fail(ErrorCode::unsupported, "a tensor in memory is dense: COO exists only in files");
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

namespace {

struct PlannedTensor {
  const TensorView& source;
  DType dtype{};
  Layout layout{};
  StridedLayout storage;
  RecordShape record;
};

Result<PlannedTensor> plan(const TensorToWrite& tensor, const FormatRow& format,
                           const WriteOptions& options) {
  const TensorView& view = tensor.tensor;
  const DType dtype = tensor.dtype.value_or(view.dtype);
  BTF_TRY(check_buffer(view.bytes.size(), view.storage, view.dtype));
  BTF_TRY(check_policy(view.dtype, dtype, options.policy));
  if (spec(tensor.layout).shuffled() && !format.has(kShuffled))
    return fail(ErrorCode::invalid_argument,
                "shuffled elements are for BTF, the output is " + std::string(format.title));
  BTF_ASSIGN(StridedLayout storage, resolve(tensor.layout, view.storage.dims, dtype));
  RecordShape record{.dtype = dtype,
                     .layout_code = spec(tensor.layout).code(),
                     .dims = view.storage.dims,
                     .payload = storage_bytes(storage, dtype),
                     .name = tensor.name,
                     .named = !tensor.name.empty()};
  return PlannedTensor{view, dtype, tensor.layout, std::move(storage), std::move(record)};
}

Status write_one(const PlannedTensor& work, const WriteOptions& options, TensorWriter& writer,
                 ByteSink& sink) {
  BTF_ASSIGN(const std::uint64_t payload, writer.begin_record(sink, work.record));
  const std::unique_ptr<ByteSink> shuffling =
      shuffling_sink(sink, payload, work.record.payload, work.layout, work.dtype);
  ByteSink& elements_to = shuffling                      ? *shuffling
                          : writer.elements() != nullptr ? *writer.elements()
                                                         : sink;
  BTF_TRY(write_dense(memory_elements(work.source), options.policy, work.storage, work.dtype,
                      options.execution, elements_to, payload));
  return writer.end_record(sink);
}

}  // namespace

Result<std::uint64_t> write_tensors(const std::string& output,
                                    std::span<const TensorToWrite> tensors,
                                    const WriteOptions& options) {
  const WriteRequest request{.path = output, .format = options.format};
  BTF_ASSIGN(const FormatRow* const format, format_to_write(request));
  const std::unique_ptr<TensorWriter> writer = format->writer(request);
  std::vector<PlannedTensor> works;
  works.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    auto work = plan(tensors[i], *format, options);
    if (!work) return std::unexpected(work.error().of_tensor(i));
    BTF_TRY(writer->add(work->record));
    works.push_back(*std::move(work));
  }
  BTF_ASSIGN(const std::uint64_t bytes, writer->total_bytes());
  BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
             create_sink(output, {.size = bytes, .sync = options.sync}));
  const std::unique_ptr<ByteSink> sink = buffer_small_writes(*file);
  BTF_TRY(writer->begin(*sink));
  for (const std::size_t i : writer->order())
    if (const Status status = write_one(works[i], options, *writer, *sink); !status)
      return std::unexpected(status.error().of_tensor(i));
  BTF_TRY(writer->end(*sink));
  BTF_TRY(sink->commit());
  BTF_TRY(file->commit());
  return writer->total_bytes();
}

}  // namespace btf
