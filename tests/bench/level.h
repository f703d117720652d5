// Kernels for narrower vectors than the widest there are, for benchmarks that compare them.
#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/cpu/cpu_level.h"

namespace bench {

// As the level is named; false if there is none of that name.
inline bool force_level(std::string_view name) {
  for (std::size_t level = 0; level < btf::kCpuLevels; ++level) {
    if (name != btf::cpu_level_name(static_cast<btf::CpuLevel>(level))) continue;
    btf::force_cpu_level(static_cast<btf::CpuLevel>(level));
    return true;
  }
  return false;
}

}  // namespace bench
