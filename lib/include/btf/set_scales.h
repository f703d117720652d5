// Scales and zero points that are not looked for in the file of the codes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "btf/api.h"
#include "btf/attributes.h"
#include "btf/error.h"
#include "btf/execution.h"

namespace btf {

class TensorSet;
struct MemberPair;

// What codes stand for, x = (code - zero point) * scale: of the whole tensor, or of each index of a
// dim.
struct GivenScale {
  std::optional<std::uint32_t> axis{};
  std::vector<double> scales{};
  std::vector<std::int64_t> zero_points{};  // one for each scale
};

// Scales and zero points that are files of their own in a set: a.npy, a_scale.npy (docs/cli.md,
// section 3.2).
class BTF_API SetScales {
 public:
  // By the names of members; codes are opened where there is a scale of that name.
  static SetScales of(const TensorSet& set);

  bool empty() const { return scales_.empty(); }
  // Does the member hold scales or zero points of another, so that it is nothing by itself?
  bool is_companion(std::uint64_t member) const { return companions_.contains(member); }
  // Does every member of the pair, so that there is nothing to compare?
  static bool only_scales(const MemberPair& pair, const SetScales& actual, const SetScales& golden);

  // Those of the member's only tensor; nothing: it has none in the set.
  Result<std::optional<GivenScale>> given(const TensorSet& set, std::uint64_t member,
                                          const Execution& execution) const;

 private:
  std::map<std::uint64_t, QuantizedBy> scales_;  // by the member of the codes: members, not tensors
  std::set<std::uint64_t> companions_;
};

}  // namespace btf
