// Searches on sides that are on an even grid, as that of codes: differences in steps of the grid.
#pragma once

#include "diff/hints/evidence/search_context.h"

namespace btf::hints {

// Finds a zero point that is off by whole steps, codes that were clipped at their end, or rounding
// to codes and nothing else. `close` accepts what rounding to the coarser grid leaves.
SearchResult find_code_steps(const SearchContext& context, const Judge& close);

}  // namespace btf::hints
