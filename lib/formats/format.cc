#include "formats/format.h"

#include <algorithm>
#include <span>
#include <vector>

#include "btf/try.h"
#include "core/finding_table.h"
#include "formats/io/byte_source.h"

namespace btf {

Status check_tensors(const TensorFile& file, FindingCode of_type, const FindingSink& report) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor && tensor.error().finding.empty()) return std::unexpected(tensor.error());
    if (!tensor)
      report({Severity::error, tensor.error().finding, i, tensor.error().offset,
              tensor.error().message});
    else if (!tensor->dtype)
      report({of_type.severity(), of_type, i, tensor->data_offset, tensor->unknown_dtype_text()});
  }
  return {};
}

namespace {

Status read_elements(const TensorFile& file, const TensorInfo& tensor) {
  constexpr std::uint64_t kBlock = 256U << 10;
  BTF_ASSIGN(const ByteSource* const source, file.elements(tensor.index));
  std::vector<std::byte> block(std::min(kBlock, tensor.data_bytes));
  for (std::uint64_t at = 0; at < tensor.data_bytes; at += block.size())
    BTF_TRY(source->read_at(tensor.data_offset + at, std::span(block).first(std::min<std::uint64_t>(
                                                         block.size(), tensor.data_bytes - at))));
  return {};
}

}  // namespace

Status check_elements(const TensorFile& file, const FindingSink& report) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    const auto tensor = file.tensor(i);
    if (!tensor || !tensor->known()) continue;
    const Status status = read_elements(file, *tensor);
    if (!status && status.error().finding.empty()) return status;
    if (!status)
      report({Severity::error, status.error().finding, i, status.error().offset,
              status.error().message});
  }
  return {};
}

}  // namespace btf
