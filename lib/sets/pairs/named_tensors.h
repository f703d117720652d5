// The tensors of members of a set, by what they are called.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sets/pairs/pairs.h"

namespace btf {

struct NamedTensor {
  SetTensor tensor;
  std::string name;
  bool waits_for_dims = false;
};

// Is it raw bytes whose dims are known once their partner is?
bool waits_for_dims(const TensorSet& set, std::uint64_t member);

// Files that cannot be opened and names that cannot be read are left out; errors of the system are
// then noted by the set.
std::vector<NamedTensor> named_tensors(const TensorSet& set,
                                       std::span<const std::uint64_t> members);

// Those that are wanted, by index.
std::vector<std::uint64_t> wanted_members(const TensorSet& set, const MemberFilter& wanted);

// In the order that golden gives, else actual; else in natural order.
void put_in_order(std::vector<MemberPair>& pairs, const TensorSet& actual, const TensorSet& golden);

}  // namespace btf
