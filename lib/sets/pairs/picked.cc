#include "sets/pairs/picked.h"

#include <algorithm>

#include "btf/try.h"

namespace btf {
namespace {

bool is_number(const std::string& item) {
  return item.find_first_not_of("0123456789-") == item.npos;
}

bool before(const SetTensor& a, const SetTensor& b) {
  return std::pair(a.member, a.index) < std::pair(b.member, b.index);
}

// Numbers go through all files, so that these must be readable.
Result<std::vector<SetTensor>> find(const std::string& item, const TensorSet& set) {
  if (!is_number(item)) return set.select_readable(item);
  BTF_ASSIGN(const std::vector<std::uint64_t> numbers, set.select(item));
  std::vector<SetTensor> found;
  for (const std::uint64_t number : numbers) {
    BTF_ASSIGN(const SetTensor tensor, set.tensor(number));
    found.push_back(tensor);
  }
  return found;
}

void add(const Result<std::vector<SetTensor>>& found, std::vector<SetTensor>& to) {
  if (found) to.insert(to.end(), found->begin(), found->end());
}

bool holds(const std::vector<SetTensor>& tensors, const std::optional<SetTensor>& tensor) {
  return tensor && std::ranges::binary_search(tensors, *tensor, before);
}

}  // namespace

Result<Picked> Picked::of(const std::string& text, const TensorSet& actual, const TensorSet& golden,
                          bool of_sets) {
  Picked picked;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const bool out = at < end && text[at] == '!';
    const std::string item = text.substr(at + out, end - at - out);
    at = end + 1;
    picked.all_but_ = picked.all_but_ && out;
    const auto left = find(item, actual);
    const auto right = is_number(item) ? std::vector<SetTensor>() : find(item, golden);
    const bool missing = !left && (!right || right->empty());
    if (missing && (is_number(item) || !of_sets)) return std::unexpected(left.error());
    add(left, out ? picked.actual_.left_out : picked.actual_.taken);
    add(right, out ? picked.golden_.left_out : picked.golden_.taken);
  }
  for (Tensors* const tensors : {&picked.actual_.taken, &picked.actual_.left_out,
                                 &picked.golden_.taken, &picked.golden_.left_out})
    std::ranges::sort(*tensors, before);
  return picked;
}

bool Picked::has(const std::optional<SetTensor>& actual,
                 const std::optional<SetTensor>& golden) const {
  if (holds(actual_.left_out, actual) || holds(golden_.left_out, golden)) return false;
  return all_but_ || holds(actual_.taken, actual) || holds(golden_.taken, golden);
}

}  // namespace btf
