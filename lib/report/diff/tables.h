// The tables of a diff: errors by decade, and single mismatches.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "btf/diff/tensor_diff.h"

namespace btf::report {

// A label and a row each: the decades, how many errors are in each, and how many of these are
// refused if that is not all of them. Empty if there are no errors of finite numbers. `room`:
// columns for a row; small decades share one where it is little.
std::vector<std::array<std::string, 2>> error_histogram(const TensorDiff& diff, std::size_t room);

// The first and the largest mismatches under one header, no element twice, within `room` columns.
// `all_steps`: also those that say little (steps.h).
std::vector<std::string> mismatch_table(const TensorDiff& diff, std::size_t room, bool all_steps);

}  // namespace btf::report
