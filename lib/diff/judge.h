// From what was found to a verdict: which criteria hold.
#pragma once

#include <cstdint>

#include "btf/diff.h"

namespace btf {

// Sets criteria and result from the counts and figures, by diff.tolerance and the gates. All that a
// gate needs must be there. `finite`: how many pairs are of finite numbers.
void judge(TensorDiff& diff, const Gates& gates, std::uint64_t finite);

}  // namespace btf
