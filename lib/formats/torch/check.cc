#include "btf/try.h"
#include "formats/interface/check_tensors.h"
#include "formats/torch/members.h"
#include "formats/torch/torch.h"
#include "formats/zip/content.h"
#include "formats/zip/directory.h"
#include "formats/zip/member.h"

namespace btf {
namespace {

Status check_member(const ByteSource& source, const ZipDirectory& directory,
                    const ZipMember& member) {
  BTF_ASSIGN(const std::uint64_t data, locate(source, directory, member));
  return has_crc(member) ? read_content({source, directory, member, data}, {}) : Status{};
}

}  // namespace

// All members are read, those too of which no tensor, or a part only, is made.
Status check_torch(const TensorFile& file, const FindingSink& report) {
  BTF_TRY(check_tensors(file, "foreign-dtype", report));
  BTF_ASSIGN(const ZipDirectory directory, ZipDirectory::read(file.source()));
  for (const ZipMember& member : directory.members()) {
    const Status status = check_member(file.source(), directory, member);
    if (status) continue;
    const Error& error = status.error();
    // Other compression methods are reported with the tensors that need the member.
    if (error.finding.empty() && error.code != ErrorCode::unsupported) return status;
    if (!error.finding.empty())
      report({Severity::error, error.finding, {}, error.offset, error.message});
  }
  return {};
}

}  // namespace btf
