// The instruction set of the kernels: the widest that this CPU has, unless another one is chosen.
#pragma once

#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// The levels that this CPU has and that were compiled in, from the narrowest to the widest:
// "plain", "sse4", "avx2" and "avx512" on x86-64, "plain" (NEON) on aarch64. Results do not depend
// on it.
BTF_API std::string cpu_levels();  // "plain, sse4, avx2"

// Chooses a level, for measurements. It applies to the whole process and to operations that start
// afterwards. An error if there is no such level.
BTF_API Status use_cpu_level(std::string_view name);

}  // namespace btf
