#include <string>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/npz/members.h"
#include "formats/npz/npz.h"
#include "formats/zip/content.h"
#include "formats/zip/member.h"

namespace btf {
namespace {

std::string skipped_text(const NpzMembers& members) {
  const std::size_t count = members.skipped.size();
  const ZipMember& first = members.directory.members()[members.skipped.front()];
  const std::string name = quoted_member(members.directory.name(first));
  return (count == 1
              ? "a member is not an array and is skipped: "
              : std::to_string(count) + " members are not arrays and are skipped, the first: ") +
         name;
}

// Whatever is wrong with a member and its header, and then with its content.
Status check_array(const TensorFile& file, const NpzMembers& members, std::uint64_t index,
                   const FindingSink& report) {
  const auto info = file.tensor(index);
  if (!info) return std::unexpected(info.error());
  if (!info->dtype) {
    constexpr FindingCode kCode("foreign-dtype");
    report({kCode.severity(), kCode, index, info->record_offset, info->unknown_dtype_text()});
  }
  const ZipMember& member = members.array(index);
  BTF_ASSIGN(const std::uint64_t data, locate(file.source(), members.directory, member));
  return read_content({file.source(), members.directory, member, data}, {});
}

}  // namespace

Status check_npz(const TensorFile& file, const FindingSink& report) {
  BTF_ASSIGN(const NpzMembers members, read_npz_members(file.source()));
  if (!members.skipped.empty()) {
    constexpr FindingCode kCode("npz-skipped");
    const ZipMember& first = members.directory.members()[members.skipped.front()];
    report({kCode.severity(), kCode, {}, first.header_offset, skipped_text(members)});
  }
  Status unread;  // what is encrypted, or packed otherwise: the others are looked at all the same
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const Status status = check_array(file, members, i, report);
    if (status) continue;
    const Error& error = status.error();
    if (error.finding.empty() && error.code != ErrorCode::unsupported)
      return std::unexpected(file.about(i, error));
    if (error.finding.empty()) {
      if (unread) unread = std::unexpected(file.about(i, error));
      continue;
    }
    report({Severity::error, error.finding, i, error.offset, error.message});
  }
  return unread;
}

}  // namespace btf
