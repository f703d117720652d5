// Checks a BTF file: its name table, its offsets, and the bytes between records.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "btf/file.h"
#include "btf/layout.h"
#include "btf/try.h"
#include "btf/validate.h"
#include "core/errors.h"
#include "core/finding_table.h"
#include "core/numbers.h"
#include "formats/btf_reader.h"
#include "formats/io/byte_source.h"
#include "formats/readers.h"

namespace btf {
namespace {

using wire::kWord;

void warn(const FindingSink& report, FindingCode code, std::optional<std::uint64_t> tensor,
          std::uint64_t offset, std::string message) {
  report({code.severity(), code, tensor, offset, std::move(message)});
}

Severity severity_of(std::string_view finding) {
  for (const FindingRow& row : kFindings)
    if (row.code == finding) return row.severity;
  return Severity::error;
}

RecordEnd ends_of(const BtfRecords& records, const ByteSource& source) {
  return [&](std::uint64_t index) -> Result<std::uint64_t> {
    BTF_ASSIGN(const std::uint64_t offset, records.entry(index));
    BTF_ASSIGN(const TensorInfo info, records.at(index, offset));
    return btf_record_end(info).value_or(source.size());
  };
}

// Only hashes of names are stored; names with equal hashes are read again.
Status report_duplicates(NameTable& table, const FindingSink& report) {
  std::unordered_multimap<std::size_t, std::uint64_t> seen;
  for (std::uint64_t i = 0; i < table.tensors(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, table.name(i));
    if (!name) continue;
    const std::size_t hash = std::hash<std::string>()(*name);
    const auto [first, last] = seen.equal_range(hash);
    bool twice = false;
    for (auto at = first; at != last && !twice; ++at) {
      BTF_ASSIGN(const std::optional<std::string> other, table.name(at->second));
      twice = other == name;
      if (twice)
        warn(report, "names-duplicate", i, table.begin(),
             concat("tensor ", at->second, " is called '", *name, "' too"));
    }
    if (!twice) seen.emplace(hash, i);
  }
  return {};
}

// Checks the names and returns where the table begins, if there is one, even if it is unusable.
Result<std::optional<std::uint64_t>> check_names(const TensorFile& file,
                                                 const FindingSink& report) {
  const ByteSource& source = file.source();
  const auto records = btf_records(source, file.tensor_count());
  auto found = NameTable::find(source, file.tensor_count(), ends_of(*records, source));
  if (!found && found.error().finding.empty()) return std::unexpected(found.error());
  // Damaged frames are reported by the check of frames.
  if (!found || !*found) return std::nullopt;
  NameTable& table = **found;
  if (const Status usable = table.usable(); !usable) {
    const Error& error = usable.error();
    if (error.finding.empty()) return std::unexpected(error);
    // Records that overlap it are reported individually, and damaged frames by their own check.
    if (error.finding.starts_with("names-") && error.finding != "names-overlap")
      report({severity_of(error.finding), error.finding, {}, error.offset, error.message});
    return table.begin();
  }
  BTF_ASSIGN(const bool zeros, table.reserved_bytes_are_zero());
  if (!zeros)
    warn(report, "names-padding", {}, table.begin(),
         "reserved or padding bytes of the name table are not zero");
  BTF_TRY(report_duplicates(table, report));
  if (const auto attributes = table.attributes(); !attributes) {
    const Error& error = attributes.error();
    if (error.finding.empty()) return std::unexpected(error);
    report({Severity::error, error.finding, {}, error.offset, error.message});
  }
  return table.begin();
}

// Reports bytes from `offset` on, which follow the last record and belong to none.
Status report_trailing_bytes(const TensorFile& file, std::uint64_t offset,
                             const FindingSink& report) {
  const ByteSource& source = file.source();
  const std::uint64_t bytes = source.size() - offset;
  // Bytes that cannot be read are not a name table.
  const auto stands_at = [&](std::uint64_t at, std::string_view magic) -> Result<bool> {
    std::string found(magic.size(), '\0');
    const Status read = source.read_at(at, std::as_writable_bytes(std::span(found)));
    if (!read && read.error().finding.empty()) return std::unexpected(read.error());
    return read && found == magic;
  };
  bool begins = false;
  bool ends = false;
  if (bytes >= kWord) {
    BTF_ASSIGN(begins, stands_at(offset, wire::kNamesBegin));
    BTF_ASSIGN(ends, stands_at(source.size() - kWord, wire::kNamesEnd));
  }
  if (begins && !ends) {
    warn(report, "names-cut-off", {}, offset,
         concat("the name table after the last record is cut off: the file has ", bytes,
                " bytes of it"));
    return {};
  }
  const auto records = btf_records(source, file.tensor_count());
  const auto claimed =
      NameTable::claimed_begin(source, file.tensor_count(), ends_of(*records, source));
  if (!claimed && claimed.error().finding.empty()) return std::unexpected(claimed.error());
  const std::optional<std::uint64_t> names = claimed.value_or(std::nullopt);
  warn(report, "trailing-bytes", {}, offset,
       concat(source.more_follows() ? "more than " : "", bytes, " bytes after the last record",
              names ? concat(", among them a name table at byte ", *names,
                             " that does not begin where the records end")
                    : ""));
  return {};
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{}; });
}

struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // end of the payload, before padding
  std::uint64_t tensor = 0;
};

// Where padding may end. It may fill up the record or the file offset, which differ if the record
// is misaligned; both are accepted.
std::uint64_t padded_end(const Extent& extent) {
  const std::uint64_t by_offset = round_up(extent.end, kWord).value_or(extent.end);
  const std::uint64_t by_length =
      extent.begin + round_up(extent.end - extent.begin, kWord).value_or(extent.end);
  return std::max(by_offset, by_length);
}

// Finds bytes that belong to no record. Takes records by ascending offset.
class GapCheck {
 public:
  // `names` is where the name table begins, if there is one.
  GapCheck(const TensorFile& file, std::optional<std::uint64_t> names, const FindingSink& report)
      : file_(file), source_(file.source()), names_(names), report_(report) {}

  Status take(const Extent& extent) {
    BTF_TRY(check_padding(end_, std::min(limit_, extent.begin)));
    if (extent.begin > limit_)
      warn("gap-between-records", extent.tensor, limit_,
           concat(extent.begin - limit_, " bytes before the record belong to no record"));
    if (extent.end < end_) return {};
    end_ = extent.end;
    limit_ = padded_end(extent);
    owner_ = extent.tensor;
    return {};
  }

  Status finish() const {
    const std::uint64_t end = names_.value_or(source_.size());
    BTF_TRY(check_padding(end_, std::min(limit_, end)));
    if (names_ || source_.size() <= limit_) return {};
    return report_trailing_bytes(file_, limit_, report_);
  }

 private:
  void warn(FindingCode code, std::optional<std::uint64_t> tensor, std::uint64_t offset,
            std::string message) const {
    report_({code.severity(), code, tensor, offset, std::move(message)});
  }

  Status check_padding(std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return {};
    std::array<std::byte, 2 * kWord> padding;
    const std::span bytes = std::span(padding).first(end - begin);
    const Status read = source_.read_at(begin, bytes);
    // The padding in a frame that cannot be read is unknown; the check of frames reports the frame.
    if (!read) return read.error().finding.empty() ? read : Status{};
    if (!all_zero(bytes))
      warn("padding-not-zero", owner_, begin, "padding bytes after the record are not zero");
    return {};
  }

  const TensorFile& file_;
  const ByteSource& source_;
  std::optional<std::uint64_t> names_;
  const FindingSink& report_;
  std::uint64_t end_ = kWord + file_.tensor_count() * kWord;
  std::uint64_t limit_ = end_;  // where padding may end
  std::optional<std::uint64_t> owner_;
};

class BtfCheck {
 public:
  BtfCheck(const TensorFile& file, const FindingSink& report)
      : file_(file), source_(file.source()), report_(report) {}

  Status run() {
    std::uint64_t last = 0;
    bool gaps_found = false;
    const FindingSink note = [&](const Finding&) { gaps_found = true; };
    BTF_ASSIGN(names_, check_names(file_, report_));
    GapCheck gaps(file_, names_, note);
    for (std::uint64_t i = 0; i < file_.tensor_count(); ++i) {
      const auto info = file_.tensor(i);
      if (!info && info.error().finding.empty()) return std::unexpected(info.error());
      if (!info) {
        report_(
            {Severity::error, info.error().finding, i, info.error().offset, info.error().message});
        unreadable_ = true;
        continue;
      }
      ascending_ = ascending_ && info->record_offset >= last;
      last = info->record_offset;
      unreadable_ = unreadable_ || !info->known();
      BTF_TRY(check_record(*info));
      if (ascending_ && !unreadable_) BTF_TRY(gaps.take({info->record_offset, info->end(), i}));
    }
    if (ascending_) BTF_TRY(gaps.finish());
    if (!ascending_)
      warn("offsets-not-ascending", {}, kWord, "the record offsets are not in ascending order");
    return ascending_ && !gaps_found ? Status{} : check_gaps();
  }

 private:
  void warn(FindingCode code, std::optional<std::uint64_t> tensor, std::uint64_t offset,
            std::string message) const {
    report_({code.severity(), code, tensor, offset, std::move(message)});
  }

  void error(FindingCode code, const TensorInfo& info, std::uint64_t offset,
             std::string message) const {
    report_({code.severity(), code, info.index, offset, std::move(message)});
  }

  Status check_record(const TensorInfo& info) {
    const std::uint64_t at = info.record_offset;
    if (at % kWord != 0)
      warn("offset-not-aligned", info.index, at,
           concat("the record offset ", at, " is not a multiple of 8"));
    std::array<std::byte, 6> reserved;
    BTF_TRY(source_.read_at(at + wire::kReservedAt, reserved));
    if (!all_zero(reserved))
      warn("reserved-not-zero", info.index, at + wire::kReservedAt,
           "reserved bytes of the record are not zero");
    if (!info.dtype) error("unknown-dtype", info, at + wire::kDTypeAt, info.unknown_dtype_text());
    if (!info.layout)
      error("unknown-layout", info, at + wire::kLayoutAt,
            concat("unknown layout code ", info.layout_code));
    if (info.layout && info.storage)
      if (const auto objection = tensorrt_objection(*info.layout, info.dims))
        warn("tensorrt-limits", info.index, at + wire::kRecordHeader, *objection);
    if (const Status overlap = file_.check_overlap(info); !overlap)
      error("records-overlap", info, at, overlap.error().message);
    return {};
  }

  // Records whose size is unknown may own any bytes. If records are ascending without gaps, as
  // usual, no list is kept and no record is read twice.
  Status check_gaps() const {
    if (unreadable_) return {};
    GapCheck gaps(file_, names_, report_);
    std::vector<Extent> extents;
    for (std::uint64_t i = 0; i < file_.tensor_count(); ++i) {
      BTF_ASSIGN(const TensorInfo info, file_.tensor(i));
      const Extent extent{info.record_offset, info.end(), i};
      if (ascending_)
        BTF_TRY(gaps.take(extent));
      else
        extents.push_back(extent);
    }
    std::ranges::sort(extents, {}, &Extent::begin);
    for (const Extent& extent : extents) BTF_TRY(gaps.take(extent));
    return gaps.finish();
  }

  const TensorFile& file_;
  const ByteSource& source_;
  const FindingSink& report_;
  std::optional<std::uint64_t> names_;  // where the name table begins
  bool unreadable_ = false;
  bool ascending_ = true;
};

}  // namespace

Status check_btf(const TensorFile& file, const FindingSink& report) {
  return BtfCheck(file, report).run();
}

}  // namespace btf
