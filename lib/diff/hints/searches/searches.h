// The searches: each looks for one kind of cause, cheaply in the sample first, and then on the
// whole tensor.
#pragma once

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

// These say where mismatches are or what they have in common, not what the elements should be.
SearchResult find_rounding(const Inquiry& inquiry);
SearchResult find_region(const Inquiry& inquiry);

// Every mismatch is the same number once both sides are rounded to the coarser dtype.
SearchResult find_coarser_dtype(const Inquiry& inquiry);

}  // namespace btf::hints
