#include "diff/sides/tensor_pairs.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "sets/directory.h"
#include "sets/pairs/tied_names.h"

namespace btf {
namespace {

Result<bool> names_tensors(const TensorFile& file) {
  for (std::uint64_t i = 0; i < file.tensor_count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, file.own_name(i));
    if (name) return true;
  }
  return false;
}

bool has_order(const TensorFile& file) { return file.has(kInOrder); }

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
                                    const DiffOptions& options, const Candidates& candidates) {
  TensorPairs pairs;
  if (options.pairs) {
    pairs.by_name_ = *options.pairs;
    return pairs;
  }
  pairs.actual_ = {&actual, options.actual_tensors ? options.actual_tensors : candidates.actual};
  pairs.golden_ = {&golden, options.golden_tensors ? options.golden_tensors : candidates.golden};
  bool tiers = !options.map.empty();
  if (!tiers) {
    BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
    if (!by_name) return pairs;
    if (options.pair_by != PairBy::exact) {
      BTF_ASSIGN(const bool equal,
                 any_equal({&actual, candidates.actual}, {&golden, candidates.golden}));
      tiers = !equal;
    }
  }
  if (options.pair_by != PairBy::exact && options.map.empty()) {
    BTF_ASSIGN(const auto left, (Side{&actual, candidates.actual}).nonempty_names());
    BTF_ASSIGN(const auto right, (Side{&golden, candidates.golden}).nonempty_names());
    pairs.replaced_ = replaced_names(left, right);
  }
  if (tiers)
    BTF_TRY(pairs.pair_by_tiers(options, candidates));
  else {
    BTF_TRY(pairs.pair_by_name(options.actual_tensors && !options.golden_tensors));
    if (options.pair_by != PairBy::exact) BTF_TRY(pairs.pair_rest(candidates));
    BTF_TRY(pairs.note_close_names());
  }
  if (!options.actual_tensors && !candidates.actual && !has_order(actual))
    BTF_TRY(pairs.sort_pairs());
  return pairs;
}

Result<std::vector<std::string>> TensorPairs::Side::names() const {
  std::vector<std::string> names;
  names.reserve(count());
  for (std::uint64_t i = 0; i < count(); ++i) {
    BTF_ASSIGN(std::string name, file->name(at(i)));
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<std::string>> TensorPairs::Side::nonempty_names() const {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < count(); ++i) {
    BTF_ASSIGN(std::optional<std::string> name, file->own_name(at(i)));
    if (name) names.push_back(*std::move(name));
  }
  return names;
}

// Whether any name, or any tensor without a name, has a partner.
Result<bool> TensorPairs::any_equal(const Side& actual, const Side& golden) {
  std::unordered_set<std::string> names;
  bool unnamed = false;
  for (std::uint64_t i = 0; i < golden.count(); ++i) {
    BTF_ASSIGN(std::optional<std::string> name, golden.file->own_name(golden.at(i)));
    unnamed = unnamed || !name;
    if (name) names.insert(*std::move(name));
  }
  for (std::uint64_t i = 0; i < actual.count(); ++i) {
    BTF_ASSIGN(const std::optional<std::string> name, actual.file->own_name(actual.at(i)));
    if (name ? names.contains(*name) : unnamed) return true;
  }
  return false;
}

// Pairs all candidates, since one outside the selection may make a name ambiguous.
Status TensorPairs::pair_by_tiers(const DiffOptions& options, const Candidates& candidates) {
  const Side actual{actual_.file, candidates.actual};
  const Side golden{golden_.file, candidates.golden};
  BTF_ASSIGN(const std::vector<std::string> left, actual.names());
  BTF_ASSIGN(const std::vector<std::string> right, golden.names());
  const MayMatch may = [&](std::uint64_t l, std::uint64_t r) {
    return same_size(actual.at(l), golden.at(r));
  };
  NamePairing found = pair_lists(left, right, options.map, may);
  map_ = std::move(found.map);
  if (options.map.empty()) pair_without_names(actual, golden, left, right, may, found.pairs);
  by_name_.emplace();
  for (NamePair& pair : found.pairs) {
    TensorPair tensors{.tier = pair.tier, .note = std::move(pair.note)};
    if (pair.left) tensors.actual = actual.at(*pair.left);
    if (pair.right) tensors.golden = golden.at(*pair.right);
    by_name_->push_back(std::move(tensors));
  }
  keep_selected(options);
  return {};
}

// If no name has a partner: pairs the only tensors of both files, or tensors that NumPy numbers
// because they have no name with as many tensors of a file that keeps their order.
void TensorPairs::pair_without_names(const Side& actual, const Side& golden,
                                     const std::vector<std::string>& left,
                                     const std::vector<std::string>& right, const MayMatch& may,
                                     std::vector<NamePair>& pairs) {
  const bool none =
      std::ranges::none_of(pairs, [](const NamePair& pair) { return pair.left && pair.right; });
  if (!none || left.size() != right.size() || left.empty()) return;
  const auto counted = [](const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] != "arr_" + std::to_string(i)) return false;
    return true;
  };
  if (left.size() > 1 &&
      (!(counted(left) || counted(right)) || !has_order(*actual.file) || !has_order(*golden.file)))
    return;
  for (std::uint64_t i = 0; i < left.size(); ++i)
    if (!may(i, i)) return;
  pairs.clear();
  for (std::uint64_t i = 0; i < left.size(); ++i)
    pairs.push_back(
        {.left = i, .right = i, .tier = left.size() == 1 ? PairTier::only : PairTier::order});
}

// A name of either side selects the pair.
void TensorPairs::keep_selected(const DiffOptions& options) {
  if (!options.actual_tensors && !options.golden_tensors) return;
  const auto set_of = [](const Selection& selected) {
    return selected ? std::unordered_set<std::uint64_t>(selected->begin(), selected->end())
                    : std::unordered_set<std::uint64_t>();
  };
  const auto left = set_of(options.actual_tensors);
  const auto right = set_of(options.golden_tensors);
  std::erase_if(*by_name_, [&](const TensorPair& pair) {
    return !(pair.actual && left.contains(*pair.actual)) &&
           !(pair.golden && right.contains(*pair.golden));
  });
}

// In golden's order if its file has one, otherwise in natural order of names.
Status TensorPairs::sort_pairs() {
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

// Pairs tensors with equal names in their order, and those without a name as well. A selection of
// actual only leaves out the rest of golden.
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
    TensorPair pair{.actual = actual_.at(i)};
    if (found != candidates.end() && !found->second.empty() &&
        !(name && replaced_.contains(*name))) {
      pair.golden = found->second.front();
      found->second.pop_front();
    }
    pairs.push_back(pair);
  }
  if (only_actual) return {};
  const std::size_t first = pairs.size();
  for (const Waiting* left : {&waiting, &unnamed})
    for (const auto& [name, indices] : *left)
      for (const std::uint64_t index : indices) pairs.push_back({.golden = index});
  std::sort(pairs.begin() + static_cast<std::ptrdiff_t>(first), pairs.end(),
            [](const TensorPair& a, const TensorPair& b) { return *a.golden < *b.golden; });
  return {};
}

namespace {

// The names of one side and their tensors, without tensors that have no name.
struct SideNames {
  std::vector<std::string> names;
  std::vector<std::uint64_t> tensors;
};

// Tensors of one side that the other side stores under another name, and that name: as its file
// states, or as this file shows by storing both names in the same bytes.
using TiedPairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
Result<TiedPairs> tied(const SideNames& alone, const TensorFile& file, const SideNames& others,
                       const TensorFile& other_file) {
  TiedPairs found;
  if (alone.names.empty() || others.names.empty()) return found;
  TiedNames ties;
  BTF_TRY(ties.add(other_file));
  SharedBytes shared(file);
  for (std::size_t i = 0; i < alone.names.size(); ++i) {
    if (std::ranges::count(alone.names, alone.names[i]) > 1) continue;
    std::optional<std::size_t> at = ties.stored_as(alone.names[i], others.names);
    if (!at) {
      BTF_ASSIGN(const std::vector<std::string> names, shared.names(alone.tensors[i]));
      for (const std::string& name : names)
        if (const auto same = std::ranges::find(others.names, name); same != others.names.end())
          at = static_cast<std::size_t>(same - others.names.begin());
    }
    if (at) found.emplace_back(alone.tensors[i], others.tensors[*at]);
  }
  return found;
}

void remove(SideNames& side, std::uint64_t tensor) {
  const auto at = std::ranges::find(side.tensors, tensor) - side.tensors.begin();
  side.tensors.erase(side.tensors.begin() + at);
  side.names.erase(side.names.begin() + at);
}

// The names that the other side does not have.
SideNames without(const SideNames& side, const std::unordered_set<std::string_view>& others,
                  const std::unordered_set<std::string>& replaced) {
  SideNames left;
  for (std::size_t i = 0; i < side.names.size(); ++i) {
    if (others.contains(side.names[i]) && !replaced.contains(side.names[i])) continue;
    left.names.push_back(side.names[i]);
    left.tensors.push_back(side.tensors[i]);
  }
  return left;
}

}  // namespace

// Passes all candidates without an equal name to the tiers, since one outside the selection may
// make a name ambiguous.
Status TensorPairs::pair_rest(const Candidates& candidates) {
  const auto names_of = [](const Side& side) -> Result<SideNames> {
    SideNames own;
    for (std::uint64_t i = 0; i < side.count(); ++i) {
      BTF_ASSIGN(std::optional<std::string> name, side.file->own_name(side.at(i)));
      if (!name) continue;
      own.names.push_back(*std::move(name));
      own.tensors.push_back(side.at(i));
    }
    return own;
  };
  BTF_ASSIGN(const SideNames actual, names_of({actual_.file, candidates.actual}));
  BTF_ASSIGN(const SideNames golden, names_of({golden_.file, candidates.golden}));
  const std::unordered_set<std::string_view> actual_names(actual.names.begin(), actual.names.end());
  const std::unordered_set<std::string_view> golden_names(golden.names.begin(), golden.names.end());
  SideNames left = without(actual, golden_names, replaced_);
  SideNames right = without(golden, actual_names, replaced_);
  std::vector<TensorPair> known;
  BTF_ASSIGN(const TiedPairs left_tied, tied(left, *actual_.file, golden, *golden_.file));
  for (const auto& [own, other] : left_tied)
    if (same_size(own, other))
      known.push_back({.actual = own, .golden = other, .tier = PairTier::map});
  BTF_ASSIGN(const TiedPairs right_tied, tied(right, *golden_.file, actual, *actual_.file));
  for (const auto& [own, other] : right_tied)
    if (same_size(other, own))
      known.push_back({.actual = other, .golden = own, .tier = PairTier::map});
  for (const auto& [own, other] : left_tied) remove(left, own);
  for (const auto& [own, other] : right_tied) remove(right, own);
  std::vector<std::string> equal;
  for (const std::string& name : actual.names)
    if (golden_names.contains(name) && !replaced_.contains(name)) equal.push_back(name);
  const MayMatch may = [&](std::uint64_t l, std::uint64_t r) {
    return same_size(left.tensors[l], right.tensors[r]);
  };
  NamePairing found;
  if (!left.names.empty() && !right.names.empty())
    found = pair_lists(left.names, right.names, {}, may, equal);
  for (const NamePair& pair : found.pairs) {
    TensorPair& one = known.emplace_back();
    one.tier = pair.tier;
    one.note = pair.note;
    if (pair.left) one.actual = left.tensors[*pair.left];
    if (pair.right) one.golden = right.tensors[*pair.right];
  }
  std::unordered_map<std::uint64_t, std::size_t> of_actual;  // pairs of tensors without a partner
  std::unordered_map<std::uint64_t, std::size_t> of_golden;
  for (std::size_t i = 0; i < by_name_->size(); ++i) {
    const TensorPair& pair = (*by_name_)[i];
    if (pair.actual && !pair.golden) of_actual.emplace(*pair.actual, i);
    if (pair.golden && !pair.actual) of_golden.emplace(*pair.golden, i);
  }
  const auto place = [](const auto& places, const std::optional<std::uint64_t>& tensor) {
    const auto at = tensor ? places.find(*tensor) : places.end();
    return at == places.end() ? std::nullopt : std::optional(at->second);
  };
  std::unordered_set<std::size_t> merged;
  for (TensorPair& pair : known) {
    const std::optional<std::size_t> own = place(of_actual, pair.actual);
    const std::optional<std::size_t> other = place(of_golden, pair.golden);
    // Leaves out what neither side selects.
    if (!own && !other) continue;
    (*by_name_)[own ? *own : *other] = std::move(pair);
    if (own && other) merged.insert(*other);
  }
  std::size_t at = 0;
  std::erase_if(*by_name_, [&](const TensorPair&) { return merged.contains(at++); });
  return {};
}

bool TensorPairs::same_size(std::uint64_t actual, std::uint64_t golden) const {
  const auto a = actual_.file->tensor(actual);
  const auto g = golden_.file->tensor(golden);
  return !a || !g || element_count(a->dims) == element_count(g->dims);
}

Status TensorPairs::note_close_names() {
  std::vector<std::string> left;
  std::vector<std::string> right;
  const auto noted = [](const TensorPair& pair) {
    return (pair.actual && pair.golden) || !pair.note.empty();
  };
  for (const TensorPair& pair : *by_name_) {
    if (noted(pair)) continue;
    const Side& side = pair.actual ? actual_ : golden_;
    BTF_ASSIGN(std::string name, side.file->name(pair.actual ? *pair.actual : *pair.golden));
    (pair.actual ? left : right).push_back(std::move(name));
  }
  const std::vector<std::string> notes = close_names(left, right);
  std::size_t alone = 0;
  for (TensorPair& pair : *by_name_)
    if (!noted(pair)) pair.note = notes[alone++];
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

DiffTensor tensor_of(const TensorInfo& record) {
  return {record.index, *record.dtype, *record.layout, record.dims, record.name, record.named};
}

TensorDiff missing_tensor(const TensorInfo& tensor, bool of_golden, std::string note) {
  TensorDiff diff;
  (of_golden ? diff.golden : diff.actual) = tensor_of(tensor);
  diff.result = DiffResult::missing;
  diff.reason = is_substituted(note) ? "another form"
                : of_golden          ? "no actual tensor"
                                     : "no golden tensor";
  diff.note = std::move(note);
  return diff;
}

Result<std::vector<std::uint64_t>> TensorPairs::pick(const PickTensors& pick) const {
  if (!pick) {
    std::vector<std::uint64_t> all(size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::vector<PlannedTensor> planned;
  for (std::uint64_t i = 0; i < size(); ++i) {
    const TensorPair pair = at(i);
    PlannedTensor& plan = planned.emplace_back();
    for (const auto& [file, index] :
         {std::pair(actual_.file, pair.actual), {golden_.file, pair.golden}}) {
      if (!index) continue;
      // A damaged tensor is damaged for every shard, and is reported with its pair.
      const auto name = file->name(*index);
      const auto info = file->tensor(*index);
      if (!name && is_system_error(name.error())) return std::unexpected(name.error());
      if (!info && is_system_error(info.error())) return std::unexpected(info.error());
      plan.name = name ? *name : std::string();
      if (info) plan.bytes += info->data_bytes;
    }
  }
  BTF_ASSIGN(std::vector<std::uint64_t> picked, pick(planned));
  const bool ascending = std::ranges::is_sorted(picked, std::ranges::less_equal());
  if (ascending && (picked.empty() || picked.back() < size())) return picked;
  return fail(ErrorCode::invalid_argument,
              "numbers of pairs ascend, and are below " + std::to_string(size()));
}

}  // namespace btf
