// The instruction sets that loops are compiled for, and the one in use.
#pragma once

#include <cstddef>

namespace btf {

// Ordered from the narrowest vectors to the widest. kPlain is the baseline of the architecture:
// SSE2 on x86-64, and NEON on aarch64, which has no other level.
enum CpuLevel : std::size_t {
  kPlain,
#if defined(__x86_64__)
  kSse4,
  kAvx2,
  kAvx512,
#endif
  kCpuLevels
};

// Returns true if kernels were compiled for the level. That of kPlain always exists; CMake's
// BTF_NATIVE leaves out others.
bool is_compiled(CpuLevel level);

// The widest compiled level that this CPU supports.
CpuLevel best_cpu_level();

// The level in use: the best one, unless another was forced. Kernels check it at every call, so a
// change affects all later calls.
CpuLevel cpu_level();

// For tests and benchmarks, which compare levels. A level above the best one becomes the best one.
void force_cpu_level(CpuLevel level);

const char* cpu_level_name(CpuLevel level);

// Returns true if this CPU's own prefetching is good enough for long runs. Software prefetching is
// of no use there, and costs a sixth of the speed if the target bypasses the caches.
bool fetches_long_runs();

}  // namespace btf

// For functions that are called by the code of a level: only inlined ones are compiled for it.
#define BTF_INLINE [[gnu::always_inline]] inline
#define BTF_INLINE_LAMBDA __attribute__((always_inline))

// BTF_LEVELS(name, result, parameters, arguments) compiles the always-inline function `name` once
// for each level: the same statements with wider vectors, and so the same results.
// BTF_LEVEL_TABLE(name) initialises an array of these functions, by level.
#if defined(__x86_64__)
#define BTF_LEVELS(name, result, parameters, arguments)                                        \
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx2")]] result name##_avx512 parameters { \
    return name arguments;                                                                     \
  }                                                                                            \
  [[gnu::target("avx2")]] result name##_avx2 parameters { return name arguments; }             \
  [[gnu::target("sse4.2")]] result name##_sse4 parameters { return name arguments; }           \
  result name##_plain parameters { return name arguments; }
#define BTF_LEVEL_TABLE(name) {name##_plain, name##_sse4, name##_avx2, name##_avx512}
#else
#define BTF_LEVELS(name, result, parameters, arguments) \
  result name##_plain parameters { return name arguments; }
#define BTF_LEVEL_TABLE(name) {name##_plain}
#endif
