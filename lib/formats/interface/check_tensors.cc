#include "formats/interface/check_tensors.h"

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

}  // namespace btf
