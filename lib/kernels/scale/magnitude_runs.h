// The largest magnitudes of runs of doubles, and their ranges. Inf and NaN count for nothing.
#pragma once

#include <cstddef>

namespace btf {

double largest_magnitude(const double* numbers, std::size_t count);

// The same for each place: `largest` has what was found so far.
void keep_largest_magnitudes(const double* numbers, std::size_t count, double* largest);

// The same of each `block` elements, the last of which may be fewer.
void block_magnitudes(const double* numbers, std::size_t count, std::size_t block, double* largest);

// Widens the range [least, largest], which holds 0.
void keep_range(const double* numbers, std::size_t count, double& least, double& largest);

// The same for each place.
void keep_ranges(const double* numbers, std::size_t count, double* least, double* largest);

}  // namespace btf
