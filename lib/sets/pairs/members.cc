#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sets/natural_order.h"
#include "sets/pairs/named_tensors.h"
#include "sets/pairs/pairs.h"
#include "sets/safetensors_index.h"

namespace btf {
namespace {

// Members of one side that no pair has yet, by their names.
using Unpaired = std::multimap<std::string, std::uint64_t, std::less<>>;
using Members = std::vector<std::uint64_t>;

// Leaves those that have no pair.
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
  right_alone.insert(right_alone.end(), right.begin() + static_cast<std::ptrdiff_t>(r), right.end());
  left = std::move(left_alone);
  right = std::move(right_alone);
}

// Shards of one name need not hold the same part of a model: where they do not, tensors are paired
// by their names, whatever shard they are in.
class ShardPairs {
 public:
  ShardPairs(const TensorSet& actual, const TensorSet& golden) : actual_(actual), golden_(golden) {}

  // All shards together: a copy of a tensor that the index gives to another one is told by that.
  void part_others(Members& left, Members& right, std::vector<MemberPair>& pairs) {
    const auto of_shards = [&](const MemberPair& pair) {
      return ShardIndexes::may_be_shard(pair.name) && indexes_.name_for(actual_.path(*pair.actual)) &&
             indexes_.name_for(golden_.path(*pair.golden));
    };
    const bool differ = std::ranges::any_of(pairs, [&](const MemberPair& pair) {
      if (!of_shards(pair)) return false;
      const auto own = names(actual_, *pair.actual);
      const auto others = names(golden_, *pair.golden);
      return own && others && *own != *others;
    });
    if (!differ) return;
    std::erase_if(pairs, [&](const MemberPair& pair) {
      if (!of_shards(pair)) return false;
      left.push_back(*pair.actual);
      right.push_back(*pair.golden);
      return true;
    });
  }

 private:
  // Those that the index gives to this shard. Nothing: it cannot be read.
  std::optional<std::set<std::string>> names(const TensorSet& set, std::uint64_t member) {
    const auto file = set.file(member);
    if (!file) return std::nullopt;
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < (*file)->tensor_count(); ++i) {
      auto name = (*file)->name(i);
      if (!name) return std::nullopt;
      // A copy that is not meant is alone in this: no shard equals it.
      if (indexes_.elsewhere(set.path(member), *name)) *name += '\0' + set.path(member);
      names.insert(*std::move(name));
    }
    return names;
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  ShardIndexes indexes_;
};

Unpaired by_name(const TensorSet& set, const Members& members) {
  Unpaired named;
  for (const std::uint64_t member : members) named.emplace(set.member(member).name, member);
  return named;
}

// The rest of both sides once members are paired: pairs of tensors.
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
      // A name that several tensors have is ambiguous.
      if (to == golden.end() || !from.only || !to->second.only) continue;
      pairs_.push_back({.name = name,
                        .actual = from.tensor.member,
                        .golden = to->second.tensor.member,
                        .actual_tensor = from.tensor.index,
                        .golden_tensor = to->second.tensor.index});
      paired_left.insert(from.tensor.member);
      paired_right.insert(to->second.tensor.member);
    }
    rest(left, paired_left, actual, golden, &MemberPair::actual, &MemberPair::actual_tensor, actual_);
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

  // Members without a pair as a whole; of the others, tensors without one.
  void rest(const Members& members, const std::set<std::uint64_t>& paired,
            const Named& own, const Named& others, Side side, Side tensor, const TensorSet& set) {
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

class PairsByName {
 public:
  PairsByName(const TensorSet& actual, const TensorSet& golden, std::vector<MemberPair>& pairs)
      : actual_(actual), golden_(golden), pairs_(pairs) {}

  // `left_shards`, `right_shards`: to be paired tensor by tensor, whatever they are called.
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
                                "which of these belong together is not clear: " + places}
                              .in_file(actual.first->first))});
  }

  const TensorSet& actual_;
  const TensorSet& golden_;
  std::vector<MemberPair>& pairs_;
  Members alone_left_;
  Members alone_right_;
};

// By the places of one side; what it has not comes last.
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
  PairsByName(actual, golden, pairs)
      .run(by_name(actual, left), by_name(golden, right), std::move(left_shards),
           std::move(right_shards));
  put_in_order(pairs, actual, golden);
  return pairs;
}

void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution) {
  // With many small files opening takes most of the time.
  constexpr std::size_t kWorthwhile = 64;
  if (pairs.size() < kWorthwhile || execution.jobs == 1) return;
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> right;
  for (const MemberPair& pair : pairs) {
    // Members of which single tensors are paired were opened for that.
    if (!pair.actual || !pair.golden || pair.actual_tensor || pair.golden_tensor) continue;
    left.push_back(*pair.actual);
    right.push_back(*pair.golden);
  }
  actual.open_ahead(std::move(left));
  golden.open_ahead(std::move(right));
}

}  // namespace btf
