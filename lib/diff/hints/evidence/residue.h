// The mismatches that are left where more is accepted than the user does: rare ones are not met in
// a sample of all.
#pragma once

#include <cstdint>
#include <vector>

#include "diff/hints/evidence/agreement.h"
#include "diff/hints/evidence/hint_input.h"

namespace btf::hints {

struct Residue {
  std::uint64_t mismatched = 0;
  std::vector<std::uint64_t> sample;  // row-major numbers, ascending: all, or kHintSample of them
};

// One walk over all pairs.
Result<Residue> residue_of(const HintInput& input, const Agreement& agreement);

}  // namespace btf::hints
