// The hot pairs, written so that the compiler turns them into vector code. Same results as the
// reference, to the bit, account included.
#pragma once

#include "kernels/kernel_table.h"

namespace btf {

// float32 to the smaller floats and to integers, the half floats to float32.
// Only for the default rounding, and for overflow by the table or forbidden.
bool cast_fast_applies(const CastJob& job);
void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
