#include "sets/pairs/pairs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "btf/try.h"
#include "core/numbers.h"
#include "sets/directory.h"
#include "sets/index.h"
#include "sets/names/match.h"
#include "sets/names/name_keys.h"
#include "sets/pairs/tied_names.h"

namespace btf {
namespace {

// Of the copies of a tensor in several shards, keeps the one that the index lists.
void leave_out_copies(const TensorSet& set, std::vector<NamedTensor>& tensors) {
  std::unordered_map<std::string, std::uint64_t> holders;
  for (const NamedTensor& tensor : tensors) ++holders[tensor.name];
  if (holders.size() == tensors.size()) return;
  ShardIndexes indexes;
  std::erase_if(tensors, [&](const NamedTensor& tensor) {
    return holders[tensor.name] > 1 &&
           indexes.elsewhere(set.path(tensor.tensor.member), tensor.name);
  });
  if (const Status& read = indexes.status(); !read && !tensors.empty())
    set.note(tensors.front().tensor.member, read.error());
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
  // The members of a single directory are already in order.
  const auto place = [&](std::uint64_t i) { return set.place(i); };
  if (!std::ranges::is_sorted(members, natural_less, place))
    std::ranges::sort(members, natural_less, place);
  return members;
}

namespace {

// Members of one side that are not paired yet, by name.
using Unpaired = std::multimap<std::string, std::uint64_t, std::less<>>;
using Members = std::vector<std::uint64_t>;

// Pairs members with equal places; those without a pair remain in `left` and `right`.
void pair_by_place(const TensorSet& actual, Members& left, const TensorSet& golden, Members& right,
                   std::vector<MemberPair>& pairs) {
  Members left_alone;
  Members right_alone;
  std::size_t r = 0;
  for (const std::uint64_t member : left) {
    const std::string_view place = actual.place(member);
    while (r < right.size() && natural_less(golden.place(right[r]), place))
      right_alone.push_back(right[r++]);
    if (r < right.size() && golden.place(right[r]) == place)
      pairs.push_back({.name = std::string(place), .actual = member, .golden = right[r++]});
    else
      left_alone.push_back(member);
  }
  right_alone.insert(right_alone.end(), right.begin() + static_cast<std::ptrdiff_t>(r),
                     right.end());
  left = std::move(left_alone);
  right = std::move(right_alone);
}

// Shards with equal names may hold different parts of a model. If they do, tensors are paired by
// name across all shards.
class ShardPairs {
 public:
  ShardPairs(const TensorSet& actual, const TensorSet& golden) : actual_(actual), golden_(golden) {}

  // Treats all shards alike, since the index decides which copy of a tensor is used.
  void part_others(Members& left, Members& right, std::vector<MemberPair>& pairs) {
    const auto of_shards = [&](const MemberPair& pair) {
      return ShardIndexes::may_be_shard(pair.name) &&
             indexes_.name_for(actual_.path(*pair.actual)) &&
             indexes_.name_for(golden_.path(*pair.golden));
    };
    const bool differ = std::ranges::any_of(pairs, [&](const MemberPair& pair) {
      if (!of_shards(pair)) return false;
      const auto own = names(actual_, *pair.actual);
      const auto others = names(golden_, *pair.golden);
      return own && others && *own != *others;
    });
    if (const Status& read = indexes_.status(); !read)
      for (const MemberPair& pair : pairs)
        if (ShardIndexes::may_be_shard(pair.name)) actual_.note(*pair.actual, read.error());
    if (!differ) return;
    std::erase_if(pairs, [&](const MemberPair& pair) {
      if (!of_shards(pair)) return false;
      left.push_back(*pair.actual);
      right.push_back(*pair.golden);
      return true;
    });
  }

 private:
  // The tensors that the index assigns to this shard; unset if it cannot be read.
  std::optional<std::set<std::string>> names(const TensorSet& set, std::uint64_t member) {
    const auto file = set.file(member);
    if (!file) return std::nullopt;
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      auto name = (*file)->name(i);
      if (!name) {
        set.note(member, name.error().in_file(set.path(member)));
        return std::nullopt;
      }
      // Makes a copy that is not used unique, so that no other shard is equal.
      if (indexes_.elsewhere(set.path(member), *name)) *name += '\0' + set.path(member);
      names.insert(*std::move(name));
    }
    return names;
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  ShardIndexes indexes_;
};

Unpaired members_by_name(const TensorSet& set, const Members& members) {
  Unpaired named;
  for (const std::uint64_t member : members) named.emplace(set.member(member).name, member);
  return named;
}

// Pairs single tensors of the members that have no pair.
class TensorPairing {
 public:
  TensorPairing(const TensorSet& actual, const TensorSet& golden, std::vector<MemberPair>& pairs)
      : actual_(actual), golden_(golden), pairs_(pairs) {}

  void run(const Members& left, const Members& right) {
    const bool both = !left.empty() && !right.empty();
    const Named actual = both ? names(actual_, left) : Named();
    const Named golden = both ? names(golden_, right) : Named();
    std::set<std::uint64_t> paired_left;
    std::set<std::uint64_t> paired_right;
    for (const auto& [name, from] : actual) {
      const auto to = golden.find(name);
      // A name that several tensors share is ambiguous.
      if (to == golden.end() || !from.only || !to->second.only) continue;
      pairs_.push_back({.name = name,
                        .actual = from.tensor.member,
                        .golden = to->second.tensor.member,
                        .actual_tensor = from.tensor.index,
                        .golden_tensor = to->second.tensor.index});
      paired_left.insert(from.tensor.member);
      paired_right.insert(to->second.tensor.member);
    }
    rest(left, paired_left, actual, golden, &MemberPair::actual, &MemberPair::actual_tensor,
         actual_);
    rest(right, paired_right, golden, actual, &MemberPair::golden, &MemberPair::golden_tensor,
         golden_);
  }

 private:
  struct Place {
    SetTensor tensor;
    bool only = true;
  };
  using Named = std::map<std::string, Place, std::less<>>;
  using Side = std::optional<std::uint64_t> MemberPair::*;

  static Named names(const TensorSet& set, const Members& members) {
    Named found;
    for (NamedTensor& named : named_tensors(set, members)) {
      const auto [at, fresh] = found.emplace(std::move(named.name), Place{named.tensor});
      at->second.only = fresh;
    }
    return found;
  }

  // Reports members without any pair as a whole, and unpaired tensors of the other members.
  void rest(const Members& members, const std::set<std::uint64_t>& paired, const Named& own,
            const Named& others, Side side, Side tensor, const TensorSet& set) {
    for (const std::uint64_t member : members) {
      if (paired.contains(member)) continue;
      MemberPair pair{.name = set.member(member).place};
      pair.*side = member;
      pairs_.push_back(std::move(pair));
    }
    for (const auto& [name, place] : own) {
      if (!paired.contains(place.tensor.member) || (place.only && others.contains(name))) continue;
      MemberPair pair{.name = name};
      pair.*side = place.tensor.member;
      pair.*tensor = place.tensor.index;
      pairs_.push_back(std::move(pair));
    }
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  std::vector<MemberPair>& pairs_;
};

class MemberPairing {
 public:
  MemberPairing(const TensorSet& actual, const TensorSet& golden, std::vector<MemberPair>& pairs)
      : actual_(actual), golden_(golden), pairs_(pairs) {}

  // The shards are paired tensor by tensor, whatever their names are.
  void run(const Unpaired& left, const Unpaired& right, Members left_shards, Members right_shards) {
    alone_left_ = std::move(left_shards);
    alone_right_ = std::move(right_shards);
    for (auto at = left.begin(); at != left.end(); at = left.upper_bound(at->first)) {
      const auto own = left.equal_range(at->first);
      const auto others = right.equal_range(at->first);
      if (others.first == others.second)
        take(own, alone_left_);
      else if (std::next(own.first) == own.second && std::next(others.first) == others.second)
        pairs_.push_back(
            {.name = at->first, .actual = own.first->second, .golden = others.first->second});
      else
        unclear(own, others);
    }
    for (auto at = right.begin(); at != right.end(); at = right.upper_bound(at->first))
      if (!left.contains(at->first)) take(right.equal_range(at->first), alone_right_);
    TensorPairing(actual_, golden_, pairs_).run(alone_left_, alone_right_);
  }

 private:
  using Range = std::pair<Unpaired::const_iterator, Unpaired::const_iterator>;

  static void take(const Range& members, Members& alone) {
    for (auto at = members.first; at != members.second; ++at) alone.push_back(at->second);
  }

  void unclear(const Range& actual, const Range& golden) {
    std::string places;
    const auto list = [&](const Range& members, const TensorSet& set) {
      for (auto at = members.first; at != members.second; ++at)
        places += (places.empty() ? "" : ", ") + set.member(at->second).path;
    };
    list(actual, actual_);
    list(golden, golden_);
    pairs_.push_back({.name = actual.first->first,
                      .actual = actual.first->second,
                      .golden = golden.first->second,
                      .error = std::make_shared<const Error>(
                          Error{ErrorCode::invalid_argument,
                                "it is not clear which of these belong together: " + places}
                              .in_file(actual.first->first))});
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  std::vector<MemberPair>& pairs_;
  Members alone_left_;
  Members alone_right_;
};

// Sorts by the order of one side; pairs without that side come last.
void sort_by(std::vector<MemberPair>& pairs, std::optional<std::uint64_t> MemberPair::* member,
             std::optional<std::uint64_t> MemberPair::* tensor) {
  std::ranges::stable_sort(pairs, {}, [&](const MemberPair& pair) {
    return std::pair((pair.*member).value_or(UINT64_MAX), (pair.*tensor).value_or(0));
  });
}

}  // namespace

void put_in_order(std::vector<MemberPair>& pairs, const TensorSet& actual,
                  const TensorSet& golden) {
  if (!std::ranges::is_sorted(pairs, natural_less, &MemberPair::name))
    std::ranges::stable_sort(pairs, natural_less, &MemberPair::name);
  if (golden.order_given())
    sort_by(pairs, &MemberPair::golden, &MemberPair::golden_tensor);
  else if (actual.order_given())
    sort_by(pairs, &MemberPair::actual, &MemberPair::actual_tensor);
}

std::vector<MemberPair> pair_members(const TensorSet& actual, const TensorSet& golden,
                                     const MemberFilter& wanted) {
  std::vector<MemberPair> pairs;
  Members left = wanted_members(actual, wanted);
  Members right = wanted_members(golden, wanted);
  pair_by_place(actual, left, golden, right, pairs);
  Members left_shards;
  Members right_shards;
  ShardPairs(actual, golden).part_others(left_shards, right_shards, pairs);
  MemberPairing(actual, golden, pairs)
      .run(members_by_name(actual, left), members_by_name(golden, right), std::move(left_shards),
           std::move(right_shards));
  put_in_order(pairs, actual, golden);
  return pairs;
}

void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution) {
  // With many small files, opening takes most of the time.
  constexpr std::size_t kWorthwhile = 64;
  if (pairs.size() < kWorthwhile || execution.jobs == 1) return;
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> right;
  for (const MemberPair& pair : pairs) {
    // Members whose tensors are paired individually have already been opened.
    if (!pair.actual || !pair.golden || pair.actual_tensor || pair.golden_tensor) continue;
    left.push_back(*pair.actual);
    right.push_back(*pair.golden);
  }
  actual.open_ahead(std::move(left));
  golden.open_ahead(std::move(right));
}

namespace {

using Tensors = std::vector<NamedTensor>;

bool whole(const MemberPair& pair) { return pair.error || (pair.actual && pair.golden); }

bool of_files(const MemberPair& pair) {
  return pair.error || (pair.actual && pair.golden && !pair.actual_tensor);
}

// In the order of the set, so that tensors have the set's numbers.
std::vector<std::uint64_t> members_of(const TensorSet& set, const MemberFilter& wanted) {
  std::vector<std::uint64_t> members = wanted_members(set, wanted);
  std::ranges::sort(members);
  return members;
}

// The number of elements; unset if it is not known yet.
Checked elements(const TensorSet& set, const NamedTensor& tensor) {
  if (tensor.waits_for_dims) return std::nullopt;
  const auto file = set.file(tensor.tensor.member);
  if (!file) return std::nullopt;
  const auto record = (*file)->tensor(tensor.tensor.index);
  if (!record)
    set.note(tensor.tensor.member, record.error().in_file(set.path(tensor.tensor.member)));
  return record ? element_count(record->dims) : std::nullopt;
}

bool as_large(const TensorSet& actual, const NamedTensor& left, const TensorSet& golden,
              const NamedTensor& right) {
  const auto l = elements(actual, left);
  const auto r = elements(golden, right);
  return !l || !r || *l == *r;
}

class SetPairs {
 public:
  SetPairs(const TensorSet& actual, const TensorSet& golden, const PairSets& options)
      : actual_(actual),
        golden_(golden),
        options_(options),
        left_members_(members_of(actual, options.wanted)),
        right_members_(members_of(golden, options.wanted)),
        left_(named_tensors(actual, left_members_)),
        right_(named_tensors(golden, right_members_)) {}

  Result<SetPairing> by_number() {
    for (const auto& [set, members] :
         {std::pair(&actual_, &left_members_), std::pair(&golden_, &right_members_)})
      for (const std::uint64_t member : *members) BTF_TRY(check_countable(*set, member));
    SetPairing found;
    for (std::size_t i = 0; i < std::max(left_.size(), right_.size()); ++i)
      add({.left = i < left_.size() ? std::optional(i) : std::nullopt,
           .right = i < right_.size() ? std::optional(i) : std::nullopt},
          found);
    return found;
  }

  SetPairing by_names() {
    SetPairing found;
    Numbers left = all_of(left_);
    Numbers right = all_of(right_);
    if (!options_.map.empty()) {
      MappedNames mapped = map_names(names(left_, left), names(right_, right), options_.map);
      found.map = {!mapped.pairs.empty(), std::move(mapped.unused)};
      for (const auto& [l, r] : mapped.pairs)
        add({.left = l, .right = r, .tier = PairTier::map}, found);
      erase_paired(mapped.pairs, left, right);
      erase_paired(of_same_files(left, right, found), left, right);
    }
    NamePairing paired = pair_lists(
        names(left_, left), names(right_, right), {}, [&](std::uint64_t l, std::uint64_t r) {
          return as_large(actual_, left_[left[l]], golden_, right_[right[r]]);
        });
    for (NamePair& pair : paired.pairs) {
      if (pair.left) pair.left = left[*pair.left];
      if (pair.right) pair.right = right[*pair.right];
      add(std::move(pair), found);
    }
    add_unreadable(found.pairs);
    put_in_order(found.pairs, actual_, golden_);
    return found;
  }

 private:
  using Numbers = std::vector<std::uint64_t>;  // numbers of tensors, in left_ or right_
  using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  // A file that is skipped would shift the numbers after it.
  static Status check_countable(const TensorSet& set, std::uint64_t member) {
    if (waits_for_dims(set, member)) return {};
    const auto file = set.file(member);
    Status known = file ? Status() : std::unexpected(file.error());
    for (std::uint64_t i = 0; known && i < (*file)->tensor_count(); ++i)
      if (const auto name = (*file)->name(i); !name) known = std::unexpected(name.error());
    if (known) return {};
    return std::unexpected(known.error().within("its tensors cannot be counted"));
  }

  static Numbers all_of(const Tensors& tensors) {
    Numbers numbers(tensors.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
  }

  static std::vector<std::string> names(const Tensors& tensors, const Numbers& numbers) {
    std::vector<std::string> names;
    names.reserve(numbers.size());
    for (const std::uint64_t number : numbers) names.push_back(tensors[number].name);
    return names;
  }

  void add(NamePair pair, SetPairing& found) const {
    const NamedTensor* const actual = pair.left ? &left_[*pair.left] : nullptr;
    const NamedTensor* const golden = pair.right ? &right_[*pair.right] : nullptr;
    MemberPair& tensors = found.pairs.emplace_back();
    tensors.name = (golden != nullptr ? golden : actual)->name;
    tensors.tier = pair.tier;
    tensors.note = std::move(pair.note);
    if (actual != nullptr) {
      tensors.actual = actual->tensor.member;
      tensors.actual_tensor = actual->tensor.index;
    }
    if (golden != nullptr) {
      tensors.golden = golden->tensor.member;
      tensors.golden_tensor = golden->tensor.index;
    }
  }

  static void erase_paired(const Pairs& pairs, Numbers& left, Numbers& right) {
    std::unordered_set<std::uint64_t> lefts;
    std::unordered_set<std::uint64_t> rights;
    for (const auto& [l, r] : pairs) {
      lefts.insert(l);
      rights.insert(r);
    }
    std::erase_if(left, [&](std::uint64_t l) { return lefts.contains(l); });
    std::erase_if(right, [&](std::uint64_t r) { return rights.contains(r); });
  }

  // If several files have tensors of the same name, pairs those of files with the same place.
  Pairs of_same_files(const Numbers& left, const Numbers& right, SetPairing& found) const {
    const auto places = [](const TensorSet& set, const Tensors& tensors, const Numbers& numbers) {
      std::map<std::pair<std::string, std::string>, Numbers> places;
      for (const std::uint64_t number : numbers) {
        const NamedTensor& tensor = tensors[number];
        places[{std::string(set.place(tensor.tensor.member)), tensor.name}].push_back(number);
      }
      return places;
    };
    Pairs pairs;
    const auto others = places(golden_, right_, right);
    for (const auto& [place, own] : places(actual_, left_, left)) {
      const auto other = others.find(place);
      if (other == others.end() || own.size() > 1 || other->second.size() > 1) continue;
      pairs.emplace_back(own[0], other->second[0]);
      add({.left = own[0], .right = other->second[0]}, found);
    }
    return pairs;
  }

  // Reports files without a known tensor as a whole.
  void add_unreadable(std::vector<MemberPair>& pairs) const {
    const auto add = [&](const TensorSet& set, const std::vector<std::uint64_t>& members,
                         const Tensors& tensors, std::optional<std::uint64_t> MemberPair::* side) {
      std::set<std::uint64_t> known;
      for (const NamedTensor& tensor : tensors) known.insert(tensor.tensor.member);
      for (const std::uint64_t member : members) {
        if (known.contains(member)) continue;
        MemberPair pair{.name = set.member(member).place};
        pair.*side = member;
        pairs.push_back(std::move(pair));
      }
    };
    add(actual_, left_members_, left_, &MemberPair::actual);
    add(golden_, right_members_, right_, &MemberPair::golden);
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  const PairSets& options_;
  std::vector<std::uint64_t> left_members_;
  std::vector<std::uint64_t> right_members_;
  Tensors left_;
  Tensors right_;
};

// Pairs by tiers what equal names leave unpaired on both sides.
class RemainingPairs {
 public:
  RemainingPairs(const TensorSet& actual, const TensorSet& golden, const MemberFilter& wanted)
      : actual_(actual), golden_(golden), wanted_(wanted) {}

  void pair(std::vector<MemberPair>& pairs) {
    std::vector<MemberPair> whole_pairs;
    const std::unordered_set<std::string> replaced = replaced_in(pairs);
    for (MemberPair& pair : pairs) {
      if (!pair.error && whole(pair) && replaced.contains(name_of(pair))) {
        MemberPair other = pair;
        pair.golden = pair.golden_tensor = std::nullopt;
        other.actual = other.actual_tensor = std::nullopt;
        left_.alone.push_back(std::move(pair));
        right_.alone.push_back(std::move(other));
      } else if (whole(pair)) {
        if (!pair.error) equal_.push_back(name_of(pair));
        whole_pairs.push_back(std::move(pair));
      } else {
        (pair.actual ? left_ : right_).alone.push_back(std::move(pair));
      }
    }
    pairs = std::move(whole_pairs);
    find_tensors(actual_, left_, &MemberPair::actual, &MemberPair::actual_tensor);
    find_tensors(golden_, right_, &MemberPair::golden, &MemberPair::golden_tensor);
    pair_tied(actual_, left_, golden_, pairs);
    pair_tied(golden_, right_, actual_, pairs);
    if (!left_.alone.empty() && !right_.alone.empty()) by_tiers(pairs);
    rest(left_, &MemberPair::actual, &MemberPair::actual_tensor, pairs);
    rest(right_, &MemberPair::golden, &MemberPair::golden_tensor, pairs);
    put_in_order(pairs, actual_, golden_);
  }

 private:
  using Field = std::optional<std::uint64_t> MemberPair::*;

  struct Side {
    std::vector<MemberPair> alone;
    Tensors tensors{};              // tensors of `alone`
    std::vector<std::size_t> of{};  // the entry of `alone` for each tensor
    std::vector<bool> paired{};     // by tensor
    std::vector<std::string> notes{};
  };

  std::string name_of(const MemberPair& pair) const {
    return pair.of_tensors() ? pair.name : actual_.member(*pair.actual).name;
  }

  // Names that both sides have for different tensors.
  std::unordered_set<std::string> replaced_in(const std::vector<MemberPair>& pairs) const {
    std::vector<std::string> left;
    std::vector<std::string> right;
    for (const MemberPair& pair : pairs) {
      if (pair.actual)
        left.push_back(pair.actual_tensor ? pair.name : actual_.member(*pair.actual).name);
      if (pair.golden)
        right.push_back(pair.golden_tensor ? pair.name : golden_.member(*pair.golden).name);
    }
    return replaced_names(left, right);
  }

  static void find_tensors(const TensorSet& set, Side& side, Field member, Field tensor) {
    for (std::size_t i = 0; i < side.alone.size(); ++i) {
      const MemberPair& pair = side.alone[i];
      const std::array only{*(pair.*member)};
      Tensors found;
      if (pair.*tensor)
        found.push_back({{*(pair.*member), *(pair.*tensor)}, pair.name});
      else
        found = named_tensors(set, only);
      side.of.insert(side.of.end(), found.size(), i);
      std::ranges::move(found, std::back_inserter(side.tensors));
    }
    side.paired.assign(side.tensors.size(), false);
    side.notes.assign(side.tensors.size(), "");
  }

  static std::vector<std::string> names_of(const Side& side,
                                           const std::vector<std::uint64_t>& numbers) {
    std::vector<std::string> names;
    for (const std::uint64_t number : numbers) names.push_back(side.tensors[number].name);
    return names;
  }

  // Pairs tensors that the other side stores under another name, possibly for several names.
  void pair_tied(const TensorSet& own, Side& side, const TensorSet& other,
                 std::vector<MemberPair>& pairs) const {
    if (side.tensors.empty()) return;
    const auto members = wanted_members(other, wanted_);
    const Tensors others = named_tensors(other, members);
    std::vector<std::string> names;
    for (const NamedTensor& tensor : others) names.push_back(tensor.name);
    TiedNames ties;
    for (const std::uint64_t member : members)
      if (const auto file = other.file(member))
        if (const Status added = ties.add(**file); !added) other.note(member, added.error());
    std::map<std::uint64_t, std::pair<std::shared_ptr<const TensorFile>, SharedBytes>> files;
    const auto stored_with = [&](const SetTensor& tensor) -> std::optional<std::size_t> {
      const auto file = own.file(tensor.member);
      if (!file) return std::nullopt;
      auto& shared =
          files.try_emplace(tensor.member, *file, SharedBytes(**file)).first->second.second;
      const auto shared_names = shared.names(tensor.index);
      if (!shared_names) {
        own.note(tensor.member, shared_names.error());
        return std::nullopt;
      }
      for (const std::string& name : *shared_names)
        if (const auto at = std::ranges::find(names, name); at != names.end())
          return static_cast<std::size_t>(at - names.begin());
      return std::nullopt;
    };
    for (std::size_t t = 0; t < side.tensors.size(); ++t) {
      const NamedTensor& alone = side.tensors[t];
      if (alone.waits_for_dims) continue;
      std::optional<std::size_t> at = ties.stored_as(alone.name, names);
      if (!at) at = stored_with(alone.tensor);
      if (!at || !as_large(own, alone, other, others[*at])) continue;
      const bool is_actual = &own == &actual_;
      const SetTensor& actual = (is_actual ? alone : others[*at]).tensor;
      const SetTensor& golden = (is_actual ? others[*at] : alone).tensor;
      pairs.push_back({.name = (is_actual ? others[*at] : alone).name,
                       .actual = actual.member,
                       .golden = golden.member,
                       .actual_tensor = actual.index,
                       .golden_tensor = golden.index,
                       .tier = PairTier::map});
      side.paired[t] = true;
    }
  }

  // Tensors that have no pair yet.
  static std::vector<std::uint64_t> unpaired(const Side& side) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t t = 0; t < side.tensors.size(); ++t)
      if (!side.paired[t]) numbers.push_back(t);
    return numbers;
  }

  void by_tiers(std::vector<MemberPair>& pairs) {
    const std::vector<std::uint64_t> left = unpaired(left_);
    const std::vector<std::uint64_t> right = unpaired(right_);
    NamePairing found = pair_lists(
        names_of(left_, left), names_of(right_, right), {},
        [&](std::uint64_t l, std::uint64_t r) {
          return as_large(actual_, left_.tensors[left[l]], golden_, right_.tensors[right[r]]);
        },
        equal_);
    for (NamePair& pair : found.pairs) {
      if (pair.left) pair.left = left[*pair.left];
      if (pair.right) pair.right = right[*pair.right];
    }
    for (const NamePair& pair : found.pairs) {
      if (!pair.left || !pair.right) {
        (pair.left ? left_.notes[*pair.left] : right_.notes[*pair.right]) = pair.note;
        continue;
      }
      const NamedTensor& left = left_.tensors[*pair.left];
      const NamedTensor& right = right_.tensors[*pair.right];
      left_.paired[*pair.left] = right_.paired[*pair.right] = true;
      pairs.push_back({.name = right.name,
                       .actual = left.tensor.member,
                       .golden = right.tensor.member,
                       .actual_tensor = left.tensor.index,
                       .golden_tensor = right.tensor.index,
                       .tier = pair.tier});
    }
  }

  // Members of which a tensor has a pair, or could have several, are reported tensor by tensor,
  // others as a whole.
  static void rest(Side& side, Field member, Field tensor, std::vector<MemberPair>& pairs) {
    std::vector<bool> apart(side.alone.size(), false);
    for (std::size_t t = 0; t < side.tensors.size(); ++t)
      if (side.paired[t] || side.notes[t].contains(" could be ") || is_substituted(side.notes[t]))
        apart[side.of[t]] = true;
    for (std::size_t i = 0; i < side.alone.size(); ++i)
      if (!apart[i]) pairs.push_back(std::move(side.alone[i]));
    for (std::size_t t = 0; t < side.tensors.size(); ++t) {
      if (!apart[side.of[t]] || side.paired[t]) continue;
      MemberPair alone{.name = side.tensors[t].name, .note = side.notes[t]};
      alone.*member = side.tensors[t].tensor.member;
      alone.*tensor = side.tensors[t].tensor.index;
      pairs.push_back(std::move(alone));
    }
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  const MemberFilter& wanted_;
  std::vector<std::string> equal_;  // names of the existing pairs
  Side left_;
  Side right_;
};

}  // namespace

Result<SetPairing> pair_sets(const TensorSet& actual, const TensorSet& golden,
                             const PairSets& options) {
  if (!options.map.empty()) return SetPairs(actual, golden, options).by_names();
  SetPairing found{.pairs = pair_members(actual, golden, options.wanted), .map = {}};
  const bool by_number = options.by == PairBy::number;
  if (options.by == PairBy::exact || (by_number && std::ranges::any_of(found.pairs, of_files)))
    return found;
  if (!by_number && std::ranges::any_of(found.pairs, whole)) {
    RemainingPairs(actual, golden, options.wanted).pair(found.pairs);
    return found;
  }
  SetPairs pairs(actual, golden, options);
  if (by_number) return pairs.by_number();
  SetPairing tiers = pairs.by_names();
  // If tiers find nothing either, files are reported as a whole.
  return std::ranges::any_of(tiers.pairs, whole) ? std::move(tiers) : std::move(found);
}

}  // namespace btf
