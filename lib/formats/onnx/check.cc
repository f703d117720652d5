#include <array>
#include <optional>
#include <string>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/onnx/kind.h"
#include "formats/onnx/messages.h"
#include "formats/onnx/model.h"
#include "formats/onnx/onnx.h"
#include "formats/onnx/sequence.h"
#include "formats/onnx/tensor_proto.h"

namespace btf {
namespace {

// Unknown keys of external data.
Status check_keys(Window& window, const ProtoRange& place, std::uint64_t index,
                  const FindingSink& report) {
  const auto tensor = read_onnx_tensor(window, place);
  if (!tensor || !tensor->external || tensor->external->unknown_key.empty()) return {};
  constexpr FindingCode kCode("onnx-unknown-key");
  report({kCode.severity(), kCode, index, place.begin,
          "its external_data have the unknown key '" + tensor->external->unknown_key +
              "', which is ignored"});
  return {};
}

// Values that stand one by one are read, all of them, when the first is.
Status check_values(const TensorFile& file, const TensorInfo& info) {
  if (info.data_bytes == 0) return {};
  BTF_ASSIGN(const ByteSource* const source, file.elements(info.index));
  std::array<std::byte, 1> first;
  BTF_TRY(source->read_at(info.data_offset, first));
  if (!info.coo || info.coo->nnz == 0) return {};
  return source->read_at(info.coo->values_offset, first);
}

Status check_tensor(const TensorFile& file, std::uint64_t index, const FindingSink& report) {
  const auto info = file.tensor(index);
  if (!info) return std::unexpected(info.error());
  if (info->known()) return check_values(file, *info);
  constexpr FindingCode kCode("foreign-dtype");
  report({kCode.severity(), kCode, index, info->record_offset, info->unknown_dtype_text()});
  return {};
}

}  // namespace

Status check_onnx(const TensorFile& file, const FindingSink& report) {
  const ByteSource& source = file.source();
  Window window(source, source.size());
  BTF_ASSIGN(const OnnxKind kind, onnx_kind(source));
  std::optional<OnnxModel> model;
  if (kind == OnnxKind::model) {
    BTF_ASSIGN(model, OnnxModel::read(source));
  } else if (kind == OnnxKind::sequence) {
    BTF_ASSIGN(model, read_onnx_sequence(source));
  }
  bool damaged = false;  // and reported
  Status unread;         // what is not read is not known to be wrong; the others are looked at
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const OnnxEntry entry = model ? model->entries()[i] : OnnxEntry{.place = {0, source.size()}};
    if (!entry.sparse && entry.form == 0) BTF_TRY(check_keys(window, entry.place, i, report));
    const Status status = check_tensor(file, i, report);
    if (status) continue;
    const Error& error = status.error();
    damaged = damaged || !error.finding.empty();
    if (!error.finding.empty())
      report({Severity::error, error.finding, i, error.offset, error.message});
    else if (error.code != ErrorCode::unsupported && error.code != ErrorCode::io)
      return std::unexpected(file.about(i, error));
    else if (unread)
      unread = std::unexpected(file.about(i, error));
  }
  // The whole message, including fields that are otherwise skipped: other programs read them.
  if (damaged) return unread;
  const Status whole = check_message(window, {0, source.size()},
                                     kind == OnnxKind::model      ? onnx::kModel
                                     : kind == OnnxKind::sequence ? onnx::kSequence
                                                                  : onnx::kTensor);
  if (whole) return unread;
  if (whole.error().finding.empty()) return whole;
  report({Severity::error, whole.error().finding, {}, whole.error().offset,
          whole.error().message});
  return unread;
}

}  // namespace btf
