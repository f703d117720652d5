// Which kernel carries the elements of a conversion. The first row that applies wins; the scalar
// reference is the last and always does.
#pragma once

#include <span>

#include "kernels/move/move.h"

namespace btf {

// All rows; the last is the reference.
std::span<const CastKernel> cast_kernels();

const CastKernel& pick_cast_kernel(const CastJob& job);

}  // namespace btf
