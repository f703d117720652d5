#include "inspect/recipient_check.h"

#include <utility>

#include "core/recipient.h"
#include "formats/btf/wire.h"

namespace btf {

Status check_recipient(const TensorFile& file, Recipient recipient, const FindingSink& report) {
  const RecipientRow& row = info(recipient);
  const auto tell = [&](std::optional<Objection> objection, std::optional<std::uint64_t> tensor,
                        std::uint64_t offset) {
    if (objection)
      report({objection->code.severity(), objection->code, tensor, offset,
              std::move(objection->message)});
  };
  auto whole = format_objection(row, file.format(), file.format_title(), file.compressed());
  tell(std::move(whole), {}, 0);
  if (file.format() != row.format) return {};
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto record = file.tensor(i);
    if (!record && record.error().finding.empty()) return std::unexpected(record.error());
    if (!record) continue;
    const std::uint64_t at = record->record_offset;
    tell(offset_objection(row, at), i, at);
    tell(dtype_objection(row, record->dtype_code), i, at + wire::kDTypeAt);
    tell(layout_objection(row, record->layout_code), i, at + wire::kLayoutAt);
  }
  return {};
}

}  // namespace btf
