// Same dtype on both sides: the bits move, nothing is cast.
#pragma once

#include "kernels/kernel_table.h"

namespace btf {

bool move_applies(const CastJob& job);
void move_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
