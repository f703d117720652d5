#include "btf/validate.h"

#include "btf/file.h"
#include "core/try.h"
#include "formats/byte_source.h"
#include "formats/format_table.h"
#include "ops/payload_check.h"

namespace btf {

Status validate(const std::string& path, const FindingSink& report, const OpenOptions& options,
                const Execution& execution, const ValidateChecks& checks) {
  const auto file = TensorFile::open(path, options);
  if (!file && file.error().finding.empty()) return std::unexpected(file.error());
  if (!file) {
    report({Severity::error, file.error().finding, {}, file.error().offset, file.error().message});
    return {};
  }
  BTF_TRY(format_named(file->format()).check(*file, report));
  for (std::uint64_t i = 0; i < file->tensor_count(); ++i) {
    const auto record = file->tensor(i);
    if (record && record->known() && file->check_overlap(*record))
      BTF_TRY(check_payload(file->source(), *record, report, execution, checks));
  }
  return file->source().check_unchanged();
}

}  // namespace btf
