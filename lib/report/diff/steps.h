// Steps between numbers, where they say something: over many of them, and from one sign to the
// other, the error says more.
#pragma once

#include <cstdint>
#include <string>

#include "btf/diff.h"

namespace btf::report {

// Are the most steps of a pair of tensors worth telling?
bool tells_steps(const TensorDiff& diff);

// Floats of opposite signs, further apart than the numbers about zero.
bool opposite_signs(const Mismatch& mismatch, const TensorDiff& diff);

// ", 3 steps", ", opposite signs"; empty: nothing is worth telling. `all`: the number in any case.
std::string steps_text(const Mismatch& mismatch, const TensorDiff& diff, bool all);

// The same as a cell of a table: "3", "sign", "-".
std::string steps_cell(const Mismatch& mismatch, const TensorDiff& diff, bool all);

}  // namespace btf::report
