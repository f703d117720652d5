// The searches. Each looks for one kind of cause, in the sample first and then in the whole tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/models/rearrangement.h"

namespace btf::hints {

SearchResult find_layout(const SearchContext& context);
SearchResult find_permutation(const SearchContext& context);
SearchResult find_byte_order(const SearchContext& context);
SearchResult find_nibble_order(const SearchContext& context);
SearchResult find_swapped_codes(
    const SearchContext& context);  // the part of find_nibble_order() for 8-bit codes
SearchResult find_misread(const SearchContext& context);
SearchResult find_rounded_misread(
    const SearchContext& context);  // of numbers that were rounded first
SearchResult find_sign(const SearchContext& context);
SearchResult find_index_base(const SearchContext& context);
SearchResult find_shift(const SearchContext& context);
SearchResult find_mirrored(const SearchContext& context);
SearchResult find_shuffled(const SearchContext& context);
SearchResult find_part_order(const SearchContext& context);
SearchResult find_reordered(const SearchContext& context);
SearchResult find_repeated(const SearchContext& context);
SearchResult find_pitch(const SearchContext& context);
SearchResult find_scale(const SearchContext& context);
SearchResult find_offset(const SearchContext& context);
SearchResult find_affine(const SearchContext& context);
SearchResult find_channel_scale(const SearchContext& context);
SearchResult find_scale_axis(const SearchContext& context);
SearchResult find_zero_tail(const SearchContext& context);
SearchResult find_saturation(const SearchContext& context);
SearchResult find_inverted(const SearchContext& context);
SearchResult find_wrapped(const SearchContext& context);
SearchResult find_activation(const SearchContext& context);
SearchResult find_softmax(const SearchContext& context);
SearchResult find_lost_precision(const SearchContext& context);
SearchResult find_lost_bits(const SearchContext& context);

// Finds another order or reading that leaves only noise, by correlation: for tensors in which no
// single element can be explained.
SearchResult find_among_noise(const SearchContext& context);

// Two sides of equal dims that are one tensor, but for noise and perhaps a factor and an offset.
struct NoisyMatch {
  double left = 0;   // variance that is left, relative to that of golden
  std::string text;  // ", but for noise of 0.01 rms: correlation 0.99995 over 1000 elements"
};

// Estimates `left` from a few pairs; unset if they cannot be such a pair.
std::optional<double> noise_share(std::span<const long double> actual,
                                  std::span<const long double> golden);

// Compares all pairs; unset if they do not match, or match no better than chance would among
// `hypotheses` attempts. Golden is dense and in its stored order.
Result<std::optional<NoisyMatch>> find_noisy_match(const DiffSide& actual, const DiffSide& golden,
                                                   double hypotheses, const Execution& execution);

// These describe where mismatches are or what they have in common, not what the elements should be.
SearchResult find_rounding(const SearchContext& context);
SearchResult find_region(const SearchContext& context);

// Finds that every mismatch vanishes once both sides are rounded to the coarser dtype.
SearchResult find_coarser_dtype(const SearchContext& context);

// Searches on sides that are on an even grid, as that of codes: differences in steps of the grid.

// Finds a zero point that is off by whole steps, codes that were clipped at their end, or rounding
// to codes and nothing else. `close` accepts what rounding to the coarser grid leaves.
SearchResult find_code_steps(const SearchContext& context, const Judge& close);

// Other orders in which elements may be stored, other ways to read their bits, and the searches
// that try them.

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
