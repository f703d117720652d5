#include "btf/validate.h"

#include <set>

#include "btf/file.h"
#include "btf/try.h"
#include "formats/io/byte_source.h"
#include "formats/table/format_table.h"
#include "inspect/frame_findings.h"
#include "inspect/payload_check.h"
#include "inspect/recipient_check.h"
#include "inspect/validate_opened.h"

namespace btf {
namespace {

// A fault of the bytes, not of reading them.
Finding as_finding(const Error& error, std::optional<std::uint64_t> tensor,
                   Severity severity = Severity::error) {
  return {severity, error.finding, tensor, error.offset, error.message};
}

}  // namespace

Status validate(const std::string& path, const FindingSink& report, const OpenOptions& options,
                const Execution& execution, const ValidateChecks& checks) {
  return validate_opened(TensorFile::open(path, options), report, execution, checks);
}

Status validate_opened(const Result<TensorFile>& file, const FindingSink& report,
                       const Execution& execution, const ValidateChecks& checks) {
  if (!file && file.error().finding.empty()) return std::unexpected(file.error());
  if (!file) {
    report(as_finding(file.error(), {}));
    return {};
  }
  FrameFindings frames(*file);
  std::set<std::uint64_t> faulty;  // tensors, whose elements are not looked at then
  const FindingSink take = [&](const Finding& finding) {
    if (finding.tensor && finding.severity == Severity::error) faulty.insert(*finding.tensor);
    if (frames.note(finding)) report(finding);
  };
  BTF_TRY(format_named(file->format()).check(*file, take));
  if (const Status complete = file->check_complete(); !complete)
    take(as_finding(complete.error(), {}, Severity::warning));
  if (checks.recipient) BTF_TRY(check_recipient(*file, *checks.recipient, take));
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto record = file->tensor(i);
    if (faulty.contains(i) || !record || !record->known() || !file->check_overlap(*record))
      continue;
    const auto source = file->elements(i);
    const Status status = source ? check_payload(**source, *record, take, execution, checks)
                                 : std::unexpected(source.error());
    if (!status && status.error().finding.empty()) return status;
    if (!status) take(as_finding(status.error(), i));
  }
  BTF_TRY(frames.run(report, execution));
  return file->check_unchanged();
}

}  // namespace btf
