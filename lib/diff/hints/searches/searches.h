// The searches. Each looks for one kind of cause, in the sample first and then in the whole tensor.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "diff/hints/evidence/search_context.h"

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

}  // namespace btf::hints
