#include "diff/sets/selection.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "btf/layout.h"
#include "btf/try.h"
#include "diff/pairs/tensor_pairs.h"
#include "formats/io/globs.h"
#include "sets/pairs/given_pairs.h"

namespace btf {
namespace {

// Does a selection say names, and not only numbers?
bool names_tensors(const std::string& text) {
  return text.find_first_not_of("0123456789,-") != text.npos;
}

using Found = std::function<Status(const std::string& item)>;

// A selection as it applies to each side: names on one side only are missing on the other, so they
// are left out there. Nothing: that side has none of them. A name on neither side is an error.
struct SidedSelection {
  std::optional<std::string> actual;
  std::optional<std::string> golden;
};

Result<SidedSelection> by_side(const std::string& text, const Found& actual, const Found& golden) {
  SidedSelection sides;
  bool all_but = true;
  const auto add = [](std::optional<std::string>& to, const std::string& item) {
    to = to ? *to + "," + item : item;
  };
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    const bool out = item.starts_with('!');
    const std::string named = out ? item.substr(1) : item;
    const Status left = actual(named);
    const Status right = golden(named);
    if (!left && !right) return std::unexpected(left.error());
    if (left && (!out || sides.actual || all_but)) add(sides.actual, item);
    if (right && (!out || sides.golden || all_but)) add(sides.golden, item);
    all_but = all_but && out;
  }
  // With exclusions only, a side that has none of the excluded names keeps everything.
  if (all_but && !sides.actual) sides.actual = "*";
  if (all_but && !sides.golden) sides.golden = "*";
  return sides;
}

Status select(const TensorFile& file, const std::string& text,
              std::optional<std::vector<std::uint64_t>>& target) {
  BTF_ASSIGN(target, TensorSet::of(file).select(text));
  return {};
}

// The partners of tensors of the other side in a file without names: those of the same numbers; its
// only tensor where one is meant, as of raw bytes.
Status select_partners(const std::vector<std::uint64_t>& others, const TensorFile& file,
                       std::optional<std::vector<std::uint64_t>>& target) {
  target.emplace();
  if (others.size() == 1 && file.tensor_count() == 1) {
    BTF_ASSIGN(const std::optional<std::string> own, file.own_name(0));
    if (!own) target->push_back(0);
    if (!own) return {};
  }
  for (const std::uint64_t tensor : others)
    if (tensor < file.tensor_count()) target->push_back(tensor);
  return {};
}

// Options that apply to lists of tensors apply to pairs too.
void set_pairs(std::vector<TensorPair> pairs, DiffOptions& options) {
  options.actual_tensors.emplace();
  options.golden_tensors.emplace();
  for (const TensorPair& pair : pairs) {
    if (pair.actual) options.actual_tensors->push_back(*pair.actual);
    if (pair.golden) options.golden_tensors->push_back(*pair.golden);
  }
  options.pairs = std::move(pairs);
}

std::optional<SetTensor> in_set(const std::optional<std::uint64_t>& member,
                                const std::optional<std::uint64_t>& tensor) {
  if (!member || !tensor) return std::nullopt;
  return SetTensor{*member, *tensor};
}

std::vector<TensorPair> all_of(const TensorPairs& pairs) {
  std::vector<TensorPair> all;
  for (std::uint64_t i = 0; i < pairs.size(); ++i) all.push_back(pairs.at(i));
  return all;
}

// The selection may resolve tensors without a partner: "0/*" of 0/xs and 1/xs.
Result<std::vector<TensorPair>> picked_pairs(const TensorFile& actual, const TensorFile& golden,
                                             const DiffOptions& options, const Picked& picked,
                                             std::vector<TensorPair> pairs) {
  const auto has = [&](const TensorPair& pair) {
    return picked.has(in_set(0, pair.actual), in_set(0, pair.golden));
  };
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> right;
  std::vector<std::uint64_t> all_left;
  std::vector<std::uint64_t> all_right;
  std::vector<TensorPair> kept;
  for (TensorPair& pair : pairs) {
    const bool wanted = has(pair);
    if (pair.actual && pair.golden) {
      if (wanted) kept.push_back(std::move(pair));
      continue;
    }
    auto& all = pair.actual ? all_left : all_right;
    all.push_back(pair.actual ? *pair.actual : *pair.golden);
    if (wanted) (pair.actual ? left : right).push_back(all.back());
  }
  if (!left.empty() || !right.empty()) {
    DiffOptions again;
    again.pair_by = options.pair_by;
    BTF_ASSIGN(const TensorPairs found,
               TensorPairs::of(actual, golden, again,
                               {left.empty() ? std::move(all_left) : std::move(left),
                                right.empty() ? std::move(all_right) : std::move(right)}));
    std::ranges::copy_if(all_of(found), std::back_inserter(kept), has);
  }
  std::ranges::stable_sort(kept, {},
                           [](const TensorPair& pair) { return pair.actual.value_or(UINT64_MAX); });
  return kept;
}

}  // namespace

Result<NameSelection> NameSelection::of(const SetDiffOptions& asked, const TensorSet& actual,
                                        const TensorSet& golden,
                                        std::span<const MemberPair> pairs) {
  NameSelection selection;
  const std::string& text = asked.tensors.value_or("");
  if (asked.tensors && std::ranges::any_of(pairs, &MemberPair::of_tensors)) {
    BTF_ASSIGN(selection.picked_, Picked::of(text, actual, golden));
  }
  selection.given_ = names_tensors(text);
  if (!selection.given_) return selection;
  const auto found_in = [](const TensorSet& set) {
    return [&set](const std::string& item) {
      const auto found = set.select_readable(item);
      return found ? Status() : std::unexpected(found.error());
    };
  };
  BTF_ASSIGN(const SidedSelection sides, by_side(text, found_in(actual), found_in(golden)));
  BTF_TRY(select(sides.actual, actual, selection.actual_, selection.actual_unreadable_));
  BTF_TRY(select(sides.golden, golden, selection.golden_, selection.golden_unreadable_));
  return selection;
}

Status NameSelection::select(const std::optional<std::string>& text, const TensorSet& set,
                             Selected& selected, std::set<std::uint64_t>& unreadable) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i)
    if (!set.file(i)) unreadable.insert(i);
  if (!text) return {};
  BTF_ASSIGN(const auto tensors, set.select_readable(*text));
  for (const SetTensor& tensor : tensors) selected[tensor.member].push_back(tensor.index);
  return {};
}

bool NameSelection::narrow(const MemberPair& pair, DiffOptions& options) const {
  if (pair.of_tensors()) {
    set_pairs({{.actual = pair.actual_tensor,
                .golden = pair.golden_tensor,
                .tier = pair.tier,
                .note = pair.note}},
              options);
    return !picked_ || picked_->has(in_set(pair.actual, pair.actual_tensor),
                                    in_set(pair.golden, pair.golden_tensor));
  }
  if (!given_) return true;
  if ((pair.actual && actual_unreadable_.contains(*pair.actual)) ||
      (pair.golden && golden_unreadable_.contains(*pair.golden)))
    return true;
  const auto narrowed = [](const Selected& selected, const std::optional<std::uint64_t>& member) {
    const auto found = member ? selected.find(*member) : selected.end();
    return found == selected.end() ? std::vector<std::uint64_t>() : found->second;
  };
  options.actual_tensors = narrowed(actual_, pair.actual);
  options.golden_tensors = narrowed(golden_, pair.golden);
  return !options.actual_tensors->empty() || !options.golden_tensors->empty();
}

Status DiffSelection::apply(const TensorFile& actual, const TensorFile& golden,
                            DiffOptions& options) {
  if (!options.pairs && !asked_.pairs.empty()) {
    BTF_ASSIGN(auto pairs, find_pairs_of(asked_.pairs, actual, golden));
    set_pairs(std::move(pairs), options);
  }
  const bool selected = options.actual_tensors || options.golden_tensors;
  if (!options.map.empty() || (asked_.tensors && !options.pairs)) {
    BTF_ASSIGN(const bool done, select_of_tiers(actual, golden, selected, options));
    if (!done && !selected && asked_.tensors) BTF_TRY(select_both(actual, golden, options));
  }
  BTF_TRY(note_names(actual, options.actual_tensors));
  BTF_TRY(note_names(golden, options.golden_tensors));
  return apply_tolerances(actual.tensor_count(), options);
}

// Where names of one side stand for others: which pairs are selected. False: they do not.
Result<bool> DiffSelection::select_of_tiers(const TensorFile& actual, const TensorFile& golden,
                                            bool of_sets, DiffOptions& options) {
  if (options.map.empty()) {
    if (options.pair_by == PairBy::exact) return false;
    BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
    if (!by_name) return false;
  }
  DiffOptions whole;
  whole.pair_by = options.pair_by;
  whole.map = options.map;
  BTF_ASSIGN(const TensorPairs found, TensorPairs::of(actual, golden, whole, {}));
  std::vector<TensorPair> all = all_of(found);
  map_ = found.map();
  const auto equal = [](const TensorPair& pair) {
    return pair.actual && pair.golden && !pair.tier;
  };
  if (!asked_.tensors || (options.map.empty() && std::ranges::any_of(all, equal))) return false;
  BTF_ASSIGN(const Picked picked,
             Picked::of(*asked_.tensors, TensorSet::of(actual), TensorSet::of(golden), of_sets));
  BTF_ASSIGN(std::vector<TensorPair> pairs,
             picked_pairs(actual, golden, options, picked, std::move(all)));
  set_pairs(std::move(pairs), options);
  return true;
}

// Globs that match a tensor. Names are read until each has one.
Status DiffSelection::note_names(const TensorFile& file,
                                 const std::optional<std::vector<std::uint64_t>>& selected) {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (asked_.tensor_tolerances[i].glob && !used_[i]) open.push_back(i);
  const std::uint64_t count = selected ? selected->size() : file.tensor_count();
  for (std::uint64_t i = 0; i < count && !open.empty(); ++i) {
    BTF_ASSIGN(const std::string name, file.name(selected ? (*selected)[i] : i));
    std::erase_if(open, [&](std::size_t rule) {
      used_[rule] = used_[rule] || glob_matches(*asked_.tensor_tolerances[rule].glob, name);
      return used_[rule];
    });
  }
  return {};
}

Status DiffSelection::select_both(const TensorFile& actual, const TensorFile& golden,
                                  DiffOptions& options) {
  const std::string& text = *asked_.tensors;
  if (!names_tensors(text)) {
    BTF_TRY(select(actual, text, options.actual_tensors));
    // Numbers are of actual; its names say what of golden is meant.
    BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
    return by_name ? Status{} : select(golden, text, options.golden_tensors);
  }
  const auto found_in = [](const TensorFile& file) {
    return [&file](const std::string& item) {
      const auto found = TensorSet::of(file).select(item);
      return found ? Status() : std::unexpected(found.error());
    };
  };
  BTF_ASSIGN(const SidedSelection sides, by_side(text, found_in(actual), found_in(golden)));
  options.actual_tensors.emplace();
  options.golden_tensors.emplace();
  if (sides.actual) BTF_TRY(select(actual, *sides.actual, options.actual_tensors));
  if (sides.golden) BTF_TRY(select(golden, *sides.golden, options.golden_tensors));
  BTF_ASSIGN(const bool by_name, pairs_by_name(actual, golden, options));
  if (by_name || sides.actual.has_value() == sides.golden.has_value()) return {};
  // Pairs are made by number, and names of one side say which of them.
  return sides.actual ? select_partners(*options.actual_tensors, golden, options.golden_tensors)
                      : select_partners(*options.golden_tensors, actual, options.actual_tensors);
}

Status DiffSelection::apply_tolerances(std::uint64_t tensors, DiffOptions& options) {
  for (std::size_t i = 0; i < asked_.tensor_tolerances.size(); ++i) {
    const TensorTolerance& given = asked_.tensor_tolerances[i];
    if (given.glob) continue;
    const auto index = resolve_index(given.tensor, tensors);
    const auto& selected = options.actual_tensors;
    if (!index || (selected && std::ranges::find(*selected, *index) == selected->end())) continue;
    used_[i] = true;
    if (!options.tensor_tolerance[*index].add(given.tolerance))
      return fail(ErrorCode::invalid_argument, given.source + ": tensor " + std::to_string(*index) +
                                                   " has been given another value");
  }
  return {};
}

Status DiffSelection::check_used() const {
  const auto unused = std::ranges::find(used_, false);
  if (unused == used_.end()) return {};
  const TensorTolerance& given =
      asked_.tensor_tolerances[static_cast<std::size_t>(unused - used_.begin())];
  return fail(ErrorCode::invalid_argument,
              given.source + (given.glob ? ": no compared tensor matches"
                                         : ": no tensor " + std::to_string(given.tensor) +
                                               " of actual is compared"));
}

}  // namespace btf
