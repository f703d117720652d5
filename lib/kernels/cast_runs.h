// Runs of elements that stand side by side, one function per pair and per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf {

// Any number of elements; adds them to the account.
using CastRunFn = void (*)(const std::byte* source, std::byte* target, std::size_t count,
                           LossAccount& account);

// What callers with buffers of their own cast at a time.
inline constexpr std::size_t kMostRun = 256;

// nullptr if there is none for the pair. Picks the widest instruction set of this CPU.
CastRunFn find_cast_run(DType from, DType to);

}  // namespace btf
