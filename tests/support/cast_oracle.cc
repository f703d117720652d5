#include "support/cast_oracle.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace btf::test {
namespace {

// Codes as docs/dtypes.md prints them, without their sign. `inf` and `nan` are 0 where there is
// none.
struct Float {
  DType dtype;
  int mantissa_bits;
  int bias;
  std::uint64_t largest;
  std::uint64_t inf;
  std::uint64_t nan;   // as written
  std::uint64_t over;  // beyond the range
  std::uint64_t over_ieee;
  std::uint64_t sign;
  bool fnuz = false;                      // no -0: its code is the NaN
  std::vector<long double> magnitudes{};  // of codes 0 to largest + 1; at most 16 bits only
};

struct Integer {
  DType dtype;
  int bits;
  long double least;
  long double largest;
};

const Float kFloats[] = {
    {DType::float64, 52, 1023, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF8000000000000,
     0x7FF0000000000000, 0x7FF0000000000000, 0x8000000000000000},
    {DType::float32, 23, 127, 0x7F7FFFFF, 0x7F800000, 0x7FC00000, 0x7F800000, 0x7F800000,
     0x80000000},
    {DType::float16, 10, 15, 0x7BFF, 0x7C00, 0x7E00, 0x7C00, 0x7C00, 0x8000},
    {DType::bfloat16, 7, 127, 0x7F7F, 0x7F80, 0x7FC0, 0x7F80, 0x7F80, 0x8000},
    {DType::float8_e4m3fn, 3, 7, 0x7E, 0, 0x7F, 0x7E, 0x7F, 0x80},
    {DType::float8_e5m2, 2, 15, 0x7B, 0x7C, 0x7E, 0x7B, 0x7C, 0x80},
    {DType::float8_e8m0fnu, 0, 127, 0xFE, 0, 0xFF, 0xFE, 0xFF, 0},
    {DType::float4_e2m1fn, 1, 1, 0x7, 0, 0, 0x7, 0x7, 0x8},
    {DType::float8_e4m3fnuz, 3, 8, 0x7F, 0, 0x80, 0x7F, 0x80, 0x80, true},
    {DType::float8_e5m2fnuz, 2, 16, 0x7F, 0, 0x80, 0x7F, 0x80, 0x80, true},
    {DType::float8_e3m4, 4, 3, 0x6F, 0x70, 0x78, 0x6F, 0x70, 0x80},
    {DType::float8_e4m3, 3, 7, 0x77, 0x78, 0x7C, 0x77, 0x78, 0x80},
    {DType::float8_e4m3b11fnuz, 3, 11, 0x7F, 0, 0x80, 0x7F, 0x80, 0x80, true},
};

const Integer kIntegers[] = {
    {DType::int4, 4, -8, 7},
    {DType::int8, 8, -128, 127},
    {DType::int16, 16, -32768, 32767},
    {DType::int32, 32, -2147483648.0L, 2147483647.0L},
    {DType::int64, 64, -9223372036854775808.0L, 9223372036854775807.0L},
    {DType::uint4, 4, 0, 15},
    {DType::uint8, 8, 0, 255},
    {DType::uint16, 16, 0, 65535},
    {DType::uint32, 32, 0, 4294967295.0L},
    {DType::uint64, 64, 0, 18446744073709551615.0L},
};

bool is_e8m0(const Float& row) { return row.dtype == DType::float8_e8m0fnu; }

// By the formula, beyond the largest code too.
long double magnitude_value(const Float& row, std::uint64_t code) {
  const std::uint64_t unit = 1ULL << row.mantissa_bits;
  const int exponent = static_cast<int>(code / unit);
  const auto mantissa = static_cast<long double>(code % unit);
  if (is_e8m0(row)) return std::ldexp(1.0L, exponent - row.bias);
  if (exponent == 0) return std::ldexp(mantissa, 1 - row.bias - row.mantissa_bits);
  return std::ldexp(static_cast<long double>(unit) + mantissa,
                    exponent - row.bias - row.mantissa_bits);
}

std::vector<Float> make_floats() {
  std::vector<Float> rows(std::begin(kFloats), std::end(kFloats));
  for (Float& row : rows)
    for (std::uint64_t code = 0; row.sign <= 0x8000 && code <= row.largest + 1; ++code)
      row.magnitudes.push_back(magnitude_value(row, code));
  return rows;
}

const Float* find_float(DType dtype) {
  static const std::vector<Float> rows = make_floats();
  const auto row = std::ranges::find(rows, dtype, &Float::dtype);
  return row == rows.end() ? nullptr : &*row;
}

const Integer* find_integer(DType dtype) {
  const Integer* row = std::ranges::find(kIntegers, dtype, &Integer::dtype);
  return row == std::end(kIntegers) ? nullptr : row;
}

long double float_value(const Float& row, std::uint64_t code) {
  // The language reads these two itself.
  if (row.dtype == DType::float64) return std::bit_cast<double>(code);
  if (row.dtype == DType::float32) return std::bit_cast<float>(static_cast<std::uint32_t>(code));
  if (row.fnuz && code == row.nan) return std::numeric_limits<long double>::quiet_NaN();
  const std::uint64_t magnitude = code & ~row.sign;
  const long double sign = (code & row.sign) != 0 ? -1.0L : 1.0L;
  if (magnitude <= row.largest) return std::copysign(row.magnitudes[magnitude], sign);
  const bool infinite = row.inf != 0 && magnitude == row.inf;
  return std::copysign(infinite ? std::numeric_limits<long double>::infinity()
                                : std::numeric_limits<long double>::quiet_NaN(),
                       sign);
}

// The greatest code whose value is not above x >= 0, and `largest + 1` for all x beyond that.
std::uint64_t floor_code(const Float& row, long double x) {
  if (!row.magnitudes.empty()) {
    const auto above = std::ranges::upper_bound(row.magnitudes, x);
    return static_cast<std::uint64_t>(above - row.magnitudes.begin()) - 1;
  }
  // The language's conversion is a guess here, no more: its neighbours decide.
  std::uint64_t code = row.dtype == DType::float64
                           ? std::bit_cast<std::uint64_t>(static_cast<double>(x))
                           : std::bit_cast<std::uint32_t>(static_cast<float>(x));
  while (magnitude_value(row, code) > x) --code;
  while (code <= row.largest && magnitude_value(row, code + 1) <= x) ++code;
  return code;
}

OracleCast to_e8m0(const Float& row, long double x, const CastPolicy& policy, std::uint64_t over) {
  const long double magnitude = std::abs(x);
  if (magnitude < row.magnitudes[0]) return {0, Loss::inexact};
  std::uint64_t code = floor_code(row, magnitude);
  const long double low = row.magnitudes[code];
  const bool between = magnitude != low;
  if (between && policy.rounding == Rounding::nearest)
    code += magnitude >= 1.5L * low;
  else if (between && (policy.rounding == Rounding::by_table || policy.rounding == Rounding::up))
    code += 1;
  if (code > row.largest) return {over, Loss::overflowed};
  return {code, between || x < 0 ? Loss::inexact : Loss::none};
}

OracleCast to_float(const Float& row, long double x, const CastPolicy& policy) {
  const std::uint64_t sign = std::signbit(x) ? row.sign : 0;
  if (std::isnan(x)) {
    if (row.nan == 0) return {row.largest, Loss::nan_lost};
    return {sign | row.nan, Loss::none};
  }
  const std::uint64_t over = policy.overflow == Overflow::ieee ? row.over_ieee : row.over;
  if (std::isinf(x))
    return {sign | over, row.inf != 0 && over == row.inf ? Loss::none : Loss::overflowed};
  if (is_e8m0(row)) return to_e8m0(row, x, policy, over);

  const long double magnitude = std::abs(x);
  std::uint64_t code = floor_code(row, magnitude);
  if (code <= row.largest) {
    const long double low = magnitude_value(row, code);
    const long double high = magnitude_value(row, code + 1);
    const long double middle = low + (high - low) / 2;
    if (magnitude > middle || (magnitude == middle && code % 2 == 1)) ++code;
  }
  if (code > row.largest) return {sign | over, Loss::overflowed};
  const std::uint64_t result = row.fnuz && code == 0 ? 0 : sign | code;
  if (magnitude_value(row, code) == magnitude) return {result, Loss::none};
  return {result, code == 0 ? Loss::to_zero : Loss::inexact};
}

long double rounded(long double x, Rounding rounding) {
  const long double floor = std::floor(x);
  const long double fraction = x - floor;
  if (fraction == 0) return x;
  switch (rounding) {
    case Rounding::by_table:
    case Rounding::zero:
      return std::trunc(x);
    case Rounding::up:
      return floor + 1;
    case Rounding::down:
      return floor;
    case Rounding::nearest:
      break;
  }
  if (fraction == 0.5L) return std::fmod(floor, 2.0L) == 0 ? floor : floor + 1;
  return fraction < 0.5L ? floor : floor + 1;
}

// The integer x modulo 2^bits.
std::uint64_t low_bits(long double x, int bits) {
  const long double modulus = std::ldexp(1.0L, bits);
  long double rest = std::abs(x) < modulus ? x : std::fmod(x, modulus);
  if (rest < 0) rest += modulus;
  return static_cast<std::uint64_t>(rest);
}

OracleCast to_integer(const Integer& row, long double x, const CastPolicy& policy) {
  if (std::isnan(x)) return {0, Loss::nan_lost};
  const long double nearest = std::isinf(x) ? x : rounded(x, policy.rounding);
  if (nearest < row.least || nearest > row.largest) {
    if (policy.overflow != Overflow::wrap)
      return {low_bits(x < 0 ? row.least : row.largest, row.bits), Loss::overflowed};
    return {std::isinf(x) ? 0 : low_bits(nearest, row.bits), Loss::overflowed};
  }
  const Loss loss = nearest == x ? Loss::none : nearest == 0 ? Loss::to_zero : Loss::inexact;
  return {low_bits(nearest, row.bits), loss};
}

OracleCast to_bool(long double x) {
  if (std::isnan(x)) return {1, Loss::nan_lost};
  if (std::isinf(x)) return {1, Loss::overflowed};
  return {x != 0 ? 1ULL : 0ULL, x == 0 || x == 1 ? Loss::none : Loss::inexact};
}

}  // namespace

long double oracle_value(DType dtype, std::uint64_t code) {
  if (const Float* row = find_float(dtype)) return float_value(*row, code);
  if (const Integer* row = find_integer(dtype)) {
    const auto value = static_cast<long double>(code);
    return value > row->largest ? value - std::ldexp(1.0L, row->bits) : value;
  }
  return code != 0 ? 1 : 0;
}

OracleCast oracle_cast(DType from, DType to, std::uint64_t code, const CastPolicy& policy) {
  if (from == to) return {code, Loss::none};
  const long double x = oracle_value(from, code);
  if (const Float* row = find_float(to)) return to_float(*row, x, policy);
  if (const Integer* row = find_integer(to)) return to_integer(*row, x, policy);
  return to_bool(x);
}

std::span<const long double> oracle_magnitudes(DType dtype) {
  return find_float(dtype)->magnitudes;
}

}  // namespace btf::test
