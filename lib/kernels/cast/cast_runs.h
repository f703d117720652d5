// Casts of contiguous runs of elements, with a function for each pair and instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "kernels/cpu/cpu_level.h"

namespace btf {

// Runs of `count` elements each. Pitches are in bytes from one run to the next.
struct CastRuns {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t count = 0;
  // The distance in bytes at which to prefetch; 0 for none, or kByPages (move.h).
  std::ptrdiff_t ahead = 0;
  std::size_t runs = 1;
  std::size_t source_pitch = 0;
  std::size_t target_pitch = 0;
  // The target is not read soon, so stores bypass the caches. Target and pitch must be multiples of
  // 64 bytes.
  bool stream = false;
};

// Adds all elements to the account.
using CastRunsFn = void (*)(const CastRuns& work, LossAccount& account);

// The function for the instruction set in use; nullptr if the pair has none.
CastRunsFn find_cast_runs(DType from, DType to);

struct CastRunsRow {
  DType from;
  DType to;
  std::array<CastRunsFn, kCpuLevels> run;
};

// Pairs in separate source files, since these take longest to compile.
std::span<const CastRunsRow> small_float_rows();
std::span<const CastRunsRow> small_integer_rows();

}  // namespace btf
