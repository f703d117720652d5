#include "sets/pairs/named_tensors.h"

#include <algorithm>
#include <unordered_map>

#include "sets/natural_order.h"
#include "sets/safetensors_index.h"

namespace btf {

namespace {

// Of a tensor that several shards hold, the one that the index means is left.
void leave_out_copies(const TensorSet& set, std::vector<NamedTensor>& tensors) {
  std::unordered_map<std::string, std::uint64_t> holders;
  for (const NamedTensor& tensor : tensors) ++holders[tensor.name];
  if (holders.size() == tensors.size()) return;
  ShardIndexes indexes;
  std::erase_if(tensors, [&](const NamedTensor& tensor) {
    return holders[tensor.name] > 1 &&
           indexes.elsewhere(set.path(tensor.tensor.member), tensor.name);
  });
}

}  // namespace

bool waits_for_dims(const TensorSet& set, std::uint64_t member) {
  const auto options = set.open_options(member);
  if (!options || !options->spec || options->spec->storage) return false;
  const auto file = set.file(member);
  return !(file && (*file)->says_dims());
}

std::vector<NamedTensor> named_tensors(const TensorSet& set,
                                       std::span<const std::uint64_t> members) {
  std::vector<NamedTensor> found;
  for (const std::uint64_t member : members) {
    if (waits_for_dims(set, member)) {
      found.push_back({{member, 0}, set.member(member).name, true});
      continue;
    }
    const auto file = set.file(member);
    const std::uint64_t count = file ? (*file)->tensor_count() : 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      auto name = (*file)->name(i);
      if (!name) {
        set.note(member, name.error().in_file(set.path(member)));
        break;
      }
      found.push_back({{member, i}, *std::move(name)});
    }
  }
  leave_out_copies(set, found);
  return found;
}

std::vector<std::uint64_t> wanted_members(const TensorSet& set, const MemberFilter& wanted) {
  std::vector<std::uint64_t> members;
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (!wanted || wanted(set.member(i))) members.push_back(i);
  // A directory alone is in order.
  const auto place = [&](std::uint64_t i) { return set.place(i); };
  if (!std::ranges::is_sorted(members, natural_less, place))
    std::ranges::sort(members, natural_less, place);
  return members;
}

}  // namespace btf
