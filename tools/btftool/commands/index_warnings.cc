#include "commands/index_warnings.h"

namespace btftool {

// A file that cannot be opened, or lacks a tensor of the index, is an error where it is opened.
void warn_of_index(const Context& context, const btf::TensorSet& set, std::uint64_t member) {
  const btf::Status checked = set.check_index(member, [&](const btf::Finding& finding) {
    if (finding.severity == btf::Severity::warning)
      context.log.warning(set.member(member).path + ": " + finding.message);
  });
  static_cast<void>(checked);
}

}  // namespace btftool
