#include "commands/other_files.h"

#include <utility>

#include "io/text.h"

namespace btftool {

void note_others(const Context& context, const btf::TensorSet& set) {
  // Else the error says how many.
  if (set.member_count() == 0) return;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  for (const btf::SetMember& other : set.others()) {
    std::string root = other.path.substr(0, other.path.size() - other.place.size());
    if (root.size() > 1) root.pop_back();
    if (counts.empty() || counts.back().first != root) counts.emplace_back(std::move(root), 0);
    ++counts.back().second;
  }
  for (const auto& [root, count] : counts)
    context.log.note(root + ": " + counted(count, "other file"));
  for (const btf::SetMember& other : set.others()) context.log.detail(other.path + ": not read");
}

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths) {
  for (const btf::SetMember& other : set.others()) paths.push_back(other.path);
}

}  // namespace btftool
