#include "kernels/cast/kernel_table.h"

#include <algorithm>
#include <array>

#include "kernels/cast/cast_reference.h"
#include "kernels/cast/cast_rows.h"
#include "kernels/move/move.h"

namespace btf {
namespace {

constexpr auto kKernels = std::to_array<CastKernel>({
    {"move", move_applies, move_tile},
    {"fast", cast_fast_applies, cast_fast_tile},
    {"codes", cast_by_code_applies, cast_by_code_tile},
    {"chunks", cast_by_chunks_applies, cast_by_chunks_tile},
    {"reference", cast_reference_applies, cast_reference_tile},
});

}  // namespace

std::span<const CastKernel> cast_kernels() { return kKernels; }

const CastKernel& pick_cast_kernel(const CastJob& job) {
  return *std::ranges::find_if(kKernels, [&](const CastKernel& row) { return row.applies(job); });
}

}  // namespace btf
