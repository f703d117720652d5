// The largest magnitudes of runs of floats or doubles, and their ranges. Inf and NaN count for
// nothing.
#pragma once

#include <cstddef>

namespace btf {

// `largest` has what was found so far.
template <typename Real>
void keep_largest_magnitude(const Real* numbers, std::size_t count, Real& largest);

// The same for each position.
template <typename Real>
void keep_largest_magnitudes(const Real* numbers, std::size_t count, Real* largest);

// For each `block` elements, the last of which may be fewer.
template <typename Real>
void block_magnitudes(const Real* numbers, std::size_t count, std::size_t block, double* largest);

// Widens the range [least, largest], which holds 0.
template <typename Real>
void keep_range(const Real* numbers, std::size_t count, Real& least, Real& largest);

// The same for each position.
template <typename Real>
void keep_ranges(const Real* numbers, std::size_t count, Real* least, Real* largest);

}  // namespace btf
