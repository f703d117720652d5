// The pairs of two sets: members by path and name, else single tensors by name, map or number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/tensor_set.h"

namespace btf {

// Two members, or a tensor of each; one side alone where the other has no partner for it.
struct MemberPair {
  std::string name;  // the path in both; else the name of both
  std::optional<std::uint64_t> actual{};
  std::optional<std::uint64_t> golden{};
  // For members that are no pair, but have tensors with names of the other side.
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // Several have this name, and which belong together is not known.
  std::shared_ptr<const Error> error{};
  // For single tensors: the tier at which names that are not equal made them a pair.
  std::optional<PairTier> tier{};
  std::string note{};  // of a tensor that is alone: which name of the other side is close

  bool of_tensors() const { return actual_tensor || golden_tensor; }
};

// Members with the same path, then those of one name (a.npy with a.btf), then tensors of one name
// in what is left, which is opened for that; of the members that are wanted. In the order that
// golden gives, else actual; else in natural order.
std::vector<MemberPair> pair_members(const TensorSet& actual, const TensorSet& golden,
                                     const MemberFilter& wanted = {});

struct SetPairing {
  std::vector<MemberPair> pairs;
  MapUse map;
};

struct PairSets {
  MemberFilter wanted{};
  PairBy by = PairBy::automatic;
  NameMap map{};  // of tensors; goes before all else
};

// As pair_members(), and what that leaves by the tiers of names of all tensors. By number,
// if no files are pairs: as tensors stand in all that is wanted of a set, whose files must then be
// readable.
Result<SetPairing> pair_sets(const TensorSet& actual, const TensorSet& golden,
                             const PairSets& options);

// Opens the files of these pairs ahead, each set on a thread of its own, if there are enough that
// it is worth a thread and the execution allows more than one. Once for a set.
void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution);

}  // namespace btf
