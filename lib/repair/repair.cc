// Repairs BTF files. In a canonical file the begin of a record is known twice: from the offset
// table, and from the end of the previous record. So damage to one can be told from damage to the
// other, and a record with a wrong offset is found after the previous one.
#include "repair/repair.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "btf/file.h"
#include "btf/output.h"
#include "btf/repair.h"
#include "btf/try.h"
#include "convert/tensor/target.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "elements/cast.h"
#include "formats/btf_reader.h"
#include "formats/btf_writer.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"
#include "formats/tensor_file.h"
#include "formats/zstd.h"
#include "formats/zstd_sink.h"
#include "inspect/validate.h"
#include "repair/salvage.h"

namespace btf {
namespace {

// One record of the table. Its fault is not stored; fault() finds it again.
struct SalvagedRecord {
  enum class State : std::uint8_t { sound, unreadable, overlapping, in_doubt };

  std::uint64_t begin = 0;  // as in the table, unless `followed`
  std::uint64_t end = 0;    // of the payload, for sound records
  // overlapping: the tensor that it shares bytes with. in_doubt: the number of bytes after it that
  // belong to no record.
  std::uint64_t detail = 0;
  State state = State::unreadable;
  // Found after the previous record, since its entry in the table is unusable.
  bool followed = false;
  bool blank = false;  // in_doubt: all bytes of the header are zero
};

class BtfSalvage {
 public:
  // Only reads headers. An error if nothing can be found or reading failed.
  static Result<BtfSalvage> find(const ByteSource& source);

  const std::vector<SalvagedRecord>& records() const { return records_; }
  // According to the file.
  std::optional<std::uint64_t> stated_count() const { return stated_count_; }

  Result<TensorInfo> tensor(std::uint64_t index) const {
    return headers_->at(index, records_[index].begin);
  }
  // Why a record is not sound.
  Error fault(std::uint64_t index) const;

 private:
  // The extent of a readable record.
  struct Extent {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  explicit BtfSalvage(const ByteSource& source) : source_(&source) {}

  Status choose_count();
  bool contiguous(std::uint64_t count) const;
  Status locate();
  void locate_one(std::uint64_t index, std::optional<std::uint64_t> behind,
                  std::optional<std::uint64_t> entry);
  void resolve_overlaps();
  Status check_bytes_after();

  std::optional<Extent> probe(std::uint64_t offset);
  std::uint64_t table_end() const { return (records_.size() + 1) * 8; }
  bool in_file(std::uint64_t offset) const;
  std::uint64_t times_in_table(std::uint64_t offset) const;
  unsigned closes(const Extent& extent) const;
  unsigned score(const SalvagedRecord& record, bool opens) const;

  const ByteSource* source_;
  std::unique_ptr<BtfRecords> headers_;
  std::vector<SalvagedRecord> records_;
  std::vector<std::uint64_t> table_;  // entries that are within the file, sorted
  std::vector<bool> opens_;           // the record begins where the previous one ends
  std::optional<std::uint64_t> stated_count_;
  std::optional<Error> trouble_;  // an error of the system, not of the file
};

using State = SalvagedRecord::State;
using wire::kRecordHeader;
using wire::kWord;

// The number of entries examined to determine how many there are.
constexpr std::uint64_t kMaxEntries = 1U << 16;

// Where the next record may begin: after padding the size or the offset to a multiple of 8, or
// without padding.
std::array<std::uint64_t, 3> next_begins(std::uint64_t begin, std::uint64_t end) {
  return {begin + round_up(end - begin, kWord).value_or(end - begin),
          round_up(end, kWord).value_or(end), end};
}

Result<BtfSalvage> BtfSalvage::find(const ByteSource& source) {
  BtfSalvage salvage(source);
  BTF_TRY(salvage.choose_count());
  BTF_TRY(salvage.locate());
  salvage.resolve_overlaps();
  BTF_TRY(salvage.check_bytes_after());
  return salvage;
}

bool BtfSalvage::in_file(std::uint64_t offset) const {
  return offset >= table_end() && fits(offset, kRecordHeader, source_->size());
}

// The record at `offset`, if it can be read and its size is known.
std::optional<BtfSalvage::Extent> BtfSalvage::probe(std::uint64_t offset) {
  if (trouble_) return std::nullopt;
  const auto info = headers_->at(0, offset);
  if (!info && info.error().code != ErrorCode::malformed) trouble_ = info.error();
  if (!info || !info->known()) return std::nullopt;
  return Extent{offset, info->end()};
}

// Returns true if a table with this many entries, and every record, end where the next record
// begins. Records that are cut off, and those after them, must only be ascending.
bool BtfSalvage::contiguous(std::uint64_t count) const {
  const auto headers = btf_records(*source_, count);
  std::uint64_t last = 0;
  std::uint64_t next = (count + 1) * kWord;  // 0 if it is not known
  for (std::uint64_t i = 0; i < std::min(count, kMaxEntries); ++i) {
    const auto entry = headers->entry(i);
    if (!entry || (next > 0 ? *entry != next : *entry <= last)) return false;
    last = *entry;
    const auto info = headers->at(i, last);
    next = info && info->known() ? next_begins(last, info->end()).front() : 0;
  }
  return count > 0;
}

// The count may be damaged. In a canonical file the first record begins where the table ends, so
// the first entry implies the count too.
Status BtfSalvage::choose_count() {
  const std::uint64_t size = source_->size();
  if (size < kWord)
    return malformed("file-too-short", 0, "a BTF file has at least 8 bytes, this one has ", size);
  const std::uint64_t most = (size - kWord) / kWord;
  std::array<std::byte, kWord> word;
  const Status readable = source_->read_at(0, word);
  if (!readable && readable.error().code != ErrorCode::malformed) return readable;
  if (readable) stated_count_ = wire::load_u64(word.data());
  std::optional<std::uint64_t> count;
  if (stated_count_ && *stated_count_ <= most) count = stated_count_;
  if (most > 0 && (!count || !contiguous(*count))) {
    const auto first = btf_records(*source_, 1)->entry(0);
    if (!first && first.error().code != ErrorCode::malformed) return std::unexpected(first.error());
    const std::uint64_t implied = first && *first >= 2 * kWord ? *first / kWord - 1 : 0;
    if (implied > 0 && implied <= most && *first % kWord == 0 && contiguous(implied))
      count = implied;
  }
  if (!count)
    return readable ? malformed("offset-table-too-long", 0, "an offset table of ", *stated_count_,
                                " tensors is longer than the ", size, " bytes of the file")
                    : readable;
  records_.resize(*count);
  opens_.resize(*count);
  headers_ = btf_records(*source_, *count);
  return {};
}

Status BtfSalvage::locate() {
  for (std::uint64_t i = 0; i < records_.size(); ++i)
    if (const auto entry = headers_->entry(i); entry && in_file(*entry)) table_.push_back(*entry);
  std::ranges::sort(table_);
  std::optional<std::uint64_t> behind = table_end();
  for (std::uint64_t i = 0; i < records_.size(); ++i) {
    const auto entry = headers_->entry(i);
    locate_one(i, behind, entry ? std::optional(*entry) : std::nullopt);
    if (trouble_) return std::unexpected(*std::move(trouble_));
    const SalvagedRecord& record = records_[i];
    behind.reset();
    if (record.state == State::sound) behind = next_begins(record.begin, record.end).front();
  }
  return {};
}

void BtfSalvage::locate_one(std::uint64_t index, std::optional<std::uint64_t> behind,
                            std::optional<std::uint64_t> entry) {
  SalvagedRecord& record = records_[index];
  record.begin = entry.value_or(UINT64_MAX);
  std::optional<Extent> found = entry ? probe(*entry) : std::nullopt;
  const bool unique = entry && times_in_table(*entry) == 1;
  opens_[index] = entry && behind == entry;
  // The offset after the previous record is used if no other entry claims it and it fits the file
  // better than the one in the table.
  if (behind && behind != entry && in_file(*behind) && times_in_table(*behind) == 0) {
    const std::optional<Extent> candidate = probe(*behind);
    const bool better = candidate && closes(*candidate) > (found && unique ? closes(*found) : 0);
    const bool pointless = !unique || !in_file(*entry);
    if (candidate && (better || (!found && pointless))) {
      found = candidate;
      record.begin = *behind;
      record.followed = opens_[index] = true;
    }
  }
  if (!found) return;
  record.end = found->end;
  record.state = State::sound;
}

std::uint64_t BtfSalvage::times_in_table(std::uint64_t offset) const {
  const auto [first, last] = std::ranges::equal_range(table_, offset);
  return static_cast<std::uint64_t>(last - first);
}

// Returns 2 if the record ends where the next one or the file ends, 1 if it does so apart from
// entries that point into it, else 0.
unsigned BtfSalvage::closes(const Extent& extent) const {
  const auto ends = next_begins(extent.begin, extent.end);
  const auto next = std::ranges::upper_bound(table_, extent.begin);
  if (next == table_.end()) return *std::ranges::max_element(ends) >= source_->size() ? 2 : 0;
  if (std::ranges::find(ends, *next) != ends.end()) return 2;
  const bool last = *std::ranges::max_element(ends) >= source_->size();
  return last || std::ranges::any_of(ends,
                                     [&](std::uint64_t end) { return times_in_table(end) > 0; })
             ? 1
             : 0;
}

unsigned BtfSalvage::score(const SalvagedRecord& record, bool opens) const {
  return 2 * closes({record.begin, record.end}) + (opens ? 1 : 0);
}

// If two records share bytes, the one that fits its neighbours better is sound; if both fit equally
// well, neither is.
void BtfSalvage::resolve_overlaps() {
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < records_.size(); ++i)
    if (records_[i].state == State::sound) order.push_back(i);
  std::ranges::sort(order, {}, [&](std::uint64_t i) { return std::pair(records_[i].begin, i); });
  std::optional<std::uint64_t> before;
  std::uint64_t reach = 0;  // end of `before` and of records lost together with it
  const auto lose = [&](std::uint64_t index, std::uint64_t to) {
    records_[index].state = State::overlapping;
    records_[index].detail = to;
  };
  for (const std::uint64_t index : order) {
    const SalvagedRecord& record = records_[index];
    if (before && record.begin < reach) {
      const unsigned mine = score(record, opens_[index]);
      const unsigned other = score(records_[*before], opens_[*before]);
      if (mine <= other) lose(index, *before);
      if (mine >= other && records_[*before].state == State::sound) lose(*before, index);
      if (mine <= other) {
        if (mine == other) reach = std::max(reach, record.end);
        continue;
      }
    }
    before = index;
    reach = record.end;
  }
}

// Finds bytes after a record that belong to none: they may be its own if its header is damaged. If
// the next record has no offset, they may belong to that.
Status BtfSalvage::check_bytes_after() {
  std::vector<std::uint64_t> begins;
  for (const SalvagedRecord& record : records_)
    if (in_file(record.begin)) begins.push_back(record.begin);
  std::ranges::sort(begins);
  for (std::uint64_t i = 0; i < records_.size(); ++i) {
    SalvagedRecord& record = records_[i];
    if (record.state != State::sound) continue;
    const auto ends = next_begins(record.begin, record.end);
    const std::uint64_t next = *std::ranges::max_element(ends);
    const auto found = std::ranges::lower_bound(begins, record.end);
    const std::uint64_t limit = found == begins.end() ? source_->size() : *found;
    if (next >= limit) continue;
    if (i + 1 < records_.size() && !in_file(records_[i + 1].begin)) continue;
    record.state = State::in_doubt;
    record.detail = limit - next;
    std::array<std::byte, kRecordHeader> header;
    BTF_TRY(source_->read_at(record.begin, header));
    record.blank = std::ranges::all_of(header, [](std::byte b) { return b == std::byte{}; });
  }
  return {};
}

Error BtfSalvage::fault(std::uint64_t index) const {
  const SalvagedRecord& record = records_[index];
  const auto error = [&](FindingCode code, std::string message) {
    return Error{ErrorCode::malformed, std::move(message), {}, code, record.begin};
  };
  switch (record.state) {
    case State::overlapping:
      return error("records-overlap", concat("the record overlaps that of tensor ", record.detail));
    case State::in_doubt:
      return error(
          "gap-behind-record",
          concat(record.detail, " bytes after it belong to no record, so its header may be damaged",
                 record.blank ? "; all its bytes are zero" : ""));
    default:
      break;
  }
  if (const auto entry = headers_->entry(index); !entry) return entry.error();
  const auto info = tensor(index);
  if (!info) return info.error();
  if (!info->dtype) return error("unknown-dtype", info->unknown_dtype_text());
  return error("unknown-layout", concat("unknown layout code ", info->layout_code));
}

using State = SalvagedRecord::State;

// A record that is written to the output.
struct SavedRecord {
  std::uint64_t source = 0;  // index in the input
  EntryCounts entries{};     // for sparse records, as they are written
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
      // If everything is lost, the frames have been reported.
      if (source_->size() > 0 || summary_.lost_frames == 0) report_finding(salvage.error());
      return summary_;
    }
    BTF_TRY(look_through(*salvage));
    if (saved_.empty() && (summary_.tensors > 0 || source_->size() > kEmptyFile)) return summary_;
    summary_.saved = saved_.size();
    BTF_ASSIGN(summary_.bytes, write(*salvage, make_sink));
    return summary_;
  }

 private:
  static constexpr std::uint64_t kEmptyFile = 8;  // a file without tensors

  Status open() {
    std::array<std::byte, zstd::kMagicBytes> start{};
    if (source_->size() >= start.size()) BTF_TRY(source_->read_at(0, start));
    if (zstd::recognizes(start)) {
      BTF_ASSIGN(auto content, zstd::salvage(input_, std::move(source_),
                                             {.cut_frame = options_.unchecked,
                                              .execution = &options_.execution}));
      summary_.frames = content->frames();
      summary_.lost_frames = content->lost_frames();
      for (const Error& error : content->damage()) report_finding(error);
      content_ = content.get();
      source_ = std::move(content);
    }
    // Errors in the beginning are expected here.
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
      report_finding({Severity::error,
                      FindingCode("tensor-count"),
                      {},
                      0,
                      salvage.stated_count()
                          ? concat("the count of tensors is ", *salvage.stated_count(),
                                   ", the offset table has ", records.size(), " entries")
                          : concat("the count of tensors is lost; the offset table has ",
                                   records.size(), " entries")});
    if (records.empty() && source_->size() > kEmptyFile)
      report_finding({Severity::error,
                      FindingCode("tensor-count"),
                      {},
                      0,
                      concat("the count of tensors is 0, but ", source_->size() - kEmptyFile,
                             " bytes follow")});
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

  // Returns the fault of a payload that cannot be saved.
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

  // A violation of the format is a fault of the record; other errors end the repair.
  static Status recoverable(const Status& status, std::optional<Error>& bad) {
    if (status || status.error().code != ErrorCode::malformed) return status;
    bad = status.error();
    return {};
  }

  void take(std::uint64_t index, const SalvagedRecord& record, const std::optional<Error>& fault,
            bool saved) {
    RepairedTensor tensor{
        .source = index, .target = {}, .followed = record.followed, .finding = {}};
    if (saved) tensor.target = saved_.size();
    if (saved) saved_.push_back({.source = index});
    if (saved && fault) ++summary_.in_doubt;
    if (saved && record.followed) ++summary_.followed;
    if (!report_.tensor || !(fault || record.followed)) return;
    tensor.finding = {saved ? Severity::warning : Severity::error, FindingCode("offset-wrong"),
                      index, record.begin,
                      "its offset in the table is wrong; it was found after the previous record"};
    if (fault) {
      tensor.finding.code = fault->finding;
      tensor.finding.offset = fault->offset;
      tensor.finding.message = fault->message;
    }
    report_.tensor(tensor);
  }

  void report_finding(const Error& error) {
    report_finding(Finding{Severity::error, error.finding, {}, error.offset, error.message});
  }
  void report_finding(const Finding& finding) {
    if (report_.file) report_.file(finding);
  }

  // Writes like convert() to BTF.
  Result<std::uint64_t> write(const BtfSalvage& salvage, const MakeSink& make_sink) {
    const std::unique_ptr<TensorWriter> writer = btf_writer();
    bool shuffled = false;
    for (SavedRecord& kept : saved_) {
      BTF_ASSIGN(const RecordShape shape, measure(salvage, kept));
      shuffled = shuffled || find_layout(shape.layout_code)->shuffled();
      BTF_TRY(writer->add(shape));
    }
    BTF_ASSIGN(const std::uint64_t bytes, writer->total_bytes());
    const bool compressed = options_.compression.has_value();
    BTF_ASSIGN(const std::unique_ptr<ByteSink> file,
               make_sink({.size = compressed ? 0 : bytes, .sync = options_.sync}));
    if (!compressed) {
      BTF_TRY(write_to(salvage, *writer, *buffer_small_writes(*file)));
      BTF_TRY(file->commit());
      return bytes;
    }
    const unsigned threads = worker_count(options_.execution, UINT64_MAX, bytes);
    const auto sink = zstd::compressing_sink(*file, {*options_.compression, shuffled}, threads);
    BTF_TRY(write_to(salvage, *writer, *sink));
    BTF_TRY(file->commit());
    return sink->file_bytes();
  }

  // The shape of the record in the output; also counts the entries of sparse records.
  Result<RecordShape> measure(const BtfSalvage& salvage, SavedRecord& kept) const {
    BTF_ASSIGN(const TensorInfo record, salvage.tensor(kept.source));
    BTF_ASSIGN(const ConvertTarget target, choose_target(record, conversion_));
    if (target.sparse()) {
      BTF_ASSIGN(kept.entries, count_entries({*source_, record, target, conversion_}));
    }
    return record_shape(target, conversion_, kept.entries.all);
  }

  Status write_to(const BtfSalvage& salvage, TensorWriter& writer, ByteSink& sink) const {
    BTF_TRY(writer.begin(sink));
    for (const SavedRecord& kept : saved_) BTF_TRY(write_record(salvage, kept, writer, sink));
    BTF_TRY(writer.end(sink));
    BTF_TRY(source_->check_unchanged());
    return sink.commit();
  }

  Status write_record(const BtfSalvage& salvage, const SavedRecord& kept, TensorWriter& writer,
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
  const zstd::SalvagedContent* content_ = nullptr;  // the source if it is compressed
  std::vector<SavedRecord> saved_;
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
