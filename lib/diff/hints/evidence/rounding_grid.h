// Differences that are rounding and no more: one side stands on a coarser grid, and each of its
// numbers is one of the two there that the other side's number lies between.
#pragma once

#include <optional>
#include <span>

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

// Grids are significant bits down to a least power of two, as floats and whole numbers have them,
// and multiples of any number. Rounding follows golden's numbers wherever these stand, so
// nothing else may be concluded from where or how far it shows.
bool looks_rounded(std::span<const Point> mismatches, std::span<const Point> anywhere);

// The step that all sampled numbers of a side are multiples of apart, as numbers made of codes are;
// of both sides the larger one.
std::optional<long double> even_step(std::span<const Point> mismatches,
                                     std::span<const Point> anywhere);

}  // namespace btf::hints
