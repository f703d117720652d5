#include "kernels/cpu/cpu_level.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "kernels/cpu/simd_targets.h"

namespace btf {
namespace {

CpuLevel widest_of_cpu() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // All features that Highway lets the compiler use.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                    __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") &&
                    __builtin_cpu_supports("pclmul");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return kAvx512;
  if (avx2) return kAvx2;
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") &&
      __builtin_cpu_supports("pclmul"))
    return kSse4;
#endif
  return kPlain;
}

constexpr std::array<bool, kCpuLevels> kCompiled{
    true,
#if defined(__x86_64__)
    (HWY_TARGETS & HWY_SSE4) != 0, (HWY_TARGETS & HWY_AVX2) != 0, (HWY_TARGETS & HWY_AVX3) != 0
#endif
};

std::atomic<CpuLevel>& level_in_use() {
  static std::atomic<CpuLevel> level = best_cpu_level();
  return level;
}

constexpr std::array<const char*, kCpuLevels> kNames{
#if defined(__x86_64__)
    "plain", "SSE4", "AVX2", "AVX-512"
#else
    "plain"
#endif
};

}  // namespace

bool is_compiled(CpuLevel level) { return kCompiled[level]; }

CpuLevel best_cpu_level() {
  static const CpuLevel best = [] {
    std::size_t level = widest_of_cpu();
    while (!kCompiled[level]) --level;
    return static_cast<CpuLevel>(level);
  }();
  return best;
}

CpuLevel cpu_level() { return level_in_use().load(std::memory_order_relaxed); }

void force_cpu_level(CpuLevel level) { level_in_use() = std::min(level, best_cpu_level()); }

const char* cpu_level_name(CpuLevel level) { return kNames[level]; }

bool fetches_long_runs() {
#if defined(__x86_64__)
  static const bool is_amd = [] {
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") != 0;
  }();
  return is_amd;
#else
  return false;
#endif
}

}  // namespace btf
