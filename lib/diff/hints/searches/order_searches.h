// Other orders in which elements may be stored, other ways to read their bits, and the searches
// that try them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "diff/hints/models/element_map.h"
#include "diff/hints/models/rearrangement.h"

namespace btf::hints {

// Layouts whose stored array has the same size in another arrangement; the simplest first.
using OtherLayout = std::pair<const LayoutSpec*, StridedLayout>;
std::vector<OtherLayout> other_layouts(const DiffSide& side);

// "actual equals golden when its bytes are read as kHWC8"
std::string layout_words(const LayoutSpec& row, TransformedSide side);

// The elements of one side as those of the other with its dims in another order.
struct OtherDims {
  Cause cause{};
  std::string words;  // "actual holds golden transposed to dims 1, 0"
  std::vector<std::uint32_t> order;
  TransformedSide transposed = TransformedSide::golden;  // the side that is transposed
};

// The simplest first; no order twice.
std::vector<OtherDims> other_dims(const Dims& dims);

// The number at which the transposed side has the element that is at `number` of the other side.
std::uint64_t number_before(const Dims& dims, const std::vector<std::uint32_t>& order,
                            std::uint64_t number);

std::vector<NamedRearrangement> mirrored_orders(
    const Dims& dims);  // also rotated, and channels in another order
std::vector<NamedRearrangement> shuffled_orders(const Dims& dims);

// Codes with bytes, halves or nibbles exchanged, or with the bits of another dtype; the simplest
// first.
std::vector<CodeReading> other_readings(const HintInput& input);

}  // namespace btf::hints
