// The instruction sets that loops are compiled for, and which of them is used.
#pragma once

#include <cstddef>

namespace btf {

// From the narrowest vectors to the widest. kPlain is what every CPU of the architecture has: SSE2
// on x86-64, NEON on aarch64, which has no other level.
enum CpuLevel : std::size_t {
  kPlain,
#if defined(__x86_64__)
  kSse4,
  kAvx2,
  kAvx512,
#endif
  kCpuLevels
};

// Were kernels compiled for it? For the plain one always, for others not with CMake's BTF_NATIVE.
bool is_compiled(CpuLevel level);

// The widest of those compiled that this CPU has.
CpuLevel best_cpu_level();

// The one in use: the widest, unless another was forced. Kernels ask at every call, so that a
// change holds for all that start after it.
CpuLevel cpu_level();

// For tests and benchmarks, which compare levels. More than the CPU has becomes what it has.
void force_cpu_level(CpuLevel level);

const char* cpu_level_name(CpuLevel level);

// Does this CPU fetch a long run from memory well enough by itself? Asking for lines of the source
// is of no use there, and costs a sixth where the target is written around the caches.
bool fetches_long_runs();

}  // namespace btf

// For functions that a level's code calls: they must be inlined, or are compiled for no level.
#define BTF_INLINE [[gnu::always_inline]] inline
#define BTF_INLINE_LAMBDA __attribute__((always_inline))

// BTF_LEVELS(name, result, parameters, arguments) compiles the always-inline `name` once for every
// level: the same statements with wider vectors, so the same results. BTF_LEVEL_TABLE(name) are the
// addresses of these functions, by level.
#if defined(__x86_64__)
#define BTF_LEVELS(name, result, parameters, arguments)                                        \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2")]] result name##_avx512 parameters { \
    return name arguments;                                                                     \
  }                                                                                            \
  [[gnu::target("avx2")]] result name##_avx2 parameters { return name arguments; }             \
  [[gnu::target("sse4.2")]] result name##_sse4 parameters { return name arguments; }           \
  result name##_plain parameters { return name arguments; }
#define BTF_LEVEL_TABLE(name) \
  { name##_plain, name##_sse4, name##_avx2, name##_avx512 }
#else
#define BTF_LEVELS(name, result, parameters, arguments) \
  result name##_plain parameters { return name arguments; }
#define BTF_LEVEL_TABLE(name) \
  { name##_plain }
#endif
