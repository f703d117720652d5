// Scales and zero points that stand apart from their codes: tensors of the same file, files of the
// same set.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "btf/attributes.h"
#include "btf/quantize.h"
#include "btf/tensor_set.h"
#include "sets/pairs/pairs.h"

namespace btf {

// Tensors of a file that are scales and zero points of others there, as it says or as their names
// do (docs/convert.md, section 3). An error: what it says cannot be read.
Result<std::set<std::uint64_t>> scale_tensors(const TensorFile& file);

// Scales and zero points that are files of their own in a set: a.npy, a_scale.npy (docs/convert.md,
// section 3).
class SetScales {
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
  std::map<std::uint64_t, std::uint64_t> rivals_;  // likewise: another of as good a name
  std::set<std::uint64_t> companions_;
};

}  // namespace btf
