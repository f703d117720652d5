#include "io/index_warnings.h"

namespace btftool {

// A file that cannot be opened, or lacks a tensor of the index, is an error where it is opened.
void add_warnings_of_index(const btf::TensorSet& set, std::uint64_t member,
                           std::vector<std::string>& warnings) {
  const btf::Status checked = set.check_index(member, [&](const btf::Finding& finding) {
    if (finding.severity == btf::Severity::warning)
      warnings.push_back(set.member(member).path + ": " + finding.message);
  });
  static_cast<void>(checked);
}

}  // namespace btftool
