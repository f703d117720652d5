// Which of the instruction sets that loops are compiled for this CPU has.
#pragma once

#include <cstddef>

namespace btf {

// BTF_LEVELS(name, result, parameters, arguments) makes name_plain, name_avx2 and name_avx512 of
// the always-inline `name`: the same statements with wider vectors, so the same results.
enum CpuLevel : std::size_t { kPlain, kAvx2, kAvx512, kCpuLevels };

inline CpuLevel best_cpu_level() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("f16c"))
    return kAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")) return kAvx2;
#endif
  return kPlain;
}

}  // namespace btf

#define BTF_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__)
#define BTF_LEVELS(name, result, parameters, arguments)                                   \
  [[gnu::target(                                                                          \
      "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")]] result name##_avx512 parameters { \
    return name arguments;                                                                \
  }                                                                                       \
  [[gnu::target("avx2,f16c")]] result name##_avx2 parameters { return name arguments; }   \
  result name##_plain parameters { return name arguments; }
#else
#define BTF_LEVELS(name, result, parameters, arguments)      \
  result name##_avx512 parameters { return name arguments; } \
  result name##_avx2 parameters { return name arguments; }   \
  result name##_plain parameters { return name arguments; }
#endif
