// Tiles whose target is larger than the caches: any kernel, through a buffer that stays in the
// first-level cache.
#pragma once

#include "kernels/move/kernel.h"

namespace btf {

// As kernel.run(), with stores that go around the caches where the target has lines that are worth
// it. Needs a stream_fence() behind the last tile.
void stream_tile(const CastKernel& kernel, const CastJob& job, const Tile& tile,
                 LossAccount& account);

}  // namespace btf
