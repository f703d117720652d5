#include "formats/btf/check_names.h"

#include <string>
#include <unordered_map>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/btf/name_table.h"
#include "formats/btf/name_wire.h"
#include "formats/btf/reader.h"
#include "formats/io/byte_source.h"

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

// Names are remembered by their hashes, and looked at again where two are the same.
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
             "tensor " + std::to_string(at->second) + " is called '" + *name + "' too");
    }
    if (!twice) seen.emplace(hash, i);
  }
  return {};
}

}  // namespace

Result<std::optional<std::uint64_t>> check_names(const TensorFile& file,
                                                 const FindingSink& report) {
  const ByteSource& source = file.source();
  const auto records = btf_records(source, file.tensor_count());
  auto found = NameTable::find(source, file.tensor_count(), ends_of(*records, source));
  if (!found && found.error().finding.empty()) return std::unexpected(found.error());
  // A damaged frame is reported by the check of frames.
  if (!found || !*found) return std::nullopt;
  NameTable& table = **found;
  if (const Status usable = table.usable(); !usable) {
    const Error& error = usable.error();
    if (error.finding.empty()) return std::unexpected(error);
    // Records that overlap it are reported one by one, and damaged frames by their own check.
    if (error.finding.starts_with("names-") && error.finding != "names-overlap")
      report({severity_of(error.finding), error.finding, {}, error.offset, error.message});
    return table.begin();
  }
  BTF_ASSIGN(const bool zeros, table.zeros_are_zero());
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

Status report_trailing_bytes(const TensorFile& file, std::uint64_t offset,
                             const FindingSink& report) {
  const ByteSource& source = file.source();
  const std::uint64_t bytes = source.size() - offset;
  // Bytes that cannot be read are no name table.
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
         "the name table after the last record is cut off: the file has " + std::to_string(bytes) +
             " bytes of it");
    return {};
  }
  const auto records = btf_records(source, file.tensor_count());
  const auto claimed =
      NameTable::claimed_begin(source, file.tensor_count(), ends_of(*records, source));
  if (!claimed && claimed.error().finding.empty()) return std::unexpected(claimed.error());
  const std::optional<std::uint64_t> names = claimed.value_or(std::nullopt);
  warn(report, "trailing-bytes", {}, offset,
       (source.more_follows() ? "more than " : "") + std::to_string(bytes) +
           " bytes after the last record" +
           (names ? ", among them a name table at byte " + std::to_string(*names) +
                        " that does not begin where the records end"
                  : ""));
  return {};
}

}  // namespace btf
