// The table of cast kernels. The first row that applies is used; the last one, the scalar
// reference, always applies.
#pragma once

#include <span>

#include "kernels/move/move.h"

namespace btf {

std::span<const CastKernel> cast_kernels();

const CastKernel& pick_cast_kernel(const CastJob& job);

}  // namespace btf
