#include <memory>
#include <vector>

#include "btf/try.h"
#include "btf/write.h"
#include "convert/tensor/tensor.h"
#include "core/strided.h"
#include "elements/shuffling_sink.h"
#include "formats/find_format.h"
#include "formats/io/byte_sink.h"

namespace btf {
namespace {

struct Work {
  const TensorView& source;
  DType dtype{};
  Layout layout{};
  StridedLayout storage;
  RecordShape record;
};

Result<Work> plan(const TensorToWrite& tensor, const FormatRow& format,
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
  return Work{view, dtype, tensor.layout, std::move(storage), std::move(record)};
}

Status write_one(const Work& work, const WriteOptions& options, TensorWriter& writer,
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
  std::vector<Work> works;
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
  const std::unique_ptr<ByteSink> sink = gather_small_writes(*file);
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
