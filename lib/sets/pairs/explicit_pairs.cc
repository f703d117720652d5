#include "sets/pairs/explicit_pairs.h"

#include <algorithm>

#include "btf/try.h"
#include "core/numbers.h"

namespace btf {
namespace {

bool is_number(const std::string& item) {
  return item.find_first_not_of("0123456789-") == item.npos;
}

bool comes_before(const SetTensor& a, const SetTensor& b) {
  return std::pair(a.member, a.index) < std::pair(b.member, b.index);
}

// Numbers count the tensors of all files, so all files must be readable.
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
  return tensor && std::ranges::binary_search(tensors, *tensor, comes_before);
}

}  // namespace

Result<PairSelection> PairSelection::of(const std::string& text, const TensorSet& actual,
                                        const TensorSet& golden, bool of_sets) {
  PairSelection picked;
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
    std::ranges::sort(*tensors, comes_before);
  return picked;
}

bool PairSelection::has(const std::optional<SetTensor>& actual,
                        const std::optional<SetTensor>& golden) const {
  if (holds(actual_.left_out, actual) || holds(golden_.left_out, golden)) return false;
  return all_but_ || holds(actual_.taken, actual) || holds(golden_.taken, golden);
}

namespace {

// The tensor for one side of a pair: a number, a name, or "@" and a name of any form.
Result<SetTensor> tensor_called(const std::string& text, const TensorSet& set) {
  if (parse_number<std::int64_t>(text)) {
    BTF_ASSIGN(const std::vector<std::uint64_t> numbers, set.select(text));
    return set.tensor(numbers.front());
  }
  const std::string name = text.starts_with('@') ? text.substr(1) : text;
  BTF_ASSIGN(const std::vector<SetTensor> found, set.select_readable("@" + name));
  BTF_ASSIGN(const auto file, set.file(found.front().member));
  BTF_ASSIGN(const std::string own, file->name(found.front().index));
  if (own == name) return found.front();
  return std::unexpected(
      Error{ErrorCode::invalid_argument,
            "takes exact names, and no tensor is called '" + name + "'; use `NameMap` for patterns"}
          .in_file(set.path()));
}

// The positions at which a word may be split.
std::vector<std::size_t> colons(const std::string& word) {
  std::vector<std::size_t> places;
  for (std::size_t at = 1; at + 1 < word.size(); ++at)
    if (word[at] == ':') places.push_back(at);
  return places;
}

TensorPair by_index(const ExplicitPair& pair) {
  return {.actual = pair.actual.index, .golden = pair.golden.index, .note = {}};
}

}  // namespace

bool only_numbers(const std::vector<std::string>& words) {
  return std::ranges::all_of(words, [](const std::string& word) {
    return word.find_first_not_of("0123456789-:") == word.npos;
  });
}

Result<ExplicitPair> find_pair(const std::string& word, const TensorSet& actual,
                               const TensorSet& golden) {
  const auto refuse = [&](const Error& error) {
    return std::unexpected(error.within("`pairs` " + word));
  };
  std::optional<ExplicitPair> found;
  const std::vector<std::size_t> places = colons(word);
  for (const std::size_t at : places) {
    const auto left = tensor_called(word.substr(0, at), actual);
    const auto right = tensor_called(word.substr(at + 1), golden);
    if (places.size() == 1 && !left) return refuse(left.error());
    if (places.size() == 1 && !right) return refuse(right.error());
    if (!left || !right) continue;
    if (found)
      return refuse({ErrorCode::invalid_argument,
                     "is ambiguous since names contain colons; use `NameMap` to pair them"});
    found = ExplicitPair{*left, *right};
  }
  if (!found)
    return refuse({ErrorCode::invalid_argument, "no colon in it separates a tensor of " +
                                                    actual.path() + " from one of " +
                                                    golden.path()});
  return *found;
}

Result<std::vector<TensorPair>> find_pairs_of(const std::vector<std::string>& words,
                                              const TensorFile& actual, const TensorFile& golden) {
  const TensorSet left = TensorSet::of(actual);
  const TensorSet right = TensorSet::of(golden);
  std::vector<TensorPair> pairs;
  for (const std::string& word : words) {
    BTF_ASSIGN(const ExplicitPair pair, find_pair(word, left, right));
    pairs.push_back(by_index(pair));
  }
  return pairs;
}

std::optional<SetTensor> side_of_pair(const std::string& word, const TensorSet& set,
                                      bool of_golden) {
  std::optional<SetTensor> found;
  for (const std::size_t at : colons(word)) {
    const auto tensor = tensor_called(of_golden ? word.substr(at + 1) : word.substr(0, at), set);
    if (!tensor) continue;
    if (found && *found != *tensor) return std::nullopt;
    found = *tensor;
  }
  return found;
}

}  // namespace btf
