// One body per kind of pair, compiled for several instruction sets. The bodies are plain loops
// without branches: the compiler vectorises them, and the one chosen at run time is the widest.
#include "kernels/cast_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/cpu_level.h"
#include "kernels/number.h"

namespace btf {
namespace {

template <DType T>
constexpr const FloatGeometry& geometry() {
  return dtype_rows::kRows[row_of(T)].fp;
}

template <DType T>
using CodeOf = std::conditional_t<
    dtype_rows::kRows[row_of(T)].bits <= 8, std::uint8_t,
    std::conditional_t<dtype_rows::kRows[row_of(T)].bits == 16, std::uint16_t, std::uint32_t>>;

constexpr std::uint32_t kInfinity32 = 0x7f800000;
constexpr std::uint32_t kOne32 = 0x3f800000;

// Masks of all ones or all zeros instead of bools: nothing is left for the compiler to branch on.
BTF_INLINE constexpr std::uint32_t mask(bool condition) { return condition ? ~0U : 0U; }

BTF_INLINE constexpr std::uint32_t select(std::uint32_t mask, std::uint32_t yes, std::uint32_t no) {
  return (mask & yes) | (~mask & no);
}

// Floats that are not negative, by their bits: ordered like the numbers, and unlike those their
// maximum vectorises.
using FloatBits = std::uint32_t;

// What a run lost. Errors are exact; the quotients are only near enough to see whether a new
// largest one may be among them.
struct Tally {
  std::uint32_t overflowed = 0;
  std::uint32_t nan = 0;
  std::uint32_t to_zero = 0;
  std::uint32_t inexact = 0;
  FloatBits max_quotient = 0;
};

// Errors of a run and what they are errors of, for who must look closely.
struct RunErrors {
  std::array<FloatBits, kMostRun> error;
  std::array<FloatBits, kMostRun> magnitude;
};

using Codes = std::array<std::uint32_t, kMostRun>;

template <typename Code>
BTF_INLINE void store_codes(const Codes& codes, std::byte* target, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = static_cast<Code>(codes[i]);
    std::memcpy(target + i * sizeof(code), &code, sizeof(code));
  }
}

double as_double(FloatBits bits) { return std::bit_cast<float>(bits); }

BTF_INLINE void settle_errors(const RunErrors& errors, std::size_t count, const Tally& tally,
                              LossAccount& account) {
  FloatBits max_error = 0;
  for (std::size_t i = 0; i < count; ++i) max_error = std::max(max_error, errors.error[i]);
  account.max_abs = std::max(account.max_abs, as_double(max_error));
  // No error is larger than the number itself, for 0 would be nearer; and single quotients are
  // within 2^-23 of the exact ones.
  if (account.max_rel >= 1 || as_double(tally.max_quotient) < account.max_rel * (1 - 0x1p-22))
    return;
  for (std::size_t i = 0; i < count; ++i)
    if (errors.error[i] != 0)
      account.max_rel =
          std::max(account.max_rel, as_double(errors.error[i]) / as_double(errors.magnitude[i]));
}

// Finite numbers that the target's largest one stands for.
void account_clamped(const std::byte* source, std::size_t count, double low, double high,
                     LossAccount& account) {
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, source + i * sizeof(value), sizeof(value));
    if (!std::isfinite(value)) continue;
    const double x = value;
    const double error = x > high ? x - high : x < low ? low - x : 0;
    if (error == 0) continue;
    account.max_abs = std::max(account.max_abs, error);
    account.max_rel = std::max(account.max_rel, error / std::abs(x));
  }
}

// float32 to a float with fewer bits. Normal results round by integer arithmetic, subnormal ones by
// adding a number whose last place is the target's smallest.
template <DType T>
BTF_INLINE void float32_to_float(const std::byte* source, std::byte* target, std::size_t count,
                                 LossAccount& account) {
  constexpr const FloatGeometry& kFp = geometry<T>();
  constexpr unsigned kDrop = 23U - kFp.mantissa_bits;
  constexpr std::uint32_t kDropped = (1U << kDrop) - 1;
  constexpr auto kRebias = static_cast<std::uint32_t>(127 - kFp.bias) << kFp.mantissa_bits;
  // bfloat16 has float32's exponents: its subnormals round like normal numbers.
  constexpr std::uint32_t kLeastNormal =
      kFp.bias == 127 ? 0 : static_cast<std::uint32_t>(128 - kFp.bias) << 23;
  constexpr auto kMagicBits = static_cast<std::uint32_t>(128 - kFp.bias - kFp.mantissa_bits + 23)
                              << 23;
  constexpr auto kMax = static_cast<std::uint32_t>(number::max_finite(kFp));
  constexpr std::uint32_t kOver = kFp.saturates ? kMax : kMax + 1;
  constexpr bool kHasNan = kFp.specials != FloatSpecials::none;
  constexpr std::uint32_t kNan = kHasNan ? static_cast<std::uint32_t>(number::nan_code(kFp)) : kMax;
  constexpr unsigned kSignShift = 32U - dtype_rows::kRows[row_of(T)].bits;
  constexpr auto kSignBit = 1U << (31U - kSignShift);
  const float magic = std::bit_cast<float>(kMagicBits);

  Tally tally;
  RunErrors errors;
  Codes codes;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, source + i * sizeof(bits), sizeof(bits));
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const float value = std::bit_cast<float>(magnitude);
    const float shifted = value + magic;
    const float unshifted = shifted - magic;
    const std::uint32_t rounded = magnitude + (kDropped >> 1) + (magnitude >> kDrop & 1U);
    const std::uint32_t subnormal = mask(magnitude < kLeastNormal);
    const std::uint32_t code = select(subnormal, std::bit_cast<std::uint32_t>(shifted) - kMagicBits,
                                      (rounded >> kDrop) - kRebias);
    const std::uint32_t back =
        select(subnormal, std::bit_cast<std::uint32_t>(unshifted), rounded & ~kDropped);
    const std::uint32_t nan = mask(magnitude > kInfinity32);
    const std::uint32_t over = ~nan & mask(code > kMax);
    const std::uint32_t sign = (kHasNan ? ~0U : ~nan) & bits >> kSignShift & kSignBit;
    codes[i] = sign | select(nan, kNan, select(over, kOver, code));

    const std::uint32_t error = ~(nan | over) & 0x7fffffffU &
                                std::bit_cast<std::uint32_t>(std::bit_cast<float>(back) - value);
    const float quotient = std::bit_cast<float>(error) /
                           std::bit_cast<float>(magnitude | (mask(magnitude == 0) & kOne32));
    errors.error[i] = error;
    errors.magnitude[i] = magnitude;
    const std::uint32_t infinity = kFp.saturates ? 0 : mask(magnitude == kInfinity32);
    const std::uint32_t zero = mask(code == 0);
    tally.nan -= nan;
    tally.overflowed -= over & ~infinity;
    tally.to_zero -= zero & mask(magnitude != 0);
    tally.inexact -= ~zero & mask(error != 0);
    tally.max_quotient = std::max(tally.max_quotient, std::bit_cast<std::uint32_t>(quotient));
  }
  store_codes<CodeOf<T>>(codes, target, count);
  account.elements += count;
  account.nan += tally.nan;
  account.nan_lost += kHasNan ? 0 : tally.nan;
  account.overflowed += tally.overflowed;
  account.to_zero += tally.to_zero;
  account.inexact += tally.inexact;
  settle_errors(errors, count, tally, account);
  if (kFp.saturates && tally.overflowed > 0) {
    const double largest = std::ldexp(
        static_cast<double>((kMax & ((1U << kFp.mantissa_bits) - 1)) | 1U << kFp.mantissa_bits),
        static_cast<int>(kMax >> kFp.mantissa_bits) - kFp.bias - kFp.mantissa_bits);
    account_clamped(source, count, -largest, largest, account);
  }
}

// float32 to an integer of at most 16 bits, or 32 with a sign: toward zero, clamped, NaN to 0.
template <DType T>
BTF_INLINE void float32_to_integer(const std::byte* source, std::byte* target, std::size_t count,
                                   LossAccount& account) {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr bool kSigned = kRow.kind == NumberKind::signed_integer;
  // Bounds that float32 holds: what lies between them truncates into the range. The lower one is
  // the next number below the least integer, or -1 without a sign.
  constexpr float kAbove = static_cast<float>(1ULL << (kRow.bits - (kSigned ? 1U : 0U)));
  constexpr float kBelow = !kSigned          ? -1.0F
                           : kRow.bits == 32 ? std::bit_cast<float>(0xcf000001U)
                                             : -kAbove - 1.0F;
  constexpr auto kMaxCode =
      static_cast<std::uint32_t>(number::low_bits(kRow.bits - (kSigned ? 1U : 0U)));
  constexpr std::uint32_t kMinCode = kSigned ? ~kMaxCode : 0;
  constexpr auto kMask = static_cast<std::uint32_t>(number::low_bits(kRow.bits));

  Tally tally;
  RunErrors errors;
  Codes codes;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, source + i * sizeof(bits), sizeof(bits));
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    const std::uint32_t nan = mask(magnitude > kInfinity32);
    const float value = std::bit_cast<float>(bits & ~nan);
    const std::uint32_t above = mask(value >= kAbove);
    const std::uint32_t below = mask(value <= kBelow);
    const std::uint32_t over = above | below;
    const float inside = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~over);
    const auto integer = static_cast<std::int32_t>(inside);
    const std::uint32_t code =
        select(above, kMaxCode, select(below, kMinCode, static_cast<std::uint32_t>(integer)));
    codes[i] = code & kMask;

    const std::uint32_t error =
        0x7fffffffU & std::bit_cast<std::uint32_t>(inside - static_cast<float>(integer));
    const float quotient = std::bit_cast<float>(error) /
                           std::bit_cast<float>(magnitude | (mask(magnitude == 0) & kOne32));
    errors.error[i] = error;
    errors.magnitude[i] = magnitude;
    const std::uint32_t zero = mask(code == 0);
    const std::uint32_t inexact = mask(error != 0);
    tally.nan -= nan;
    tally.overflowed -= over;
    tally.to_zero -= inexact & zero;
    tally.inexact -= inexact & ~zero;
    tally.max_quotient = std::max(tally.max_quotient, std::bit_cast<std::uint32_t>(quotient));
  }
  store_codes<CodeOf<T>>(codes, target, count);
  account.elements += count;
  account.nan += tally.nan;
  account.nan_lost += tally.nan;
  account.overflowed += tally.overflowed;
  account.to_zero += tally.to_zero;
  account.inexact += tally.inexact;
  settle_errors(errors, count, tally, account);
  if (tally.overflowed > 0)
    account_clamped(source, count, static_cast<double>(static_cast<std::int32_t>(kMinCode)),
                    static_cast<double>(kMaxCode), account);
}

// float16 and bfloat16 to float32: exact; NaN loses its payload.
template <DType T>
BTF_INLINE void half_to_float32(const std::byte* source, std::byte* target, std::size_t count,
                                LossAccount& account) {
  constexpr const FloatGeometry& kFp = geometry<T>();
  constexpr unsigned kShift = 23U - kFp.mantissa_bits;
  constexpr std::uint32_t kSpecial = static_cast<std::uint32_t>(number::max_finite(kFp)) + 1;
  // Multiplying by a power of two rebiases the exponent and makes subnormals normal.
  const float rebias = std::bit_cast<float>(static_cast<std::uint32_t>(254 - kFp.bias) << 23);
  std::uint32_t nans = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint16_t code;
    std::memcpy(&code, source + i * sizeof(code), sizeof(code));
    const std::uint32_t magnitude = code & 0x7fffU;
    const auto sign = static_cast<std::uint32_t>(code & 0x8000U) << 16;
    const std::uint32_t wide = magnitude << kShift;
    const std::uint32_t finite =
        kFp.bias == 127 ? wide : std::bit_cast<std::uint32_t>(std::bit_cast<float>(wide) * rebias);
    const bool nan = magnitude > kSpecial;
    const std::uint32_t special = nan ? 0x7fc00000U : kInfinity32;
    const std::uint32_t bits = sign | (magnitude >= kSpecial ? special : finite);
    std::memcpy(target + i * sizeof(bits), &bits, sizeof(bits));
    nans += nan ? 1U : 0U;
  }
  account.elements += count;
  account.nan += nans;
}

#define BTF_PAIR(name, body)                                                                \
  BTF_INLINE void name(const std::byte* s, std::byte* t, std::size_t n, LossAccount& a) {   \
    body(s, t, n, a);                                                                       \
  }                                                                                         \
  BTF_LEVELS(name, void, (const std::byte* s, std::byte* t, std::size_t n, LossAccount& a), \
             (s, t, n, a))
#define BTF_ROW(name, from, to) \
  { from, to, BTF_LEVEL_TABLE(name) }

BTF_PAIR(f32_f16, float32_to_float<DType::float16>)
BTF_PAIR(f32_bf16, float32_to_float<DType::bfloat16>)
BTF_PAIR(f32_e4m3, float32_to_float<DType::float8_e4m3fn>)
BTF_PAIR(f32_e5m2, float32_to_float<DType::float8_e5m2>)
BTF_PAIR(f32_e2m1, float32_to_float<DType::float4_e2m1fn>)
BTF_PAIR(f32_i4, float32_to_integer<DType::int4>)
BTF_PAIR(f32_u4, float32_to_integer<DType::uint4>)
BTF_PAIR(f32_i8, float32_to_integer<DType::int8>)
BTF_PAIR(f32_u8, float32_to_integer<DType::uint8>)
BTF_PAIR(f32_i16, float32_to_integer<DType::int16>)
BTF_PAIR(f32_u16, float32_to_integer<DType::uint16>)
BTF_PAIR(f32_i32, float32_to_integer<DType::int32>)
BTF_PAIR(f16_f32, half_to_float32<DType::float16>)
BTF_PAIR(bf16_f32, half_to_float32<DType::bfloat16>)

struct Row {
  DType from;
  DType to;
  std::array<CastRunFn, kCpuLevels> run;
};

constexpr auto kRows = std::to_array<Row>({
    BTF_ROW(f32_f16, DType::float32, DType::float16),
    BTF_ROW(f32_bf16, DType::float32, DType::bfloat16),
    BTF_ROW(f32_e4m3, DType::float32, DType::float8_e4m3fn),
    BTF_ROW(f32_e5m2, DType::float32, DType::float8_e5m2),
    BTF_ROW(f32_e2m1, DType::float32, DType::float4_e2m1fn),
    BTF_ROW(f32_i4, DType::float32, DType::int4),
    BTF_ROW(f32_u4, DType::float32, DType::uint4),
    BTF_ROW(f32_i8, DType::float32, DType::int8),
    BTF_ROW(f32_u8, DType::float32, DType::uint8),
    BTF_ROW(f32_i16, DType::float32, DType::int16),
    BTF_ROW(f32_u16, DType::float32, DType::uint16),
    BTF_ROW(f32_i32, DType::float32, DType::int32),
    BTF_ROW(f16_f32, DType::float16, DType::float32),
    BTF_ROW(bf16_f32, DType::bfloat16, DType::float32),
});

}  // namespace

CastRunFn find_cast_run(DType from, DType to) {
  for (const Row& row : kRows)
    if (row.from == from && row.to == to) return row.run[cpu_level()];
  return nullptr;
}

}  // namespace btf
