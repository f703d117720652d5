// A program for CMake's BTF_NATIVE: prints Highway's name of the widest instruction set of this
// CPU, or 0 if that is the baseline.
#include <cstdio>

#include "kernels/cpu/cpu_level.h"

int main() {
#if defined(__x86_64__)
  constexpr const char* kTargets[] = {"0", "HWY_SSE4", "HWY_AVX2", "HWY_AVX3"};
#else
  constexpr const char* kTargets[] = {"0"};
#endif
  std::puts(kTargets[btf::best_cpu_level()]);
}
