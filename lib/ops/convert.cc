// A whole file: first everything is decided and measured, then the output is created and written.
#include "btf/convert.h"

#include <algorithm>
#include <numeric>

#include "core/checked_math.h"
#include "core/try.h"
#include "formats/btf_wire.h"
#include "formats/btf_writer.h"
#include "formats/byte_sink.h"
#include "ops/convert_tensor.h"

namespace btf {
namespace {

class FileConversion {
 public:
  FileConversion(const TensorFile& input, const std::string& output, const ConvertOptions& options,
                 const TensorReportSink& report)
      : input_(input), output_(output), options_(options), report_(report) {}

  Result<std::uint64_t> run() {
    BTF_TRY(measure());
    BTF_ASSIGN(const std::uint64_t bytes, total_bytes());
    BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
               create_sink(output_, {.size = bytes, .sync = options_.sync}));
    const std::unique_ptr<ByteSink> sink = gather_small_writes(*file);
    BTF_TRY(write_offset_table(*sink, records_));
    std::uint64_t offset = (records_.size() + 1) * wire::kWord;
    for (std::size_t i = 0; i < records_.size(); ++i) {
      BTF_TRY(write_tensor(i, *sink, offset));
      offset += records_[i];
    }
    BTF_TRY(input_.source().check_unchanged());
    BTF_TRY(sink->commit());
    BTF_TRY(file->commit());
    return bytes;
  }

 private:
  std::uint64_t count() const {
    return options_.tensors ? options_.tensors->size() : input_.tensor_count();
  }

  std::uint64_t source_index(std::uint64_t i) const {
    return options_.tensors ? (*options_.tensors)[i] : i;
  }

  std::unexpected<Error> about(std::uint64_t index, const Error& error) const {
    return std::unexpected(
        error.within("tensor " + std::to_string(index)).in_file(input_.path()));
  }

  // The size of every record, so that nothing is written that cannot be finished.
  Status measure() {
    for (std::uint64_t i = 0; i < count(); ++i) {
      const std::uint64_t index = source_index(i);
      BTF_ASSIGN(const TensorInfo record, input_.tensor(index));
      BTF_TRY(input_.check_overlap(index));
      const auto size = measure_tensor(record);
      if (!size) return about(index, size.error());
      records_.push_back(*size);
    }
    return {};
  }

  Result<std::uint64_t> measure_tensor(const TensorInfo& record) {
    BTF_ASSIGN(const ConvertTarget target, choose_target(record, options_));
    std::uint64_t nnz = 0;
    if (target.sparse()) {
      BTF_ASSIGN(nnz, count_entries({input_.source(), record, target, options_}));
      nnz_.resize(records_.size() + 1);
      nnz_.back() = nnz;
    }
    const std::size_t rank = record_shape(target, options_).dims.size();
    const Checked bytes = record_bytes(rank, payload_bytes(target, nnz));
    if (!bytes) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *bytes;
  }

  Result<std::uint64_t> total_bytes() const {
    Checked total = (records_.size() + 1) * wire::kWord;
    for (const std::uint64_t record : records_) total = checked_add(total, record);
    if (!total) return fail(ErrorCode::no_space, "the size of the result does not fit 64 bits");
    return *total;
  }

  Status write_tensor(std::size_t i, ByteSink& sink, std::uint64_t offset) {
    const std::uint64_t index = source_index(i);
    BTF_ASSIGN(const TensorInfo record, input_.tensor(index));
    const auto target = choose_target(record, options_);
    if (!target) return about(index, target.error());
    BTF_ASSIGN(const std::uint64_t payload,
               write_record_header(sink, offset, record_shape(*target, options_)));
    const TensorConversion work{input_.source(), record, *target, options_};
    const std::uint64_t nnz = target->sparse() ? nnz_[i] : 0;
    const auto loss = target->sparse() ? write_coo(work, sink, payload, nnz)
                                       : write_dense(work, sink, payload);
    if (!loss) return about(index, loss.error());
    const std::uint64_t bytes = *payload_bytes(*target, nnz);
    BTF_TRY(write_padding(sink, payload + bytes));
    if (report_) report_(describe(i, record, *target, bytes, *loss));
    return {};
  }

  TensorReport describe(std::size_t i, const TensorInfo& record, const ConvertTarget& target,
                        std::uint64_t bytes, const LossAccount& loss) const {
    TensorReport report{.source = record.index,
                        .target = i,
                        .source_dtype = *record.dtype,
                        .target_dtype = target.job.to,
                        .source_layout = *record.layout,
                        .target_layout = target.layout,
                        .source_dims = record.dims,
                        .target_dims = target.dims,
                        .data_bytes = bytes,
                        .nnz = {},
                        .loss = loss,
                        .kept = target.kept,
                        .objection = target.objection};
    if (target.sparse()) report.nnz = nnz_[i];
    return report;
  }

  const TensorFile& input_;
  const std::string& output_;
  const ConvertOptions& options_;
  const TensorReportSink& report_;
  std::vector<std::uint64_t> records_;  // bytes of each
  std::vector<std::uint64_t> nnz_;      // of sparse targets; may be shorter than records_
};

}  // namespace

Result<std::uint64_t> convert(const TensorFile& input, const std::string& output,
                              const ConvertOptions& options, const TensorReportSink& report) {
  return FileConversion(input, output, options, report).run();
}

}  // namespace btf
