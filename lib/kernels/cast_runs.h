// Runs of elements that stand side by side, one function per pair and per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf {

// At most kMostRun elements; adds them to the account.
using CastRunFn = void (*)(const std::byte* source, std::byte* target, std::size_t count,
                           LossAccount& account);

inline constexpr std::size_t kMostRun = 256;

// nullptr if there is none for the pair. Picks the widest instruction set of this CPU.
CastRunFn find_cast_run(DType from, DType to);

}  // namespace btf
