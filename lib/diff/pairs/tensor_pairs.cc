#include "diff/pairs/tensor_pairs.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "btf/try.h"
#include "formats/format_table.h"
#include "sets/natural_order.h"

namespace btf {
namespace {

Result<bool> names_tensors(const TensorFile& file) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, file.own_name(i));
    if (name) return true;
  }
  return false;
}

bool has_order(const TensorFile& file) { return format_named(file.format()).has(kInOrder); }

}  // namespace

Result<bool> pairs_by_name(const TensorFile& actual, const TensorFile& golden,
                           const DiffOptions& options) {
  if (options.pair_by == PairBy::number) return false;
  BTF_ASSIGN(const bool left, names_tensors(actual));
  BTF_ASSIGN(const bool right, names_tensors(golden));
  if ((left && right) || options.pair_by == PairBy::automatic) return left && right;
  return std::unexpected(
      Error{ErrorCode::invalid_argument, "has no names of tensors to pair them by"}.in_file(
          left ? golden.path() : actual.path()));
}

Result<TensorPairs> TensorPairs::of(const TensorFile& actual, const TensorFile& golden,
                                    const DiffOptions& options) {
  TensorPairs pairs;
  pairs.actual_ = {&actual, options.actual_tensors};
  pairs.golden_ = {&golden, options.golden_tensors};
  BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
  if (by_name) BTF_TRY(pairs.pair_by_name(options.actual_tensors && !options.golden_tensors));
  if (by_name && !options.actual_tensors && !has_order(actual)) BTF_TRY(pairs.put_in_order());
  return pairs;
}

// As golden gives it; else as people count.
Status TensorPairs::put_in_order() {
  if (has_order(*golden_.file)) {
    std::ranges::stable_sort(
        *by_name_, {}, [](const TensorPair& pair) { return pair.golden.value_or(UINT64_MAX); });
    return {};
  }
  std::vector<std::pair<std::string, TensorPair>> named;
  named.reserve(by_name_->size());
  for (const TensorPair& pair : *by_name_) {
    const Side& side = pair.actual ? actual_ : golden_;
    BTF_ASSIGN(auto name, side.file->own_name(pair.actual ? *pair.actual : *pair.golden));
    named.emplace_back(std::move(name).value_or(std::string()), pair);
  }
  std::ranges::stable_sort(named, natural_less, &std::pair<std::string, TensorPair>::first);
  std::ranges::transform(named, by_name_->begin(), &std::pair<std::string, TensorPair>::second);
  return {};
}

// Of a name that several have, the first goes with the first, the second with the second; so do
// those without a name. Who selects of actual only asks for nothing else of golden.
Status TensorPairs::pair_by_name(bool only_actual) {
  using Waiting = std::unordered_map<std::string, std::deque<std::uint64_t>>;
  Waiting unnamed;
  Waiting waiting;
  for (std::uint64_t i = 0; i < golden_.count(); ++i) {
    BTF_ASSIGN(std::optional<std::string> name, golden_.file->own_name(golden_.at(i)));
    (name ? waiting[*name] : unnamed[""]).push_back(golden_.at(i));
  }
  std::vector<TensorPair>& pairs = by_name_.emplace();
  for (std::uint64_t i = 0; i < actual_.count(); ++i) {
    BTF_ASSIGN(std::optional<std::string> name, actual_.file->own_name(actual_.at(i)));
    Waiting& candidates = name ? waiting : unnamed;
    const auto found = candidates.find(name.value_or(""));
    TensorPair pair{.actual = actual_.at(i), .golden = {}};
    if (found != candidates.end() && !found->second.empty()) {
      pair.golden = found->second.front();
      found->second.pop_front();
    }
    pairs.push_back(pair);
  }
  if (only_actual) return {};
  const std::size_t first = pairs.size();
  for (const Waiting* left : {&waiting, &unnamed})
    for (const auto& [name, indices] : *left)
      for (const std::uint64_t index : indices) pairs.push_back({.actual = {}, .golden = index});
  std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end(),
            [](const TensorPair& a, const TensorPair& b) { return *a.golden < *b.golden; });
  return {};
}

std::uint64_t TensorPairs::size() const {
  return by_name_ ? by_name_->size() : std::max(actual_.count(), golden_.count());
}

TensorPair TensorPairs::at(std::uint64_t number) const {
  if (by_name_) return (*by_name_)[number];
  TensorPair pair;
  if (number < actual_.count()) pair.actual = actual_.at(number);
  if (number < golden_.count()) pair.golden = golden_.at(number);
  return pair;
}

}  // namespace btf
