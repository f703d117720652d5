#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernels/compare/compare_runs.h"
#include "kernels/cpu/cpu_level.h"
#include "kernels/number/number.h"

namespace btf {
namespace {

// Codes that are above the limit after adding `shift` and masking are not finite numbers.
struct Finite {
  std::uint64_t mask = 0;
  std::uint64_t limit = 0;
  std::uint64_t shift = 0;
};

Finite finite_codes(const DTypeInfo& row) {
  if (!row.floating() || row.fp.specials == FloatSpecials::none) return {};
  const std::uint64_t limit = number::max_finite(row.fp);
  // The only NaN becomes the largest code.
  if (row.fp.specials == FloatSpecials::fnuz)
    return {number::low_bits(row.bits), number::low_bits(row.bits) - 1, limit};
  return {number::low_bits(row.fp.exponent_bits + row.fp.mantissa_bits), limit};
}

// Bytes of a side that are compared before more are prefetched.
constexpr std::uint64_t kStep = 512;

// Does not stop at the first difference, since a loop without an exit vectorises.
template <typename Code>
BTF_INLINE bool same_step(const std::byte* a, const std::byte* b, std::uint64_t count,
                          const Finite& finite) {
  const auto mask = static_cast<Code>(finite.mask);
  const auto limit = static_cast<Code>(finite.limit);
  const auto shift = static_cast<Code>(finite.shift);
  Code found = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Code left;
    Code right;
    std::memcpy(&left, a + i * sizeof(left), sizeof(left));
    std::memcpy(&right, b + i * sizeof(right), sizeof(right));
    const auto shifted = static_cast<Code>(left + shift);
    const Code special =
        static_cast<Code>(shifted & mask) > limit ? static_cast<Code>(-1) : Code{0};
    found = static_cast<Code>(found | (left ^ right) | special);
  }
  return found == 0;
}

template <typename Code>
BTF_INLINE bool same_codes(const std::byte* a, const std::byte* b, std::uint64_t count,
                           const Finite& finite) {
  constexpr std::uint64_t kCodes = kStep / sizeof(Code);
  for (; count > kCodes; count -= kCodes, a += kStep, b += kStep) {
    // Vectors with the width of a line are too fast for the CPU's own prefetching.
    for (std::uint64_t at = kStep; at < 2 * kStep; at += 64) {
      __builtin_prefetch(a + at, 0, 3);
      __builtin_prefetch(b + at, 0, 3);
    }
    if (!same_step<Code>(a, b, kCodes, finite)) return false;
  }
  return same_step<Code>(a, b, count, finite);
}

using SameFn = bool (*)(const std::byte*, const std::byte*, std::uint64_t, const Finite&);

#define BTF_SAME(name, code)                                                                       \
  BTF_INLINE bool name(const std::byte* a, const std::byte* b, std::uint64_t n, const Finite& f) { \
    return same_codes<code>(a, b, n, f);                                                           \
  }                                                                                                \
  BTF_LEVELS(name, bool,                                                                           \
             (const std::byte* a, const std::byte* b, std::uint64_t n, const Finite& f),           \
             (a, b, n, f))
// Signed if no mask has the highest bit: more instruction sets can compare signed numbers.
BTF_SAME(same_8, std::uint8_t)
BTF_SAME(same_16, std::int16_t)
BTF_SAME(same_32, std::int32_t)
BTF_SAME(same_64, std::int64_t)
#undef BTF_SAME

using Levels = std::array<SameFn, kCpuLevels>;

// By log2 of the bytes of a code.
constexpr std::array<Levels, 4> kSame{
    Levels BTF_LEVEL_TABLE(same_8), Levels BTF_LEVEL_TABLE(same_16),
    Levels BTF_LEVEL_TABLE(same_32), Levels BTF_LEVEL_TABLE(same_64)};

}  // namespace

bool same_finite_bits(DType dtype, const std::byte* a, const std::byte* b, std::uint64_t count) {
  const DTypeInfo& row = info(dtype);
  const auto size = static_cast<std::size_t>(std::countr_zero(row.buffer_bytes()));
  return kSame[size][cpu_level()](a, b, count, finite_codes(row));
}

}  // namespace btf
