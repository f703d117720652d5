// A program for CMake's BTF_NATIVE: prints the name that Highway has for the widest instruction set
// of the CPU that it runs on, or 0 where that is the least.
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
