// Kernels of one instruction set, for a test's scope.
#pragma once

#include <vector>

#include "kernels/cpu/cpu_level.h"

namespace btf::test {

class ForcedLevel {
 public:
  explicit ForcedLevel(CpuLevel level) { force_cpu_level(level); }
  ~ForcedLevel() { force_cpu_level(before_); }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;

 private:
  CpuLevel before_ = cpu_level();
};

// All that this CPU has.
inline std::vector<CpuLevel> cpu_levels() {
  std::vector<CpuLevel> levels;
  for (std::size_t level = 0; level <= best_cpu_level(); ++level)
    levels.push_back(static_cast<CpuLevel>(level));
  return levels;
}

}  // namespace btf::test
