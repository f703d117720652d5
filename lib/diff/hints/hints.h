// Why do two tensors differ? Looks for causes that engineers meet: on a sample first, confirmed on
// the whole tensors.
#pragma once

#include <vector>

#include "btf/error.h"
#include "btf/diff/tensor_diff.h"
#include "diff/hints/evidence/hint_input.h"

namespace btf {

// The best explanation first; empty when nothing explains the data. Bounded memory.
Result<std::vector<Hint>> find_hints(const HintInput& input);

}  // namespace btf
