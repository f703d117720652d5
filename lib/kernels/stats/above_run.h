// Where a run has numbers above a limit.
#pragma once

#include <cstdint>

namespace btf {

// The first that is larger than `limit`, or NaN; `count` if there is none.
std::uint64_t above_run(const float* values, std::uint64_t count, float limit);
std::uint64_t above_run(const double* values, std::uint64_t count, double limit);

}  // namespace btf
