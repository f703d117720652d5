#include "diff/hints/models/likeness.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

constexpr double kNormalTails = 3;  // the fourth moment by the square of the second

// Numbers that look random and are always the same.
std::uint64_t scrambled(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 32);
}

// By how many numbers along a dim one that is independent comes: 1 for noise, more where they are
// smooth, repeat or have a level of their own in each line.
Result<double> numbers_for_one(Lookup& side, const Yardstick& yardstick, std::size_t dim) {
  constexpr std::uint64_t kLines = 16;
  constexpr std::uint64_t kWindow = 48;
  const Dims& dims = side.view().dims;
  const std::uint64_t size = dims[dim];
  const std::uint64_t window = std::min(size, kWindow);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t line = 0; line < kLines; ++line) {
    Dims index(dims.size());
    for (std::size_t d = 0; d < dims.size(); ++d)
      index[d] = scrambled(line * 64 + d + 1) % (d == dim ? size - window + 1 : dims[d]);
    for (std::uint64_t i = 0; i < window; ++i, ++index[dim])
      numbers.push_back(linear_key(dims, index));
  }
  BTF_ASSIGN(const std::vector<long double> values, side.values(numbers));
  std::vector<double> x;
  x.reserve(values.size());
  for (const long double value : values)
    x.push_back(std::isfinite(value)
                    ? static_cast<double>((value - yardstick.centre) / yardstick.unit)
                    : 0.0);
  double square = 0;
  for (const double v : x) square += v * v;
  square /= static_cast<double>(x.size());
  if (square == 0) return 1;
  double sum = 1;
  double last = 0;  // the mean of the longest lags, for those that are longer still
  std::uint64_t lasts = 0;
  for (std::uint64_t lag = 1; lag < window; ++lag) {
    double product = 0;
    for (std::uint64_t line = 0; line < kLines; ++line)
      for (std::uint64_t i = 0; i + lag < window; ++i)
        product += x[line * window + i] * x[line * window + i + lag];
    const auto count = static_cast<double>(kLines * (window - lag));
    const double likeness = product / count / square;
    // Of noise, that is how large the square is by chance.
    const double known = std::max(0.0, likeness * likeness - 2 / count);
    const double share = 1 - static_cast<double>(lag) / static_cast<double>(size);
    sum += 2 * share * known;
    if (4 * lag < 3 * window) continue;
    last += known;
    ++lasts;
  }
  if (size > window && lasts > 0) {
    const auto rest = static_cast<double>(size - window);
    sum += last / static_cast<double>(lasts) * rest * rest / static_cast<double>(size);
  }
  return std::min(sum, static_cast<double>(size));
}

}  // namespace

Yardstick yardstick_of(std::span<const Point> points, bool of_golden) {
  std::vector<long double> numbers;
  for (const Point& point : points)
    if (const long double v = of_golden ? point.golden : point.actual; std::isfinite(v))
      numbers.push_back(v);
  if (numbers.size() < 2) return {0, 0};
  const auto count = static_cast<long double>(numbers.size());
  long double mean = 0;
  for (const long double v : numbers) mean += v / count;
  long double square = 0;
  for (const long double v : numbers) square += (v - mean) / count * (v - mean);
  const auto unit = static_cast<double>(std::sqrt(square));
  // What is left of equal numbers by rounding is no spread.
  const bool constant = unit <= 1e-13 * std::abs(static_cast<double>(mean));
  return {static_cast<double>(mean), constant || !std::isfinite(unit) ? 0 : unit};
}

void Likeness::add_run(const double* actual, const double* golden, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const double x = (actual[i] - yardstick_.centre) / yardstick_.unit;
    const double y = (golden[i] - yardstick_.centre) / yardstick_.unit;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      const bool same = actual[i] == golden[i] || (std::isnan(actual[i]) && std::isnan(golden[i]));
      unlike_ += same ? 0 : 1;
      continue;
    }
    ++pairs_;
    actual_.first += x;
    actual_.second += x * x;
    actual_.fourth += x * x * (x * x);
    golden_.first += y;
    golden_.second += y * y;
    golden_.fourth += y * y * (y * y);
    products_ += x * y;
    errors_ += (x - y) * (x - y);
  }
}

void Likeness::add(const Likeness& other) {
  pairs_ += other.pairs_;
  unlike_ += other.unlike_;
  for (const auto side : {&Likeness::actual_, &Likeness::golden_}) {
    (this->*side).first += (other.*side).first;
    (this->*side).second += (other.*side).second;
    (this->*side).fourth += (other.*side).fourth;
  }
  products_ += other.products_;
  errors_ += other.errors_;
}

double Likeness::variance(bool of_golden) const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  const double mean = sums(of_golden).first / n;
  return std::max(0.0, sums(of_golden).second / n - mean * mean);
}

double Likeness::covariance() const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  return products_ / n - actual_.first / n * (golden_.first / n);
}

double Likeness::correlation() const {
  return covariance() / std::sqrt(variance(false) * variance(true));
}

FittedLine Likeness::line() const {
  const auto n = static_cast<double>(std::max<std::uint64_t>(pairs_, 1));
  const auto mean = [&](const Sums& of) {
    return yardstick_.centre + yardstick_.unit * (of.first / n);
  };
  const double factor = covariance() / variance(true);
  return {factor, mean(actual_) - factor * mean(golden_)};
}

double Likeness::error() const {
  return std::sqrt(errors_ / static_cast<double>(std::max<std::uint64_t>(pairs_, 1))) *
         yardstick_.unit;
}

double Likeness::deviation(bool of_golden) const {
  return std::sqrt(variance(of_golden)) * yardstick_.unit;
}

double Likeness::tails(bool of_golden) const {
  const Sums& of = sums(of_golden);
  if (of.second == 0 || !std::isfinite(of.fourth)) return std::numeric_limits<double>::infinity();
  const auto n = static_cast<double>(pairs_);
  return std::max(1.0, n * of.fourth / (of.second * of.second) / kNormalTails);
}

Result<Likeness> likeness_as_is(const Inquiry& inquiry, const Yardstick& yardstick) {
  const HintInput& input = inquiry.input;
  return likeness_of(input.actual, input.golden, input.execution, yardstick);
}

Result<Likeness> likeness_of(const DiffSide& actual, const DiffSide& golden,
                             const Execution& execution, const Yardstick& yardstick) {
  const PairRows pairs(actual, golden, execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<Likeness> parts(workers, Likeness(yardstick));
  BTF_TRY(pairs.walk<double>([&](unsigned worker, std::uint64_t, const PairRun<double>& run) {
    parts[worker].add_run(run.actual, run.golden, run.values());
  }));
  Likeness all(yardstick);
  for (const Likeness& part : parts) all.add(part);
  return all;
}

Result<double> independent_numbers(Lookup& side, const Yardstick& yardstick) {
  double numbers = 1;
  for (std::size_t d = 0; d < side.view().dims.size(); ++d) {
    const std::uint64_t size = side.view().dims[d];
    if (size < 2) continue;
    BTF_ASSIGN(const double for_one, numbers_for_one(side, yardstick, d));
    numbers *= static_cast<double>(size) / for_one;
  }
  return numbers;
}

}  // namespace btf::hints
