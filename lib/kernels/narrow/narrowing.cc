#include "kernels/narrow/narrowing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/number/number.h"

namespace btf {
namespace {

constexpr unsigned kMantissa = 52;
constexpr int kBias = 1023;

double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }

// Numbers beyond a float's range become its largest number, Inf, or NaN if it has no Inf.
void set_beyond(const FloatGeometry& fp, bool clamps, double largest, Narrowing& to) {
  if (clamps)
    to.beyond = largest;
  else if (fp.specials == FloatSpecials::ieee)
    to.beyond = std::numeric_limits<double>::infinity();
  else
    to.beyond = std::numeric_limits<double>::quiet_NaN();
}

bool clamps(const FloatGeometry& fp, const CastPolicy& policy) {
  return fp.specials == FloatSpecials::none || (fp.saturates && policy.overflow != Overflow::ieee);
}

void set_float(const DTypeInfo& row, const CastPolicy& policy, Narrowing& to) {
  const FloatGeometry& fp = row.fp;
  to.has_nan = fp.specials != FloatSpecials::none;
  to.nan_code = to.has_nan ? number::nan_code(fp) : number::max_finite(fp);
  to.sign_bit = number::sign_bit(row);
  to.nan_sign = to.has_nan ? to.sign_bit : 0;
  to.has_minus_zero = fp.specials != FloatSpecials::fnuz;
  to.kind = TargetKind::double_;
  if (fp.mantissa_bits == kMantissa) return;
  to.kind = TargetKind::floating;
  const unsigned drop = kMantissa - fp.mantissa_bits;
  const std::uint64_t max = number::max_finite(fp);
  const std::uint64_t max_bits =
      (max << drop) + (static_cast<std::uint64_t>(kBias - fp.bias) << kMantissa);
  // The tie if `max` is odd, otherwise the number after it.
  const std::uint64_t over = max_bits + (1ULL << (drop - 1)) + (1 - (max & 1U));
  const auto least_field = static_cast<std::uint64_t>(kBias + 1 - fp.bias);
  to.drop = static_cast<int>(drop);
  to.least_normal = least_field << kMantissa;
  to.to_addend =
      (static_cast<std::uint64_t>(drop) << kMantissa) - (least_field << fp.mantissa_bits);
  to.over = from_bits(over);
  to.cut = from_bits(clamps(fp, policy) ? over - 1 : over);
  set_beyond(fp, clamps(fp, policy), from_bits(max_bits), to);
}

void set_power_of_two(const DTypeInfo& row, const CastPolicy& policy, Narrowing& to) {
  const FloatGeometry& fp = row.fp;
  to.kind = TargetKind::power_of_two;
  to.has_nan = true;
  to.nan_code = number::nan_code(fp);
  const double largest = std::ldexp(1.0, static_cast<int>(number::max_finite(fp)) - fp.bias);
  to.over = largest;
  to.cut = clamps(fp, policy) ? largest : 2 * largest;
  to.least_normal = static_cast<std::uint64_t>(kBias - fp.bias) << kMantissa;
  set_beyond(fp, clamps(fp, policy), largest, to);
  if (policy.rounding == Rounding::by_table || policy.rounding == Rounding::up)
    to.lift = number::low_bits(kMantissa);
  else if (policy.rounding == Rounding::nearest)
    to.lift = 1ULL << (kMantissa - 1);
}

void set_integer(const DTypeInfo& row, const CastPolicy& policy, std::int64_t zero_point,
                 Narrowing& to) {
  const bool has_sign = row.kind == NumberKind::signed_integer;
  const bool wide = row.bits == 64;
  to.kind = wide ? TargetKind::wide_integer : TargetKind::integer;
  to.rounding = policy.rounding;
  to.wraps = policy.overflow == Overflow::wrap;
  to.modulus = std::ldexp(1.0, row.bits);
  const double end = has_sign ? to.modulus / 2 : to.modulus;
  to.most = wide ? end : end - 1;
  to.least = has_sign ? -end : 0;
  to.zero_point = static_cast<double>(zero_point);
  if (!wide)
    to.nan_code = static_cast<std::uint64_t>(
                      static_cast<std::int64_t>(std::clamp(to.zero_point, to.least, to.most))) &
                  number::low_bits(row.bits);
}

}  // namespace

Narrowing make_narrowing(DType to, const CastPolicy& policy, std::int64_t zero_point) {
  const DTypeInfo& row = info(to);
  Narrowing result;
  switch (row.kind) {
    case NumberKind::floating:
      row.fp.power_of_two ? set_power_of_two(row, policy, result) : set_float(row, policy, result);
      break;
    case NumberKind::boolean:
      result.kind = TargetKind::boolean;
      result.nan_code = 1;
      break;
    case NumberKind::signed_integer:
    case NumberKind::unsigned_integer:
      set_integer(row, policy, zero_point, result);
      break;
  }
  // The default of integers is rounding toward zero.
  if (result.rounding == Rounding::by_table) result.rounding = Rounding::zero;
  return result;
}

}  // namespace btf
