#include "io/other_files.h"

#include <utility>
#include <vector>

#include "io/text.h"

namespace btftool {
namespace {

void note_count(const Context& context, const std::string& root, std::uint64_t count) {
  context.log.note(root + ": " + counted(count, "other file"));
}

}  // namespace

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
  for (const auto& [root, count] : counts) note_count(context, root, count);
  for (const btf::SetMember& other : set.others()) context.log.detail(other.path + ": not read");
  const std::vector<btf::SetMember>& unfinished = set.unfinished();
  if (unfinished.empty()) return;
  context.log.note(set.path() + ": " + counted(unfinished.size(), "unfinished output") +
                   " of btftool (.btf-...) not read; left by a run that was killed, or still "
                   "being written");
  for (const btf::SetMember& file : unfinished) context.log.detail(file.path + ": not read");
}

void note_others(const Context& context, std::string root, const std::vector<std::string>& paths) {
  while (root.size() > 1 && root.ends_with('/')) root.pop_back();
  std::uint64_t count = 0;
  for (const std::string& path : paths) count += path.starts_with(root + "/") ? 1 : 0;
  if (count > 0) note_count(context, root, count);
}

void add_others(const btf::TensorSet& set, std::vector<std::string>& paths) {
  for (const auto* files : {&set.others(), &set.unfinished()})
    for (const btf::SetMember& file : *files) paths.push_back(file.path);
}

}  // namespace btftool
