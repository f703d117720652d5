// Runs of elements that stand side by side, one function per pair and per instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "btf/cast.h"
#include "btf/dtype.h"
#include "kernels/cpu/cpu_level.h"

namespace btf {

// Runs of `count` elements each. Pitches are the bytes from one run to the next.
struct CastRuns {
  const std::byte* source = nullptr;
  std::byte* target = nullptr;
  std::size_t count = 0;
  // Distance in bytes of the prefetch ahead of reads; 0: none. kByPages is in move.h.
  std::ptrdiff_t ahead = 0;
  std::size_t runs = 1;
  std::size_t source_pitch = 0;
  std::size_t target_pitch = 0;
  // Written around the caches: nobody reads it soon. Target and pitch are multiples of 64 bytes.
  bool stream = false;
};

// Adds all elements to the account.
using CastRunsFn = void (*)(const CastRuns& work, LossAccount& account);

// nullptr if there is none for the pair. Picks the widest instruction set of this CPU.
CastRunsFn find_cast_runs(DType from, DType to);

struct CastRunsRow {
  DType from;
  DType to;
  std::array<CastRunsFn, kCpuLevels> run;
};

// Pairs that have a source of their own, since these compile longest.
std::span<const CastRunsRow> small_float_rows();
std::span<const CastRunsRow> small_integer_rows();

}  // namespace btf
