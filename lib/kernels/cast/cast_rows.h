// The rows of the kernel table that are faster than the reference. Same results as that, to the
// bit, account included.
#pragma once

#include "kernels/move/move.h"

namespace btf {

// The default rounding, and overflow by the table or forbidden.
bool is_default(const CastPolicy& policy);

// The hot pairs, in vectors: those of find_cast_runs(), by the default.
bool cast_fast_applies(const CastJob& job);
void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// Sources of 8 bits or fewer: what the reference makes of each of their 256 codes, in a table, and
// how often each was met, from which the account follows.
bool cast_by_code_applies(const CastJob& job);
void cast_by_code_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// A chunk at a time, most in two steps: the numbers without loss as float32 or float64, then those
// to the target. They are the same numbers, so the one rounding and the account are, too.

// By two hot pairs with float32 between them.
bool cast_by_floats_applies(const CastJob& job);
// From one integer to another, in one step.
bool cast_by_integers_applies(const CastJob& job);
// Sources of 16 bits or more to any target, and smaller ones by floats or as integers.
bool cast_by_chunks_applies(const CastJob& job);
void cast_by_chunks_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
