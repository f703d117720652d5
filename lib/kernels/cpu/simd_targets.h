// Google Highway compiles a kernel once for every instruction set; which of these runs is told by
// cpu_level(), as for all kernels. Only Highway's headers are used. Included before those.
#pragma once

#include <array>

#include "kernels/cpu/cpu_level.h"

// The targets left out have no instruction that kernels here use, or (SVE) vectors of no fixed
// size, which cannot stand in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | BTF_OTHER_TARGETS)
// With CMake's BTF_NATIVE, those of other machines too.
#ifdef BTF_NATIVE_TARGET
#define BTF_OTHER_TARGETS ((HWY_SSE4 | HWY_AVX2 | HWY_AVX3) & ~(BTF_NATIVE_TARGET))
#else
#define BTF_OTHER_TARGETS 0
#endif
// Highway's own assertions call its library, which is not linked.
#define HWY_IS_DEBUG_BUILD 0
#include <hwy/detect_targets.h>

// Behind HWY_ONCE, BTF_SIMD_TABLE(name) are the addresses of the functions `name`, by level, and
// BTF_SIMD_CALL(name) is the one in use. HWY_NAMESPACE is that of the least target then, which
// stands for levels that it includes.
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
  { HWY_NAMESPACE::name, BTF_SIMD_SSE4::name, BTF_SIMD_AVX2::name, BTF_SIMD_AVX512::name }
#else
#define BTF_SIMD_TABLE(name) \
  { HWY_NAMESPACE::name }
#endif
#define BTF_SIMD_CALL(name) \
  (std::array<decltype(&HWY_NAMESPACE::name), kCpuLevels> BTF_SIMD_TABLE(name)[cpu_level()])
