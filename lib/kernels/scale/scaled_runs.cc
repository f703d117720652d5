#include "kernels/scale/scaled_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/number/number.h"

namespace btf {
namespace {

// Below this the reference is done before a chunk is set up.
constexpr std::uint64_t kFewElements = 16;

// No quotient, product or rest of them leaves the normal doubles: scales, and numbers but for 0.
constexpr double kLeastScale = 0x1p-150;
constexpr double kMostScale = 0x1p150;
constexpr double kLeastNumber = 0x1p-700;
constexpr double kMostNumber = 0x1p800;

int digits(double scale) {
  constexpr std::uint64_t kTop = 1ULL << 52;
  const std::uint64_t mantissa = std::bit_cast<std::uint64_t>(scale) & (kTop - 1);
  return 53 - std::countr_zero(mantissa | kTop);
}

CastPolicy scaled_policy(const CastPolicy& policy) {
  CastPolicy result = policy;
  if (result.rounding == Rounding::by_table) result.rounding = Rounding::nearest;
  return result;
}

bool within_range(const double* numbers, std::size_t count) {
  bool all = true;
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::abs(numbers[i]);
    const bool small = size > 0 && size < kLeastNumber;
    const bool large = size > kMostNumber && size < INFINITY;
    all = all && !small && !large;
  }
  return all;
}

}  // namespace

ScaledRuns::ScaledRuns(const ScaledCast& cast, ScaleDirection direction)
    : cast_(cast),
      direction_(direction),
      to_(make_narrowing(cast.to, scaled_policy(cast.policy), cast.zero_point)),
      source_bytes_(info(cast.from).buffer_bytes()),
      target_bytes_(info(cast.to).buffer_bytes()) {
  if (!fits_double(cast.from) || cast.policy.overflow == Overflow::wrap) return;
  widen_ = widener<double>(cast.from);
  can_ = find_narrow(to_.kind, operation()) != nullptr;
}

NumberSource ScaledRuns::operation() const {
  return direction_ == ScaleDirection::quantize ? NumberSource::quotient : NumberSource::product;
}

// Of the largest code without the zero point.
int ScaledRuns::code_bits(std::int64_t zero_point) const {
  const DTypeInfo& row = info(direction_ == ScaleDirection::quantize ? cast_.to : cast_.from);
  if (row.floating()) return row.fp.mantissa_bits + 1;
  const auto shift = static_cast<std::uint64_t>(std::abs(zero_point));
  return std::max<int>(row.bits, static_cast<int>(std::bit_width(shift))) + 1;
}

bool ScaledRuns::takes(double scale, std::int64_t zero_point) const {
  constexpr std::int64_t kMostZeroPoint = std::int64_t{1} << 40;
  if (!can_ || zero_point > kMostZeroPoint || zero_point < -kMostZeroPoint) return false;
  if (!(scale >= kLeastScale && scale <= kMostScale)) return false;
  // More than a Number holds is rounded by the reference, in its own way.
  return code_bits(zero_point) + digits(scale) <= 64;
}

void ScaledRuns::run(double scale, std::int64_t zero_point, const ScaledRun& run,
                     LossAccount& account) const {
  auto zero = static_cast<double>(zero_point);
  const bool exact = code_bits(zero_point) + digits(scale) <= 53;
  const Scales scales{&scale, &zero, false, exact, zero_point};
  if (run.n < kFewElements || !takes(scale, zero_point)) return by_reference(scales, run, account);
  for (std::uint64_t at = 0; at < run.n; at += kNarrowChunk) chunk(scales, part(run, at), account);
}

void ScaledRuns::run_each(const Fill& fill, const ScaledRun& run, LossAccount& account) const {
  alignas(64) NarrowNumbers scales;
  alignas(64) NarrowNumbers zero_points;
  for (std::uint64_t at = 0; at < run.n; at += kNarrowChunk) {
    const ScaledRun some = part(run, at);
    fill(at, some.n, scales.data(), zero_points.data());
    chunk({scales.data(), zero_points.data(), true}, some, account);
  }
}

ScaledRun ScaledRuns::part(const ScaledRun& run, std::uint64_t at) const {
  return {run.source + at * source_bytes_, run.target + at * target_bytes_,
          std::min<std::uint64_t>(kNarrowChunk, run.n - at)};
}

void ScaledRuns::chunk(const Scales& scales, const ScaledRun& run, LossAccount& account) const {
  alignas(64) NarrowNumbers numbers;
  NarrowCodes codes;
  widen_(run.source, 1, run.n, numbers.data());
  if (cast_.from == DType::float64 && !within_range(numbers.data(), run.n))
    return by_reference(scales, run, account);
  LossAccount tally = account;
  find_narrow(to_.kind, operation())(to_,
                                     {.numbers = numbers.data(),
                                      .scales = scales.scales,
                                      .zero_points = scales.zero_points,
                                      .each = scales.each,
                                      .count = run.n},
                                     codes, tally);
  // The error of what is clamped is a difference of numbers far from each other, which is rounded
  // twice where the product has more digits than a double.
  if (direction_ == ScaleDirection::quantize && !scales.exact &&
      tally.overflowed != account.overflowed && !narrow_is_fused())
    return by_reference(scales, run, account);
  account = tally;
  pack_codes(codes, run.n, target_bytes_, run.target);
}

void ScaledRuns::by_reference(const Scales& scales, const ScaledRun& run,
                              LossAccount& account) const {
  const auto cast = direction_ == ScaleDirection::quantize ? quantize_run : dequantize_run;
  const std::uint64_t step = scales.each ? 1 : run.n;
  ScaledCast one = cast_;
  for (std::uint64_t at = 0; at < run.n; at += step) {
    one.zero_point =
        scales.each ? static_cast<std::int64_t>(scales.zero_points[at]) : scales.zero_point;
    cast(one, number::from_double(scales.scales[scales.each ? at : 0]),
         run.source + at * source_bytes_, run.target + at * target_bytes_, step, account);
  }
}

}  // namespace btf
