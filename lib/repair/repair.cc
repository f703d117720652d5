#include "btf/repair.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "btf/output.h"
#include "btf/try.h"
#include "convert/tensor/tensor.h"
#include "core/finding_table.h"
#include "elements/parallel.h"
#include "elements/shuffling_sink.h"
#include "formats/btf/reader.h"
#include "formats/btf/writer.h"
#include "formats/find_format.h"
#include "formats/io/byte_sink.h"
#include "formats/io/output_place.h"
#include "formats/open_source.h"
#include "formats/zstd/zstd_sink.h"
#include "formats/zstd/zstd_wire.h"
#include "inspect/payload_check.h"
#include "repair/find_records.h"
#include "repair/repair_into.h"
#include "repair/salvage_frames.h"

namespace btf {
namespace {

using State = SalvagedRecord::State;

// A record that is saved.
struct Kept {
  std::uint64_t source = 0;  // index in the input
  EntryCounts entries{};     // sparse ones, as it will be written
};

class Repair {
 public:
  Repair(const std::string& input, std::unique_ptr<ByteSource> bytes, const RepairOptions& options,
         const RepairReport& report)
      : input_(input),
        source_(std::move(bytes)),
        options_(options),
        conversion_(conversion(options)),
        report_(report) {}

  Result<RepairSummary> run(const MakeSink& make_sink) {
    BTF_TRY(open());
    auto salvage = BtfSalvage::find(*source_);
    if (!salvage && salvage.error().finding.empty()) return std::unexpected(salvage.error());
    if (!salvage) {
      // If everything is lost, the frames have said so.
      if (source_->size() > 0 || summary_.lost_frames == 0) tell(salvage.error());
      return summary_;
    }
    BTF_TRY(look_through(*salvage));
    if (kept_.empty() && (summary_.tensors > 0 || source_->size() > kEmptyFile)) return summary_;
    summary_.saved = kept_.size();
    BTF_ASSIGN(summary_.bytes, write(*salvage, make_sink));
    return summary_;
  }

 private:
  static constexpr std::uint64_t kEmptyFile = 8;  // without a tensor

  Status open() {
    std::array<std::byte, zstd::kMagicBytes> start{};
    if (source_->size() >= start.size()) BTF_TRY(source_->read_at(0, start));
    if (zstd::recognizes(start)) {
      BTF_ASSIGN(auto content, zstd::salvage(input_, std::move(source_),
                                             {.cut_frame = options_.unchecked,
                                              .execution = &options_.execution}));
      summary_.frames = content->frames();
      summary_.lost_frames = content->lost_frames();
      for (const Error& error : content->damage()) tell(error);
      content_ = content.get();
      source_ = std::move(content);
    }
    // A damaged beginning is no reason to give up.
    const auto format = recognize_format(*source_, {input_, OpenOptions{}});
    if (!format && format.error().code != ErrorCode::malformed)
      return std::unexpected(format.error());
    if (format && !(*format)->has(kBtfCodes))
      return fail(ErrorCode::unsupported,
                  "is " + std::string((*format)->title) + "; only BTF can be repaired");
    return {};
  }

  Status look_through(const BtfSalvage& salvage) {
    const auto& records = salvage.records();
    summary_.tensors = records.size();
    if (salvage.stated_count() != records.size())
      tell({Severity::error,
            FindingCode("tensor-count"),
            {},
            0,
            salvage.stated_count()
                ? "the count of tensors is " + std::to_string(*salvage.stated_count()) +
                      ", the offset table has " + std::to_string(records.size()) + " entries"
                : "the count of tensors is lost; the offset table has " +
                      std::to_string(records.size()) + " entries"});
    if (records.empty() && source_->size() > kEmptyFile)
      tell({Severity::error,
            FindingCode("tensor-count"),
            {},
            0,
            "the count of tensors is 0, but " + std::to_string(source_->size() - kEmptyFile) +
                " bytes follow"});
    for (std::uint64_t i = 0; i < records.size(); ++i) {
      BTF_TRY(check_cancelled(options_.execution));
      std::optional<Error> fault;
      const bool doubtful = records[i].state == State::in_doubt;
      if (records[i].state != State::sound) fault = salvage.fault(i);
      const bool readable =
          records[i].state == State::sound || (doubtful && !options_.strict && !records[i].blank);
      if (readable) {
        BTF_ASSIGN(const std::optional<Error> bad, read_payload(salvage, i));
        if (bad) fault = bad;
        take(i, records[i], fault, !bad);
      } else {
        take(i, records[i], fault, false);
      }
    }
    return {};
  }

  // The fault of a payload that cannot be saved.
  Result<std::optional<Error>> read_payload(const BtfSalvage& salvage, std::uint64_t index) {
    BTF_ASSIGN(TensorInfo record, salvage.tensor(index));
    record.index = index;
    std::optional<Error> bad;
    const auto judge = [&](const Finding& finding) {
      const bool duplicate =
          finding.code == "coo-duplicate-index" && options_.duplicates == Duplicates::error;
      if (!bad && (duplicate || finding.severity == Severity::error))
        bad = Error{ErrorCode::malformed, finding.message, {}, finding.code, finding.offset};
    };
    // A file that is not compressed has all its bytes.
    if (content_ != nullptr)
      BTF_TRY(recoverable(content_->whole(record.data_offset, record.data_bytes), bad));
    if (!bad) BTF_TRY(recoverable(check_payload(*source_, record, judge, options_.execution), bad));
    return bad;
  }

  // A violation of the format is the record's fault, anything else is trouble.
  static Status recoverable(const Status& status, std::optional<Error>& bad) {
    if (status || status.error().code != ErrorCode::malformed) return status;
    bad = status.error();
    return {};
  }

  void take(std::uint64_t index, const SalvagedRecord& record, const std::optional<Error>& fault,
            bool saved) {
    RepairedTensor tensor{
        .source = index, .target = {}, .followed = record.followed, .finding = {}};
    if (saved) tensor.target = kept_.size();
    if (saved) kept_.push_back({.source = index});
    if (saved && fault) ++summary_.in_doubt;
    if (saved && record.followed) ++summary_.followed;
    if (!report_.tensor || !(fault || record.followed)) return;
    tensor.finding = {saved ? Severity::warning : Severity::error, FindingCode("offset-wrong"),
                      index, record.begin,
                      "its offset in the table is wrong; it was found behind the record before it"};
    if (fault) {
      tensor.finding.code = fault->finding;
      tensor.finding.offset = fault->offset;
      tensor.finding.message = fault->message;
    }
    report_.tensor(tensor);
  }

  void tell(const Error& error) {
    tell(Finding{Severity::error, error.finding, {}, error.offset, error.message});
  }
  void tell(const Finding& finding) {
    if (report_.file) report_.file(finding);
  }

  // As convert() writes a BTF file.
  Result<std::uint64_t> write(const BtfSalvage& salvage, const MakeSink& make_sink) {
    const std::unique_ptr<TensorWriter> writer = btf_writer();
    bool shuffled = false;
    for (Kept& kept : kept_) {
      BTF_ASSIGN(const RecordShape shape, measure(salvage, kept));
      shuffled = shuffled || find_layout(shape.layout_code)->shuffled();
      BTF_TRY(writer->add(shape));
    }
    BTF_ASSIGN(const std::uint64_t bytes, writer->total_bytes());
    const bool compressed = options_.compression.has_value();
    BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
               make_sink({.size = compressed ? 0 : bytes, .sync = options_.sync}));
    if (!compressed) {
      BTF_TRY(write_to(salvage, *writer, *gather_small_writes(*file)));
      BTF_TRY(file->commit());
      return bytes;
    }
    const unsigned threads = worker_count(options_.execution, UINT64_MAX, bytes);
    const auto sink = zstd::compressing_sink(*file, {*options_.compression, shuffled}, threads);
    BTF_TRY(write_to(salvage, *writer, *sink));
    BTF_TRY(file->commit());
    return sink->file_bytes();
  }

  // The record as it will be, and what has to be known to write it.
  Result<RecordShape> measure(const BtfSalvage& salvage, Kept& kept) const {
    BTF_ASSIGN(const TensorInfo record, salvage.tensor(kept.source));
    BTF_ASSIGN(const ConvertTarget target, choose_target(record, conversion_));
    if (target.sparse()) {
      BTF_ASSIGN(kept.entries, count_entries({*source_, record, target, conversion_}));
    }
    return record_shape(target, conversion_, kept.entries.all);
  }

  Status write_to(const BtfSalvage& salvage, TensorWriter& writer, ByteSink& sink) const {
    BTF_TRY(writer.begin(sink));
    for (const Kept& kept : kept_) BTF_TRY(write_record(salvage, kept, writer, sink));
    BTF_TRY(writer.end(sink));
    BTF_TRY(source_->check_unchanged());
    return sink.commit();
  }

  Status write_record(const BtfSalvage& salvage, const Kept& kept, TensorWriter& writer,
                      ByteSink& sink) const {
    BTF_ASSIGN(const TensorInfo record, salvage.tensor(kept.source));
    BTF_ASSIGN(const ConvertTarget target, choose_target(record, conversion_));
    const TensorConversion work{*source_, record, target, conversion_};
    BTF_ASSIGN(const RecordShape shape, record_shape(target, conversion_, kept.entries.all));
    BTF_ASSIGN(const std::uint64_t payload, writer.begin_record(sink, shape));
    const std::unique_ptr<ByteSink> shuffling =
        shuffling_sink(sink, payload, shape.payload, target.layout, shape.dtype);
    ByteSink& elements = shuffling ? *shuffling : sink;
    if (target.sparse())
      BTF_TRY(write_coo(work, elements, payload, kept.entries));
    else
      BTF_TRY(write_dense(record_elements(work), {}, *target.storage, target.job.to,
                          options_.execution, elements, payload));
    return writer.end_record(sink);
  }

  static ConvertOptions conversion(const RepairOptions& options) {
    ConvertOptions conversion;
    conversion.duplicates = options.duplicates;
    conversion.execution = options.execution;
    return conversion;
  }

  const std::string& input_;
  std::unique_ptr<ByteSource> source_;
  const RepairOptions& options_;
  ConvertOptions conversion_;
  const RepairReport& report_;
  const zstd::SalvagedContent* content_ = nullptr;  // the source, if it is compressed
  std::vector<Kept> kept_;
  RepairSummary summary_;
};

}  // namespace

Result<RepairSummary> repair_into(std::unique_ptr<ByteSource> bytes, const std::string& name,
                                  const MakeSink& make_sink, const RepairOptions& options,
                                  const RepairReport& report) {
  auto summary = Repair(name, std::move(bytes), options, report).run(make_sink);
  if (!summary) return std::unexpected(summary.error().in_file(name));
  return summary;
}

Result<RepairSummary> repair(const std::string& input, const std::string& output_or_directory,
                             const RepairOptions& options, const RepairReport& report) {
  BTF_ASSIGN(const std::string output, output_path(output_or_directory, input));
  BTF_TRY(check_output(output));
  BTF_TRY(check_written_over(output, std::span(&input, 1)));
  auto bytes = open_packed_source(input);
  if (!bytes) return std::unexpected(bytes.error().in_file(input));
  const auto make_sink = [&](const SinkOptions& sink) { return create_sink(output, sink); };
  return repair_into(*std::move(bytes), input, make_sink, options, report);
}

}  // namespace btf
