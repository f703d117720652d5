// The searches: each looks for one kind of cause, cheaply in the sample first, and then on the
// whole tensor.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

SearchResult find_layout(const Inquiry& inquiry);
SearchResult find_permutation(const Inquiry& inquiry);
SearchResult find_byte_order(const Inquiry& inquiry);
SearchResult find_nibble_order(const Inquiry& inquiry);
SearchResult find_swapped_codes(const Inquiry& inquiry);  // the part of it within 8-bit codes
SearchResult find_misread(const Inquiry& inquiry);
SearchResult find_rounded_misread(const Inquiry& inquiry);  // of numbers that were rounded first
SearchResult find_sign(const Inquiry& inquiry);
SearchResult find_index_base(const Inquiry& inquiry);
SearchResult find_shift(const Inquiry& inquiry);
SearchResult find_mirrored(const Inquiry& inquiry);
SearchResult find_shuffled(const Inquiry& inquiry);
SearchResult find_part_order(const Inquiry& inquiry);
SearchResult find_reordered(const Inquiry& inquiry);
SearchResult find_repeated(const Inquiry& inquiry);
SearchResult find_pitch(const Inquiry& inquiry);
SearchResult find_scale(const Inquiry& inquiry);
SearchResult find_offset(const Inquiry& inquiry);
SearchResult find_affine(const Inquiry& inquiry);
SearchResult find_channel_scale(const Inquiry& inquiry);
SearchResult find_scale_axis(const Inquiry& inquiry);
SearchResult find_zero_tail(const Inquiry& inquiry);
SearchResult find_saturation(const Inquiry& inquiry);
SearchResult find_inverted(const Inquiry& inquiry);
SearchResult find_wrapped(const Inquiry& inquiry);
SearchResult find_activation(const Inquiry& inquiry);
SearchResult find_softmax(const Inquiry& inquiry);
SearchResult find_lost_precision(const Inquiry& inquiry);
SearchResult find_lost_bits(const Inquiry& inquiry);

// Another order or reading that leaves noise alone, by correlation: where none explains elements.
SearchResult find_among_noise(const Inquiry& inquiry);

// Two sides of the same dims that are one tensor, but for noise and perhaps a factor and an offset.
struct AllButNoise {
  double left = 0;   // by the square, in parts of the spread
  std::string text;  // ", but for noise of 0.01 rms: correlation 0.99995 over 1000 elements"
};

// A first look at a few pairs: what is left, if it may be such a pair.
std::optional<double> share_left(std::span<const long double> actual,
                                 std::span<const long double> golden);

// All pairs, and whether chance could do it. Golden is dense and stands as it is stored.
Result<std::optional<AllButNoise>> all_but_noise(const DiffSide& actual, const DiffSide& golden,
                                                 double hypotheses, const Execution& execution);

// These say where mismatches are or what they have in common, not what the elements should be.
SearchResult find_rounding(const Inquiry& inquiry);
SearchResult find_region(const Inquiry& inquiry);

// Every mismatch is the same number once both sides are rounded to the coarser dtype.
SearchResult find_coarser_dtype(const Inquiry& inquiry);

}  // namespace btf::hints
