// Sources of 8 bits or fewer: what the reference makes of each of their 256 codes, in a table, and
// how often each was met, from which the account follows.
#pragma once

#include "kernels/move/kernel.h"

namespace btf {

bool cast_by_code_applies(const CastJob& job);
void cast_by_code_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
