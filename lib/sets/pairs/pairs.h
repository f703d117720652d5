// Pairs of two sets: members by path and name, else single tensors by name, map or number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/tensor_set.h"

namespace btf {

// Two members, or a tensor of each; or one side alone if the other has no partner.
struct MemberPair {
  std::string name;  // the path if it is equal, else the name
  std::optional<std::uint64_t> actual{};
  std::optional<std::uint64_t> golden{};
  // For single tensors of members that are not a pair.
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // Set if several have this name and it is not clear which belong together.
  std::shared_ptr<const Error> error{};
  // For single tensors: the tier that paired different names.
  std::optional<PairTier> tier{};
  std::string note{};  // for a tensor without a pair: a close name on the other side

  bool of_tensors() const { return actual_tensor || golden_tensor; }
};

// Pairs members with equal paths, then those with equal names (a.npy and a.btf), then tensors with
// equal names in the remaining members, which are opened for that. Only considers wanted members.
// The order is golden's if it has one, else actual's, else natural.
std::vector<MemberPair> pair_members(const TensorSet& actual, const TensorSet& golden,
                                     const MemberFilter& wanted = {});

struct SetPairing {
  std::vector<MemberPair> pairs;
  MapUse map;
};

struct PairSets {
  MemberFilter wanted{};
  PairBy by = PairBy::automatic;
  NameMap map{};  // map of tensor names, with the highest precedence
};

// Like pair_members(), and then pairs what remains by the tiers of names of all tensors. By number,
// if no files are pairs: the order of the wanted tensors in each set, whose files must then be
// readable.
Result<SetPairing> pair_sets(const TensorSet& actual, const TensorSet& golden,
                             const PairSets& options);

// Opens the files of these pairs ahead, on one thread for each set, if there are enough to be worth
// a thread and if the execution allows several. Call at most once for a set.
void open_pairs_ahead(TensorSet& actual, TensorSet& golden, std::span<const MemberPair> pairs,
                      const Execution& execution);

// The tensors of members of a set, with their names.

struct NamedTensor {
  SetTensor tensor;
  std::string name;
  bool waits_for_dims = false;
};

// Returns true for raw bytes whose dims are those of their partner.
bool waits_for_dims(const TensorSet& set, std::uint64_t member);

// Leaves out files that cannot be opened and names that cannot be read. The set records errors of
// the system; damaged files are reported when they are compared, as members without a pair.
std::vector<NamedTensor> named_tensors(const TensorSet& set,
                                       std::span<const std::uint64_t> members);

// The indexes of the wanted members.
std::vector<std::uint64_t> wanted_members(const TensorSet& set, const MemberFilter& wanted);

// Golden's order if it has one, else actual's, else natural order.
void put_in_order(std::vector<MemberPair>& pairs, const TensorSet& actual, const TensorSet& golden);

}  // namespace btf
