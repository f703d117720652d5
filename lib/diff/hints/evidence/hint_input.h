// The input of the search for causes.
#pragma once

#include <cstdint>
#include <span>

#include "btf/execution.h"
#include "diff/pairs/side.h"
#include "kernels/compare/compare.h"

namespace btf {

// How many mismatches find_hints() wants to be shown.
inline constexpr std::uint64_t kHintSample = 512;

struct HintInput {
  const DiffSide& actual;
  const DiffSide& golden;
  const Judge& judge;
  std::uint64_t mismatched = 0;           // of all pairs, at least 1
  std::span<const std::uint64_t> sample;  // row-major numbers of mismatches, ascending: all of
                                          // them, or kHintSample from all over the tensor
  const Execution& execution;
};

}  // namespace btf
