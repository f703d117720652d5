#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "kernels/number/number.h"
#include "kernels/scale/scale.h"

namespace btf {
namespace {

// Below this number of elements the reference is faster than setting up a chunk.
constexpr std::uint64_t kFewElements = 16;

// Limits of scales and of numbers other than 0, so that quotients, products and their rests are
// normal doubles.
constexpr double kMinScale = 0x1p-150;
constexpr double kMaxScale = 0x1p150;
constexpr double kMinNumber = 0x1p-700;
constexpr double kMaxNumber = 0x1p800;

// The digits of a scale for each element, and of products, in floats.
constexpr int kFloatDigits = 48;
// Zero points that are possible with floats.
constexpr std::int64_t kMaxShift = 255;

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

bool is_power_of_two(double scale) { return digits(scale) == 1; }

// A chunk with an uncertain code is processed twice. If that happens repeatedly, floats are tried
// less and less often.
class Tries {
 public:
  bool due() {
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  void note(bool done) {
    constexpr unsigned kMax = 64;
    pause_ = done ? 0 : std::min(2 * pause_ + 1, kMax);
    left_ = pause_;
  }

 private:
  unsigned pause_ = 0;
  unsigned left_ = 0;
};

bool within_range(const double* numbers, std::size_t count) {
  bool all = true;
  for (std::size_t i = 0; i < count; ++i) {
    const double size = std::abs(numbers[i]);
    const bool small = size > 0 && size < kMinNumber;
    const bool large = size > kMaxNumber && size < INFINITY;
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
      target_bytes_(info(cast.to).buffer_bytes()),
      to_floats_(cast.from) {
  if (!fits_double(cast.from) || cast.policy.overflow == Overflow::wrap) return;
  widen_ = widener<double>(cast.from);
  can_ = find_narrow(to_.kind, operation()) != nullptr;
  const bool to_fits =
      direction == ScaleDirection::quantize ? floats_narrow_to(to_) : cast.to == DType::float32;
  floats_ = can_ && to_floats_.can() && to_fits && has_float_lanes();
}

NumberSource ScaledRuns::operation() const {
  return direction_ == ScaleDirection::quantize ? NumberSource::quotient : NumberSource::product;
}

// The bits of the largest code without the zero point.
int ScaledRuns::code_bits(std::int64_t zero_point) const {
  const DTypeInfo& row = info(direction_ == ScaleDirection::quantize ? cast_.to : cast_.from);
  if (row.floating()) return row.fp.mantissa_bits + 1;
  const auto shift = static_cast<std::uint64_t>(std::abs(zero_point));
  return std::max<int>(row.bits, static_cast<int>(std::bit_width(shift))) + 1;
}

bool ScaledRuns::takes(double scale, std::int64_t zero_point) const {
  constexpr std::int64_t kMaxZeroPoint = std::int64_t{1} << 40;
  if (!can_ || zero_point > kMaxZeroPoint || zero_point < -kMaxZeroPoint) return false;
  if (!(scale >= kMinScale && scale <= kMaxScale)) return false;
  // Results with more digits than a Number are rounded by the reference.
  return code_bits(zero_point) + digits(scale) <= 64;
}

ScaleUse ScaledRuns::use_one(double scale, std::int64_t zero_point, int most_digits) const {
  const bool zero = scale == 0;
  ScaleUse result{.vectors = zero || takes(scale, zero_point)};
  const bool fits = fits_floats(scale) && zero_point >= -kMaxShift && zero_point <= kMaxShift;
  // Quotients need more digits only for exact errors, which are computed in doubles.
  const int all = direction_ == ScaleDirection::quantize ? 0 : code_bits(zero_point);
  result.floats = result.vectors && floats_ && fits && all + digits(scale) <= most_digits;
  result.each_is_float = zero || digits(scale) <= 24;
  result.powers = zero || is_power_of_two(scale);
  return result;
}

ScaleUse ScaledRuns::use(double scale, std::int64_t zero_point) const {
  ScaleUse result = use_one(scale, zero_point, kFloatDigits);
  result.floats = result.floats && zero_point == cast_.zero_point;
  return result;
}

ScaleUse ScaledRuns::close_use(double scale, std::int64_t zero_point) const {
  ScaleUse result = use_one(scale, zero_point, kFloatDigits);
  if (direction_ == ScaleDirection::dequantize && result.floats && info(cast_.from).bits <= 8)
    result.worst = worst_product(float_scale(scale), static_cast<float>(zero_point));
  return result;
}

double ScaledRuns::worst_product(const FloatScale& scale, float zero_point) const {
  constexpr std::size_t kCodes = 256;
  std::array<std::byte, kCodes> codes;
  alignas(64) std::array<float, kCodes> numbers;
  for (std::size_t i = 0; i < kCodes; ++i) codes[i] = static_cast<std::byte>(i);
  const std::size_t count = std::size_t{1} << info(cast_.from).bits;
  to_floats_(codes.data(), count, numbers.data());
  const double exactly = static_cast<double>(scale.high) + static_cast<double>(scale.low);
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double product = static_cast<double>(numbers[i] - zero_point) * exactly;
    if (!std::isfinite(product) || product == 0) continue;
    const double error = std::abs(static_cast<double>(static_cast<float>(product)) - product);
    worst = std::max(worst, error / std::abs(product));
  }
  return worst;
}

void ScaledRuns::run(double scale, std::int64_t zero_point, const ScaledRun& run,
                     LossAccount& account) const {
  auto zero = static_cast<double>(zero_point);
  const bool exact = code_bits(zero_point) + digits(scale) <= 53;
  const Scales scales{&scale, &zero, false, exact, zero_point};
  if (run.n < kFewElements || !takes(scale, zero_point)) return by_reference(scales, run, account);
  const bool quantizes = direction_ == ScaleDirection::quantize;
  constexpr std::uint64_t kMany = 4096;
  const ScaleUse use = quantizes       ? use_one(scale, zero_point, 64)
                       : run.n < kMany ? use_one(scale, zero_point, kFloatDigits)
                                       : close_use(scale, zero_point);
  const FloatScale floats = float_scale(scale);
  const FloatChunk in_floats{.high = &floats.high,
                             .low = &floats.low,
                             .inverse = &floats.inverse,
                             .floats = use.each_is_float,
                             .powers = use.powers,
                             .scale = scale,
                             .zero_point = static_cast<float>(zero_point),
                             .worst = use.worst};
  Tries tries;
  for (std::uint64_t at = 0; at < run.n; at += kNarrowChunk) {
    const ScaledRun some = part(run, at);
    if (use.floats && tries.due()) {
      const bool done = chunk_in_floats(in_floats, some, account);
      tries.note(done);
      if (done) continue;
    }
    chunk(scales, some, account);
  }
}

void ScaledRuns::run_each(const EachScale& each, const ScaledRun& run, LossAccount& account) const {
  alignas(64) NarrowNumbers scales;
  alignas(64) NarrowNumbers zero_points;
  FloatArrays floats;
  const ScaleUse use = each.use();
  const FloatChunk in_floats{.high = floats.high.data(),
                             .low = floats.low.data(),
                             .inverse = floats.inverse.data(),
                             .each = true,
                             .floats = use.each_is_float,
                             .powers = use.powers,
                             .zero_point = static_cast<float>(cast_.zero_point),
                             .worst = use.worst};
  Tries tries;
  for (std::uint64_t at = 0; at < run.n; at += kNarrowChunk) {
    const ScaledRun some = part(run, at);
    if (use.floats && tries.due()) {
      each.floats(at, some.n, floats);
      if (some.n < kNarrowChunk) {
        std::fill_n(floats.high.data() + some.n, kFloatRoom, 1.0F);
        std::fill_n(floats.low.data() + some.n, kFloatRoom, 0.0F);
        std::fill_n(floats.inverse.data() + some.n, kFloatRoom, 1.0F);
      }
      const bool done = chunk_in_floats(in_floats, some, account);
      tries.note(done);
      if (done) continue;
    }
    each.doubles(at, some.n, scales.data(), zero_points.data());
    chunk({scales.data(), zero_points.data(), true}, some, account);
  }
}

bool ScaledRuns::chunk_in_floats(FloatChunk chunk, const ScaledRun& run,
                                 LossAccount& account) const {
  alignas(64) std::array<float, kNarrowRoom> numbers;
  chunk.count = run.n;
  chunk.numbers = to_floats_(run.source, run.n, numbers.data());
  return direction_ == ScaleDirection::quantize
             ? float_quotients(to_, chunk, run.target, account)
             : float_products(chunk, reinterpret_cast<float*>(run.target), account);
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
  // The error of a clamped number is the difference of two distant numbers, which is rounded twice
  // if the product has more digits than a double.
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
