// Casts a chunk at a time, most in two steps: the numbers without loss as float32 or float64, then
// those to the target. They are the same numbers, so the one rounding and the account are, too.
#pragma once

#include "kernels/move/kernel.h"

namespace btf {

// By two hot pairs with float32 between them.
bool cast_by_floats_applies(const CastJob& job);
// From one integer to another, in one step.
bool cast_by_integers_applies(const CastJob& job);

// Sources of 16 bits or more to any target, and smaller ones by floats.
bool cast_by_chunks_applies(const CastJob& job);
void cast_by_chunks_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
