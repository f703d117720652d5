// From what was found to a verdict: which criteria hold.
#pragma once

#include "btf/diff.h"

namespace btf {

// Sets criteria and result from the counts and figures, by diff.tolerance and the gates. All that a
// gate needs must be there.
void judge(TensorDiff& diff, const Gates& gates);

}  // namespace btf
