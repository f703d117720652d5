// The rows of the kernel table that are faster than the reference. Their results, including the
// account, are the same to the bit.
#pragma once

#include "kernels/move/move.h"

namespace btf {

// Returns true for the default rounding, and overflow by the table or forbidden.
bool is_default(const CastPolicy& policy);

// The most important pairs, in vectors: those of find_cast_runs(), with the default policy.
bool cast_fast_applies(const CastJob& job);
void cast_fast_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// Sources of 8 bits or fewer: a table has the result of the reference for each code, and the
// account follows from the number of times that each code occurs.
bool cast_by_code_applies(const CastJob& job);
void cast_by_code_tile(const CastJob& job, const Tile& tile, LossAccount& account);

// A chunk at a time, mostly in two steps: first to float32 or float64 without loss, then to the
// target. Only the second step rounds, so the results and the account are those of a direct cast.

// By two important pairs with float32 between them.
bool cast_by_floats_applies(const CastJob& job);
// From an integer to an integer, in one step.
bool cast_by_integers_applies(const CastJob& job);
// Sources of 16 bits or more to any target; smaller ones through floats or as integers.
bool cast_by_chunks_applies(const CastJob& job);
void cast_by_chunks_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
