// Where a side stands on an even grid, that of its codes above all: what its steps say.
#pragma once

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

// A zero point that is off by whole steps, codes that were cut off at their end, or nothing but
// rounding to codes. `close`: what rounding to the coarser grid leaves.
SearchResult find_code_steps(const Inquiry& inquiry, const Judge& close);

}  // namespace btf::hints
