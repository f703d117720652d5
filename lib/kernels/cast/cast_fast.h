// The hot pairs, in vectors (cast_runs.h). Same results as the reference, to the bit, account
// included.
#pragma once

#include "kernels/move/kernel.h"

namespace btf {

// The default rounding, and overflow by the table or forbidden.
bool is_default(const CastPolicy& policy);

// Pairs that have a row in cast_runs.cc, by the default.
bool cast_fast_applies(const CastJob& job);
void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
