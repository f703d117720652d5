// A whole file: first everything is decided and measured, then the output is created and written.
#include "btf/convert.h"

#include <algorithm>
#include <memory>

#include "btf/output.h"
#include "btf/try.h"
#include "convert/convert_into.h"
#include "convert/loss_limits.h"
#include "convert/quantize/plan.h"
#include "convert/tensor/tensor.h"
#include "elements/parallel.h"
#include "elements/shuffling_sink.h"
#include "formats/format_table.h"
#include "formats/io/byte_sink.h"
#include "formats/zstd/zstd_sink.h"

namespace btf {
namespace {

WriteRequest request_for(const std::string& output, const ConvertOptions& options) {
  return {output, options.spec ? &*options.spec : nullptr, options.as_uint, options.format,
          options.compression.has_value()};
}

Status check_shuffle(const ConvertOptions& options, const FormatRow& format) {
  const bool by_layout = options.layout && spec(*options.layout).shuffled();
  if (!by_layout && !options.shuffle.value_or(false)) return {};
  if (!format.shuffled)
    return fail(ErrorCode::invalid_argument,
                "shuffled elements are for BTF, the output is " + std::string(format.title));
  if (options.plain)
    return fail(ErrorCode::invalid_argument,
                "a plain record is for readers without the extension, which cannot unshuffle it");
  if (!by_layout && options.layout && *options.layout != Layout::linear)
    return fail(ErrorCode::invalid_argument, "shuffled elements are in the order of kLINEAR, not " +
                                                 std::string(spec(*options.layout).name));
  return {};
}

// What the output's format and spec ask for, where the options leave it open.
Result<ConvertOptions> complete(ConvertOptions options, const FormatRow& format) {
  if (options.as_uint && format.name != "npy")
    return fail(ErrorCode::invalid_argument,
                "unsigned integers in place of dtypes without a NumPy name are for .npy only");
  BTF_TRY(check_shuffle(options, format));
  if (!format.shuffled) options.shuffle = false;
  if (format.row_major_only && !options.layout && !options.plain) options.layout = Layout::linear;
  if (!options.spec) return options;
  if (!options.spec->storage)
    return fail(ErrorCode::invalid_argument, "the spec of an output needs dims");
  if (options.plain || options.where_possible || options.quantization.block)
    return fail(ErrorCode::invalid_argument, "the spec of an output leaves nothing to choose");
  const auto agree = [](const auto& given, const auto& wanted) {
    return !given || *given == wanted;
  };
  if (!agree(options.dtype, options.spec->dtype) || !agree(options.layout, options.spec->layout))
    return fail(ErrorCode::invalid_argument,
                "the spec of the output contradicts the dtype or layout that was asked for");
  options.dtype = options.spec->dtype;
  options.layout = options.spec->layout;
  return options;
}

class FileConversion {
 public:
  FileConversion(const TensorFile& input, const MakeSink& make_sink, const ConvertOptions& options,
                 std::unique_ptr<TensorWriter> writer, const TensorReportSink& report)
      : input_(input),
        make_sink_(make_sink),
        options_(options),
        report_(report),
        writer_(std::move(writer)) {}

  Result<std::uint64_t> run() {
    if (options_.compression &&
        (*options_.compression < kLeastCompression || *options_.compression > kGreatestCompression))
      return fail(ErrorCode::invalid_argument,
                  "there is no level " + std::to_string(*options_.compression) + " of compression");
    BTF_TRY(measure());
    BTF_ASSIGN(const std::uint64_t bytes, writer_->total_bytes());
    const bool compressed = options_.compression.has_value();
    // How much is left of it by compressing is not known before.
    BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
               make_sink_({.size = compressed ? 0 : bytes, .sync = options_.sync}));
    if (!compressed) {
      BTF_TRY(write(*gather_small_writes(*file)));
      BTF_TRY(file->commit());
      return bytes;
    }
    const unsigned threads = worker_count(options_.execution, UINT64_MAX, bytes);
    const auto sink = zstd::compressing_sink(*file, {*options_.compression, shuffled_}, threads);
    BTF_TRY(write(*sink));
    BTF_TRY(file->commit());
    return sink->file_bytes();
  }

 private:
  Status write(ByteSink& sink) {
    BTF_TRY(writer_->begin(sink));
    for (const Work& work : work_) BTF_TRY(write_tensor(work, sink));
    BTF_TRY(input_.source().check_unchanged());
    return sink.commit();
  }

  // A tensor of the input that becomes one record, or several when scales are written.
  struct Work {
    std::uint64_t index = 0;  // in the input
    std::uint64_t nnz = 0;    // sparse targets
    // Only where something is scaled; to find the scales the tensor was read.
    std::unique_ptr<QuantizePlan> quantization;
  };

  std::unexpected<Error> about(std::uint64_t index, const Error& error) const {
    return std::unexpected(error.within("tensor " + std::to_string(index)).in_file(input_.path()));
  }

  // The size of every record, so that nothing is written that cannot be finished.
  Status measure() {
    const std::uint64_t count = options_.tensors ? options_.tensors->size() : input_.tensor_count();
    std::vector<std::uint64_t> consumed;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t index = options_.tensors ? (*options_.tensors)[i] : i;
      if (std::ranges::find(consumed, index) != consumed.end()) continue;
      BTF_ASSIGN(const TensorInfo record, input_.tensor(index));
      BTF_TRY(input_.check_overlap(record));
      if (const Status status = measure_tensor(record); !status)
        return about(index, status.error());
      const auto& plan = work_.back().quantization;
      consumed = plan ? plan->consumed : std::vector<std::uint64_t>{};
    }
    return {};
  }

  Status measure_tensor(const TensorInfo& record) {
    BTF_ASSIGN(const ConvertTarget target, choose_target(record, options_));
    shuffled_ = shuffled_ || spec(target.layout).shuffled();
    const TensorConversion conversion{input_.source(), record, target, options_};
    Work work{.index = record.index, .nnz = 0, .quantization = {}};
    if (target.sparse()) {
      BTF_ASSIGN(work.nnz, count_entries(conversion));
    }
    BTF_ASSIGN(const RecordShape shape, record_shape(target, options_, work.nnz));
    BTF_TRY(writer_->add(shape));
    if (options_.quantization.active()) {
      BTF_ASSIGN(QuantizePlan plan, plan_quantization(input_, conversion));
      for (const ScaleRecord& scales : plan.written) BTF_TRY(writer_->add(shape_of(scales)));
      work.quantization = std::make_unique<QuantizePlan>(std::move(plan));
    }
    work_.push_back(std::move(work));
    return {};
  }

  static RecordShape shape_of(const ScaleRecord& scales) {
    return {.dtype = scales.dtype,
            .layout_code = spec(Layout::linear).code(),
            .dims = scales.storage.dims,
            .payload = storage_bytes(scales.storage, scales.dtype)};
  }

  Status write_tensor(const Work& work, ByteSink& sink) {
    BTF_ASSIGN(const TensorInfo record, input_.tensor(work.index));
    const auto target = choose_target(record, options_);
    if (!target) return about(work.index, target.error());
    const TensorConversion conversion{input_.source(), record, *target, options_};
    const auto shape = record_shape(*target, options_, work.nnz);
    if (!shape) return about(work.index, shape.error());
    TensorReport report = describe(work, record, *target, *shape);
    const auto loss = write_data(work, conversion, *shape, sink);
    if (!loss) return about(work.index, loss.error());
    if (const Status kept = check_limits(options_.limits, *loss); !kept)
      return about(work.index, kept.error());
    report.loss = *loss;
    if (loss->noise) report.snr = loss->noise->decibels();
    if (work.quantization) {
      for (const ScaleRecord& scales : work.quantization->written) {
        report.scale_targets.push_back(written_);
        if (const Status status = write_scales(conversion, *work.quantization, scales, sink);
            !status)
          return about(work.index, status.error());
      }
    }
    if (report_) report_(report);
    return {};
  }

  Result<Losses> write_data(const Work& work, const TensorConversion& conversion,
                            const RecordShape& shape, ByteSink& sink) {
    const ConvertTarget& target = conversion.target;
    BTF_ASSIGN(const std::uint64_t payload, writer_->begin_record(sink, shape));
    const std::unique_ptr<ByteSink> shuffling =
        shuffling_sink(sink, payload, shape.payload, target.layout, shape.dtype);
    ByteSink& elements_to = shuffling                        ? *shuffling
                            : writer_->elements() != nullptr ? *writer_->elements()
                                                             : sink;
    Losses loss;
    if (target.sparse()) {
      BTF_ASSIGN(loss, write_coo(conversion, elements_to, payload, work.nnz));
    } else {
      const ElementSource elements = work.quantization
                                         ? scaled_elements(conversion, *work.quantization)
                                         : record_elements(conversion);
      BTF_ASSIGN(loss, write_dense(elements, options_.policy, *target.storage, target.job.to,
                                   options_.execution, elements_to, payload));
    }
    BTF_TRY(end_record(sink));
    return loss;
  }

  Status write_scales(const TensorConversion& conversion, const QuantizePlan& plan,
                      const ScaleRecord& scales, ByteSink& sink) {
    BTF_ASSIGN(const std::uint64_t payload, writer_->begin_record(sink, shape_of(scales)));
    BTF_TRY(write_dense(scale_elements(conversion, plan, scales), {}, scales.storage, scales.dtype,
                        options_.execution, sink, payload));
    return end_record(sink);
  }

  Status end_record(ByteSink& sink) {
    ++written_;
    return writer_->end_record(sink);
  }

  TensorReport describe(const Work& work, const TensorInfo& record, const ConvertTarget& target,
                        const RecordShape& shape) const {
    TensorReport report{.source = record.index,
                        .target = written_,
                        .source_dtype = *record.dtype,
                        .target_dtype = target.job.to,
                        .source_layout = *record.layout,
                        .target_layout = target.layout,
                        .source_dims = record.dims,
                        .target_dims = target.dims,
                        .data_bytes = writer_->data_bytes(shape),
                        .nnz = {},
                        .loss = {},
                        .snr = {},
                        .scales = {},
                        .zero_points = {},
                        .scale_targets = {},
                        .kept = target.kept,
                        .objections = target.objections};
    if (target.sparse()) {
      report.nnz = work.nnz;
    } else if (options_.plain) {
      report.target_layout = Layout::linear;
      report.target_dims = shape.dims;
    }
    const QuantizePlan* plan = work.quantization.get();
    if (plan != nullptr && plan->scaling != Scaling::none &&
        (plan->scales.blocks == nullptr || plan->scales.blocks->tensor_scale))
      report.scales = plan->scales.values;
    if (plan != nullptr) report.zero_points = plan->scales.zero_points;
    return report;
  }

  const TensorFile& input_;
  const MakeSink& make_sink_;
  const ConvertOptions& options_;
  const TensorReportSink& report_;
  std::vector<Work> work_;
  std::unique_ptr<TensorWriter> writer_;
  std::uint64_t written_ = 0;  // records of the output
  bool shuffled_ = false;      // one of them at least
};

}  // namespace

Result<std::string_view> output_format(const std::string& output, const ConvertOptions& options) {
  BTF_ASSIGN(const FormatRow* const format, format_to_write(request_for(output, options)));
  return format->name;
}

Result<std::uint64_t> convert(const TensorFile& input, const std::string& output_or_directory,
                              const ConvertOptions& options, const TensorReportSink& report) {
  BTF_ASSIGN(const std::string output, output_path(output_or_directory, input.path()));
  BTF_TRY(check_output(output));
  const auto create = [&](const SinkOptions& sink) { return create_sink(output, sink); };
  return convert_into(input, output, create, options, report);
}

Result<std::uint64_t> convert_into(const TensorFile& input, const std::string& name,
                                   const MakeSink& make_sink, const ConvertOptions& options,
                                   const TensorReportSink& report) {
  BTF_ASSIGN(const FormatRow* const format, format_to_write(request_for(name, options)));
  BTF_ASSIGN(const ConvertOptions complete_options, complete(options, *format));
  return FileConversion(input, make_sink, complete_options,
                        format->writer(request_for(name, complete_options)), report)
      .run();
}

}  // namespace btf
