#include <algorithm>

#include "btf/tensor_set.h"
#include "commands/commands.h"

namespace btftool {

btf::Status check_named_specs(std::span<const std::string> operands, const btf::OpenOptions& open) {
  if (open.named_specs.empty() || std::ranges::find(operands, "-") != operands.end()) return {};
  const auto all = btf::TensorSet::open(operands, open);
  return all ? all->check_named_specs() : btf::Status{};  // opening them again reports the error
}

}  // namespace btftool
