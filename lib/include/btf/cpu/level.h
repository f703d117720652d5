// The instruction set that loops over numbers use: the widest of this CPU, unless another is asked.
#pragma once

#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// Those that this CPU has and that were compiled, from the narrowest to the widest: "plain", "sse4",
// "avx2", "avx512" on x86-64, "plain" (NEON) on aarch64. Results are the same with each.
BTF_API std::string cpu_levels();  // "plain, sse4, avx2"

// For measurements: of all that starts after it, in the whole process. An error: there is none of
// that name.
BTF_API Status use_cpu_level(std::string_view name);

}  // namespace btf
