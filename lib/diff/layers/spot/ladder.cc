#include "diff/layers/spot/ladder.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace btf {
namespace {

using network::Arithmetic;

constexpr double kHalfFloat16 = 0x1p-11;
constexpr double kHalfBfloat16 = 0x1p-8;
// Half a step of codes from -127 to 127, and as much again for a range that was measured on other
// inputs.
constexpr double kGrid = 1.0 / 127;
constexpr std::size_t kGridLevel = kSpotLevels - 1;

constexpr auto kLevels = std::to_array<SpotLevel>({
    {"float32", {}},
    {"TF32", {.operand = kHalfFloat16}},
    {"float16", {.operand = kHalfFloat16, .result = kHalfFloat16}},
    {"bfloat16", {.operand = kHalfBfloat16, .result = kHalfBfloat16}},
    {"int8", {.grid = kGrid}},
});
static_assert(kLevels.size() == kSpotLevels);

template <typename Change>
std::array<SpotLevel, kSpotLevels> changed(Change change) {
  std::array<SpotLevel, kSpotLevels> levels = kLevels;
  for (SpotLevel& level : levels) change(level.arithmetic);
  return levels;
}

double half_step(DType dtype) {
  return std::ldexp(1.0, -static_cast<int>(info(dtype).fp.mantissa_bits + 1U));
}

}  // namespace

std::span<const SpotLevel> spot_levels(std::optional<DType> accumulate) {
  static const auto kFloat16 = changed([](Arithmetic& a) { a.accumulator = kHalfFloat16; });
  static const auto kBfloat16 = changed([](Arithmetic& a) { a.accumulator = kHalfBfloat16; });
  if (accumulate == DType::float16) return kFloat16;
  if (accumulate == DType::bfloat16) return kBfloat16;
  return kLevels;
}

std::size_t first_level(DType stored) {
  return info(stored).floating() ? level_at(half_step(stored)) : 0;
}

std::size_t level_of(DType compute) {
  return info(compute).floating() ? first_level(compute) : kGridLevel;
}

std::size_t level_at(double unit_roundoff) {
  std::size_t level = 0;
  while (level + 1 < kGridLevel && kLevels[level].arithmetic.result < unit_roundoff) ++level;
  return level;
}

std::optional<std::size_t> LevelVotes::choose() const {
  if (layers == 0) return std::nullopt;
  const auto enough = [&](std::uint64_t some) { return 2 * some >= layers; };
  const std::uint64_t most = *std::max_element(follow, follow + kGridLevel);
  // Codes explain far more than a fault may be, so that floats are asked first: a few layers that
  // only codes explain may be faults.
  constexpr std::uint64_t kFew = 3;
  const std::uint64_t coded = follow[kGridLevel];
  if (!enough(most) || (5 * most < 4 * coded && coded >= most + kFew)) {
    if (enough(coded)) return kGridLevel;
    // A few layers that nothing explains are no vote against the model.
    return layers <= kFew ? std::optional<std::size_t>(0) : std::nullopt;
  }
  // What only moves numbers follows in any precision and says nothing of it.
  const std::uint64_t always = follow[0];
  if (5 * (most - always) < layers) return 0;
  const auto nearly = std::ranges::find_if(std::span(follow, kGridLevel), [&](std::uint64_t some) {
    return 5 * (some - always) >= 4 * (most - always);
  });
  return static_cast<std::size_t>(nearly - std::span(follow, kGridLevel).begin());
}

}  // namespace btf
