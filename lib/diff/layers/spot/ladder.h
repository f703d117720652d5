// The precisions that a run may have been computed in, from the finest on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "network/node/arithmetic.h"

namespace btf {

struct SpotLevel {
  std::string_view name;
  network::Arithmetic arithmetic;
};

inline constexpr std::size_t kSpotLevels = 5;

// float32, TF32 (operands of products only), float16, bfloat16, 8-bit codes. `accumulate`: what
// products are summed up in.
std::span<const SpotLevel> spot_levels(std::optional<DType> accumulate);

// The first level whose results are rounded no finer.
std::size_t level_at(double unit_roundoff);
// The first level that is no finer than what is stored.
std::size_t first_level(DType stored);
// That of the dtype that a device is said to compute in.
std::size_t level_of(DType compute);

// How many layers of a kind follow from their inputs, at each level.
struct LevelVotes {
  std::uint64_t layers = 0;
  std::uint64_t follow[kSpotLevels] = {};

  // The finest level that explains nearly all that any explains. Nothing: none explains half.
  std::optional<std::size_t> choose() const;
};

}  // namespace btf
