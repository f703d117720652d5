// The orders in which elements may be stored and the ways in which their bits may be read, and the
// searches that try them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diff/hints/models/element_map.h"
#include "diff/hints/models/rearrangement.h"

namespace btf::hints {

// The orders in which elements may stand and the readings that their bits may have: what searches
// try, each by its own agreement.

// Layouts whose stored array is as large, but arranged in another way; the plainest first.
using OtherLayout = std::pair<const LayoutSpec*, StridedLayout>;
std::vector<OtherLayout> other_layouts(const DiffSide& side);

// "actual equals golden when its bytes are read as kHWC8"
std::string layout_words(const LayoutSpec& row, MovedSide side);

// Dims of one side in another order.
struct OtherDims {
  Cause cause{};
  std::string words;  // "actual holds golden transposed to dims 1, 0"
  std::vector<std::uint32_t> order;
  MovedSide transposed = MovedSide::golden;  // the side that is transposed
};

// The plainest first; none twice.
std::vector<OtherDims> other_dims(const Dims& dims);

// Where the transposed side has the element that stands at `number` of the other one.
std::uint64_t number_before(const Dims& dims, const std::vector<std::uint32_t>& order,
                            std::uint64_t number);

std::vector<RearrangedAs> mirrored_orders(const Dims& dims);  // turned and channels' orders, too
std::vector<RearrangedAs> shuffled_orders(const Dims& dims);

// Bytes, halves and nibbles of codes exchanged, and bits of one dtype taken for another's; the
// plainest first.
std::vector<CodeReading> other_readings(const HintInput& input);

}  // namespace btf::hints
