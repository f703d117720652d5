#include "inspect/chunk_stats.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/dtype_table.h"
#include "kernels/stats/number_runs.h"

namespace btf {
namespace {

// Below this, some squares may have underflowed to 0.
constexpr double kLeastSquares = 0x1p-700;

constexpr std::uint64_t kSignBit = 1ULL << 63;

// Squares are about `centre`, from which the mean is `away`.
Moments moments_about(std::uint64_t n, long double centre, long double away,
                      const Squares& squares) {
  const auto count = static_cast<long double>(n);
  const long double all = static_cast<long double>(squares.sum) + squares.rest;
  return {count, centre, away, std::max(0.0L, all - count * away * away)};
}

}  // namespace

void Moments::add(const Moments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const long double total = count + other.count;
  const long double delta = other.mean - mean + (other.rest - rest);
  const long double step = delta * other.count / total;
  const long double moved = mean + step;
  const long double part = moved - mean;
  rest += mean - (moved - part) + (step - part);
  mean = moved;
  squares += other.squares + delta * delta * count * other.count / total;
  count = total;
}

void Tally::keep_min(const Kept& kept) {
  if (!min || kept.value < min->value || (kept.value == min->value && kept.at < min->at))
    min = kept;
}

void Tally::keep_max(const Kept& kept) {
  if (!max || kept.value > max->value || (kept.value == max->value && kept.at < max->at))
    max = kept;
}

void Tally::keep_nan(std::uint64_t at) {
  if (!first_nan || at < *first_nan) first_nan = at;
}

void Tally::add(const Tally& other) {
  counts.elements += other.counts.elements;
  counts.finite += other.counts.finite;
  counts.nan += other.counts.nan;
  counts.positive_inf += other.counts.positive_inf;
  counts.negative_inf += other.counts.negative_inf;
  counts.zeros += other.counts.zeros;
  counts.subnormals += other.counts.subnormals;
  if (other.min) keep_min(*other.min);
  if (other.max) keep_max(*other.max);
  if (other.first_nan) keep_nan(*other.first_nan);
}

ChunkStats::ChunkStats(DType dtype)
    : row_(info(dtype)),
      integers_(!fits_double(dtype)),
      turn_(row_.kind == NumberKind::signed_integer ? kSignBit : 0),
      widen_(widener<double>(dtype)),
      limit_(std::numeric_limits<double>::denorm_min()),
      has_subnormals_(row_.floating() && !row_.fp.power_of_two) {
  if (has_subnormals_) limit_ = std::ldexp(1.0, 1 - row_.fp.bias);
}

Moments ChunkStats::add(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers) {
  if (count == 0) return {};
  tally_.counts.elements += count;
  return integers_ ? add_integers(codes, count, numbers) : add_numbers(codes, count, numbers);
}

Moments ChunkStats::add_absent(std::uint64_t first, std::uint64_t count) {
  if (count == 0) return {};
  const std::uint64_t zero = 0;
  const Moments one = add(reinterpret_cast<const std::byte*>(&zero), 1, {first});
  tally_.counts.elements += count - 1;
  tally_.counts.finite += count - 1;
  tally_.counts.zeros += one.mean == 0 ? count - 1 : 0;
  return {static_cast<long double>(count), one.mean, one.rest, 0};
}

Moments ChunkStats::add_numbers(const std::byte* codes, std::uint64_t count, ChunkNumbers numbers) {
  const NumberRuns& runs = number_runs();
  widen_(codes, 1, count, values_.data());
  NumberSums sums = runs.sums(values_.data(), count, limit_);
  const std::uint64_t finite = std::isfinite(sums.sum) ? count : take_out_special(count, numbers);
  if (finite == 0) return {};
  if (finite != count) sums = runs.sums(values_.data(), finite, limit_);

  TensorStats& counts = tally_.counts;
  counts.finite += finite;
  const std::uint64_t zeros =
      has_subnormals_ && sums.small > 0 ? runs.zeros(values_.data(), finite) : sums.small;
  counts.zeros += zeros;
  counts.subnormals += sums.small - zeros;

  const auto first_of = [&](double value) {
    const auto found = static_cast<std::uint64_t>(
        std::find(values_.begin(), values_.begin() + finite, value) - values_.begin());
    return kept(codes, finite == count ? found : places_[found], value, numbers);
  };
  if (lower(sums.least, numbers)) tally_.keep_min(first_of(sums.least));
  if (higher(sums.most, numbers)) tally_.keep_max(first_of(sums.most));

  if (!std::isfinite(sums.sum)) return wide_moments(finite);
  const auto n = static_cast<long double>(finite);
  const auto centre = static_cast<double>((static_cast<long double>(sums.sum) + sums.rest) / n);
  const Squares squares = runs.squares(values_.data(), finite, centre);
  if (!std::isfinite(squares.sum) || (squares.sum < kLeastSquares && sums.least != sums.most))
    return wide_moments(finite);
  return moments_about(finite, centre, (sums.sum - n * centre + sums.rest) / n, squares);
}

// Moves the finite values to the front and counts the others.
std::uint64_t ChunkStats::take_out_special(std::uint64_t count, ChunkNumbers numbers) {
  std::uint64_t finite = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = values_[i];
    values_[finite] = value;
    places_[finite] = static_cast<std::uint16_t>(i);
    finite += std::isfinite(value) ? 1 : 0;
    tally_.counts.positive_inf += value > std::numeric_limits<double>::max() ? 1 : 0;
    tally_.counts.negative_inf += value < std::numeric_limits<double>::lowest() ? 1 : 0;
    if (!std::isnan(value)) continue;
    ++tally_.counts.nan;
    tally_.keep_nan(numbers[i]);
  }
  return finite;
}

// For values whose sum or whose squares overflow double.
Moments ChunkStats::wide_moments(std::uint64_t n) const {
  const auto count = static_cast<long double>(n);
  const long double pivot = values_[0];
  long double sum = 0;
  for (std::uint64_t i = 0; i < n; ++i) sum += values_[i] - pivot;
  const long double shift = sum / count;
  Moments all{count, pivot, shift, 0};
  for (std::uint64_t i = 0; i < n; ++i) {
    const long double deviation = values_[i] - pivot - shift;
    all.squares += deviation * deviation;
  }
  return all;
}

Moments ChunkStats::add_integers(const std::byte* codes, std::uint64_t count,
                                 ChunkNumbers numbers) {
  __extension__ using Wide = unsigned __int128;
  const NumberRuns& runs = number_runs();
  const auto* values = reinterpret_cast<const std::uint64_t*>(codes);
  const IntegerSums sums = runs.integer_sums(values, count, turn_);
  tally_.counts.finite += count;
  tally_.counts.zeros += sums.zeros;

  const auto real = [&](std::uint64_t turned) {
    return static_cast<long double>(turned) - static_cast<long double>(turn_);
  };
  const auto first_of = [&](std::uint64_t turned) {
    const auto found =
        static_cast<std::uint64_t>(std::find(values, values + count, turned ^ turn_) - values);
    return kept(codes, found, real(turned), numbers);
  };
  if (lower(real(sums.least), numbers)) tally_.keep_min(first_of(sums.least));
  if (higher(real(sums.most), numbers)) tally_.keep_max(first_of(sums.most));

  const Wide sum = (Wide{sums.high} << 32) + sums.low;
  const auto centre = static_cast<std::uint64_t>(sum / count);
  const long double away = static_cast<long double>(static_cast<std::uint64_t>(sum % count)) /
                           static_cast<long double>(count);
  return moments_about(count, real(centre), away,
                       runs.integer_squares(values, count, turn_, centre));
}

// Is it worth looking for the first of them?
bool ChunkStats::lower(long double value, ChunkNumbers numbers) const {
  const auto& min = tally_.min;
  return !min || value < min->value || (value == min->value && numbers[0] < min->at);
}

bool ChunkStats::higher(long double value, ChunkNumbers numbers) const {
  const auto& max = tally_.max;
  return !max || value > max->value || (value == max->value && numbers[0] < max->at);
}

Tally::Kept ChunkStats::kept(const std::byte* codes, std::uint64_t i, long double value,
                             ChunkNumbers numbers) const {
  Tally::Kept kept{value, 0, numbers[i]};
  std::memcpy(&kept.code, codes + i * row_.buffer_bytes(), row_.buffer_bytes());
  return kept;
}

}  // namespace btf
