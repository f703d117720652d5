// Google Highway compiles a kernel once for each instruction set; cpu_level() selects the one that
// runs. Only Highway's headers are used, and this one must be included before them.
#pragma once

#include <array>

#include "kernels/cpu/cpu_level.h"

// The targets left out have no instructions that these kernels use or, as SVE, vectors without a
// fixed size, which cannot be elements of arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | BTF_OTHER_TARGETS)
// CMake's BTF_NATIVE leaves out the targets of other machines as well.
#ifdef BTF_NATIVE_TARGET
#define BTF_OTHER_TARGETS ((HWY_SSE4 | HWY_AVX2 | HWY_AVX3) & ~(BTF_NATIVE_TARGET))
#else
#define BTF_OTHER_TARGETS 0
#endif
// Highway's own assertions call its library, which is not linked.
#define HWY_IS_DEBUG_BUILD 0
#include <hwy/detect_targets.h>

// After HWY_ONCE, BTF_SIMD_TABLE(name) initialises an array of the functions `name`, by level, and
// BTF_SIMD_CALL(name) is the one in use. HWY_NAMESPACE is then that of the lowest target, which is
// also used for the levels that it includes.
#if defined(__x86_64__)
#if HWY_TARGETS & HWY_SSE4
#define BTF_SIMD_SSE4 N_SSE4
#else
#define BTF_SIMD_SSE4 HWY_NAMESPACE
#endif
#if HWY_TARGETS & HWY_AVX2
#define BTF_SIMD_AVX2 N_AVX2
#else
#define BTF_SIMD_AVX2 HWY_NAMESPACE
#endif
#if HWY_TARGETS & HWY_AVX3
#define BTF_SIMD_AVX512 N_AVX3
#else
#define BTF_SIMD_AVX512 HWY_NAMESPACE
#endif
#define BTF_SIMD_TABLE(name) \
  {HWY_NAMESPACE::name, BTF_SIMD_SSE4::name, BTF_SIMD_AVX2::name, BTF_SIMD_AVX512::name}
#else
#define BTF_SIMD_TABLE(name) {HWY_NAMESPACE::name}
#endif
#define BTF_SIMD_CALL(name) \
  (std::array<decltype(&HWY_NAMESPACE::name), kCpuLevels> BTF_SIMD_TABLE(name)[cpu_level()])
