#include "diff/score/figures.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "btf/try.h"
#include "elements/cast.h"
#include "kernels/stats/stats.h"

namespace btf {
namespace {

// An element of golden, ordered by value; NaN before all numbers.
template <typename Real>
struct OrderedValue {
  Real value;

  bool operator<(const OrderedValue& other) const {
    const bool nan = std::isnan(value);
    if (nan != std::isnan(other.value)) return nan;
    return !nan && value > other.value;
  }
};

// An element of actual, with golden's number at its place.
template <typename Real>
struct RankedValue {
  Real value;
  Real golden;
  std::uint64_t index;

  bool operator<(const RankedValue& other) const {
    const OrderedValue<Real> own{value};
    const OrderedValue<Real> others{other.value};
    return own < others || (!(others < own) && index < other.index);
  }
};

// The index of the first value that is not known to be at most `limit`; `count` if there is none.
template <typename Real>
std::uint64_t first_above(const Real* values, std::uint64_t count, Real limit) {
  if constexpr (std::is_same_v<Real, long double>)
    return static_cast<std::uint64_t>(
        std::find_if_not(values, values + count, [&](Real value) { return value <= limit; }) -
        values);
  else
    return above_run(values, count, limit);
}

// The k largest elements of one side's row. One is the type of an element.
template <typename Real, typename One>
class Largest {
 public:
  explicit Largest(std::uint64_t k) : k_(k) { heap_.reserve(k); }

  // Adds `count` values, or one value `count` times if `alike`; made(i) makes the element.
  template <typename Make>
  void add(const Real* values, std::uint64_t count, bool alike, Make&& made) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!alike && heap_.size() == k_) {
        // A later value must be larger to be kept.
        i += first_above(values + i, count - i, heap_.front().value);
        if (i == count) return;
      }
      add(made(i));
    }
  }

  void sort() { std::ranges::sort(heap_, std::less{}); }
  std::span<const One> list() const { return heap_; }
  void clear() { heap_.clear(); }

 private:
  void add(const One& ranked) {
    if (heap_.size() == k_) {
      if (!(ranked < heap_.front())) return;
      std::ranges::pop_heap(heap_, std::less{});
      heap_.pop_back();
    }
    heap_.push_back(ranked);
    std::ranges::push_heap(heap_, std::less{});
  }

  std::uint64_t k_;
  std::vector<One> heap_;  // a heap with the last of them in front
};

std::uint64_t row_length(const Dims& dims) { return dims.empty() ? 1 : dims.back(); }

template <typename Real>
class RowComparer {
 public:
  RowComparer(const Dims& dims, std::uint64_t k, const Judge& judge)
      : dims_(dims),
        judge_(judge),
        length_(row_length(dims)),
        result_{.k = std::min(k, length_)},
        actual_(result_.k),
        golden_(result_.k) {}

  void take(const PairRun<Real>& run) {
    for (std::uint64_t at = 0; at < run.count;) {
      const std::uint64_t index = (run.first + at) % length_;
      // Whole rows that neither side stores agree.
      if (run.alike && index == 0 && run.count - at >= length_) {
        const std::uint64_t rows = (run.count - at) / length_;
        result_.rows += rows;
        at += rows * length_;
        continue;
      }
      const std::uint64_t part = std::min(run.count - at, length_ - index);
      const std::uint64_t taken = run.alike ? std::min(part, result_.k) : part;
      const std::uint64_t from = run.alike ? 0 : at;
      const auto pair = [&](std::uint64_t i) {
        const std::uint64_t place = run.alike ? 0 : at + i;
        return RankedValue<Real>{run.actual[place], run.golden[place], index + i};
      };
      const auto single = [&](std::uint64_t i) {
        return OrderedValue<Real>{run.golden[run.alike ? 0 : at + i]};
      };
      actual_.add(run.actual + from, taken, run.alike, pair);
      golden_.add(run.golden + from, taken, run.alike, single);
      at += part;
      if (index + part == length_) end_row((run.first + at - 1) / length_);
    }
  }

  // `other` has other rows.
  void add(const RowComparer& other) {
    result_.rows += other.result_.rows;
    result_.disagreeing += other.result_.disagreeing;
    if (other.first_ < first_) first_ = other.first_;
  }

  TopK result() const {
    TopK result = result_;
    if (result.disagreeing > 0)
      result.first = index_of(Dims(dims_.begin(), dims_.end() - (dims_.empty() ? 0 : 1)), first_);
    return result;
  }

 private:
  void end_row(std::uint64_t row) {
    ++result_.rows;
    actual_.sort();
    golden_.sort();
    const bool same =
        std::ranges::equal(actual_.list(), golden_.list(),
                           [&](const RankedValue<Real>& a, const OrderedValue<Real>& g) {
                             return equally_large(a.golden, g.value, row * length_ + a.index);
                           });
    actual_.clear();
    golden_.clear();
    if (same) return;
    ++result_.disagreeing;
    first_ = std::min(first_, row);
  }

  // Both are numbers of golden, possibly the same one.
  bool equally_large(Real other, Real golden, std::uint64_t number) const {
    if (std::isnan(other) && std::isnan(golden)) return true;
    using Judged = std::conditional_t<std::is_same_v<Real, float>, double, Real>;
    return accepts<Judged>(other, golden, judge_, number);
  }

  const Dims& dims_;
  const Judge& judge_;
  std::uint64_t length_;
  TopK result_;
  std::uint64_t first_ = UINT64_MAX;  // first row that disagrees
  Largest<Real, RankedValue<Real>> actual_;
  Largest<Real, OrderedValue<Real>> golden_;
};

template <typename Real>
Result<TopK> compare_rows(const PairRows& pairs, const Dims& dims, std::uint64_t k,
                          const Judge& judge) {
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<RowComparer<Real>> rows(workers, RowComparer<Real>(dims, k, judge));
  BTF_TRY(pairs.walk<Real>(
      [&](unsigned worker, std::uint64_t, const PairRun<Real>& run) { rows[worker].take(run); }));
  for (unsigned worker = 1; worker < workers; ++worker) rows[0].add(rows[worker]);
  return rows[0].result();
}

std::uint64_t bytes_each(const PairRows& pairs) {
  return pairs.use_double() ? sizeof(RankedValue<double>) + sizeof(OrderedValue<double>)
                            : sizeof(RankedValue<long double>) + sizeof(OrderedValue<long double>);
}

}  // namespace

Status check_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                   const Execution& execution) {
  if (k == 0) return fail(ErrorCode::invalid_argument, "the top 0 of a row is empty");
  const std::uint64_t kept = std::min(k, row_length(golden.dims()));
  const std::uint64_t each = bytes_each(PairRows(actual, golden, execution));
  const std::uint64_t most = execution.memory / each;
  if (kept <= most) return {};
  return fail(ErrorCode::refused,
              "the top " + std::to_string(kept) + " of a row need " + std::to_string(each) +
                  " bytes of memory each, and buffers may take " +
                  std::to_string(execution.memory) + ": at most " + std::to_string(most));
}

Result<TopK> compare_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                           const Judge& judge, const Execution& execution) {
  // Every worker has lists of its own.
  Execution within = execution;
  const std::uint64_t kept = std::max<std::uint64_t>(1, std::min(k, row_length(golden.dims())));
  const std::uint64_t most =
      execution.memory / (kept * bytes_each(PairRows(actual, golden, execution)));
  within.jobs = static_cast<unsigned>(
      std::clamp<std::uint64_t>(most, 1, worker_count(execution, UINT64_MAX, UINT64_MAX)));
  const PairRows pairs(actual, golden, within, PairOrder::rows);
  if (pairs.use_float()) return compare_rows<float>(pairs, golden.dims(), k, judge);
  return pairs.use_double() ? compare_rows<double>(pairs, golden.dims(), k, judge)
                            : compare_rows<long double>(pairs, golden.dims(), k, judge);
}

namespace {

bool is_exact_enough(const RunSums& sums, double largest_error) {
  return has_exact_squares(sums.actual2) && has_exact_squares(sums.golden2) &&
         std::isfinite(sums.product) && (has_exact_squares(sums.error2) || largest_error == 0);
}

double decibels(long double ratio) { return static_cast<double>(10 * std::log10(ratio)); }

}  // namespace

// Neumaier's algorithm: keeps the lost part of the smaller operand.
void FigureCollector::CompensatedSum::add(long double x) {
  const long double next = sum + x;
  lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
  sum = next;
}

void FigureCollector::CompensatedSum::add(const CompensatedSum& other) {
  add(other.sum);
  add(other.lost);
}

void FigureCollector::Sums::add(const Sums& other) {
  pairs += other.pairs;
  largest = std::max(largest, other.largest);
  add_sums(other, [](CompensatedSum& sum, const CompensatedSum& more) { sum.add(more); });
}

// From errors, which have more exact digits than sums of actual.
std::optional<BestFit> FigureCollector::Sums::fit() const {
  if (pairs == 0) return std::nullopt;
  // Sums of squares lose a smaller spread.
  constexpr long double kConstant = 1e-12L;
  const auto n = static_cast<long double>(pairs);
  const long double mean_error = error.wide() / n;
  const long double mean_golden = golden.wide() / n;
  const long double spread = golden2.wide() - golden.wide() * mean_golden;
  if (spread <= kConstant * golden2.wide()) return std::nullopt;
  const long double along = product.wide() - golden2.wide() - error.wide() * mean_golden;
  const long double slope = along / spread;
  const long double left = error2.wide() - error.wide() * mean_error - slope * along;
  return BestFit{.gain = static_cast<double>(1 + slope),
                 .offset = static_cast<double>(mean_error - slope * mean_golden),
                 .residual = static_cast<double>(std::sqrt(std::max(0.0L, left) / n))};
}

FigureCollector::FigureCollector(DType actual, DType golden)
    : wide_(info(actual).bits == 64 || info(golden).bits == 64) {}

void FigureCollector::prepare(unsigned workers) {
  open_.resize(workers);
  gathered_.resize(workers);
}

// Sums up the run by itself before adding it to the slab.
template <typename Wide, typename Real>
void FigureCollector::add_run(Sums& sums, const JudgedRun<Real>& run) {
  constexpr std::size_t kLanes = 8;
  const PairRun<Real>& pairs = run.pairs;
  using Lanes = std::array<Wide, kLanes>;
  FigureSums<Lanes> parts;
  std::uint64_t finite = 0;
  Wide largest = 0;
  for (std::uint64_t i = 0; i < pairs.values(); ++i) {
    if (std::isnan(run.error[i])) continue;
    const auto a = static_cast<Wide>(pairs.actual[i]);
    const auto g = static_cast<Wide>(pairs.golden[i]);
    const std::size_t lane = i % kLanes;
    parts.add_pair(a, g, [lane](Lanes& lanes, Wide term) { lanes[lane] += term; });
    largest = std::max(largest, std::abs(g));
    ++finite;
  }
  const std::uint64_t weight = pairs.alike ? pairs.count : 1;
  sums.add_sums(parts, [weight](CompensatedSum& sum, const Lanes& lanes) {
    // Most lanes of a short run are 0, and adding is slow.
    for (const Wide lane : lanes)
      if (lane != 0) sum.add(static_cast<long double>(lane) * static_cast<long double>(weight));
  });
  sums.pairs += finite * weight;
  sums.largest = std::max(sums.largest, static_cast<double>(largest));
}

// In order, so that nothing depends on where runs begin.
template <typename Real>
void FigureCollector::add_each(Sums& sums, const JudgedRun<Real>& run) {
  for (std::uint64_t i = 0; i < run.pairs.count; ++i) {
    if (std::isnan(run.error[i])) continue;
    const auto a = static_cast<long double>(run.pairs.actual[i]);
    const auto g = static_cast<long double>(run.pairs.golden[i]);
    sums.add_pair(a, g, [](CompensatedSum& sum, long double term) { sum.add(term); });
    sums.largest = std::max(sums.largest, static_cast<double>(std::abs(g)));
    ++sums.pairs;
  }
}

void FigureCollector::Sums::add(const RunSums& part, std::uint64_t count) {
  pairs += count;
  largest = std::max(largest, part.largest);
  add_sums(part, [](CompensatedSum& sum, double more) { sum.add(static_cast<long double>(more)); });
}

void FigureCollector::add_block(Sums& sums, GatheredPairs& block) {
  const std::size_t count = block.actual.size();
  if (count == 0) return;
  sums.add(compare_runs().sums(block.actual.data(), block.golden.data(), count), count);
  block.actual.clear();
  block.golden.clear();
}

void FigureCollector::gather(unsigned worker, Sums& sums, const JudgedRun<double>& run) {
  GatheredPairs& block = gathered_[worker];
  for (std::uint64_t i = 0; i < run.pairs.count; ++i) {
    if (std::isnan(run.error[i])) continue;
    block.actual.push_back(run.pairs.actual[i]);
    block.golden.push_back(run.pairs.golden[i]);
    if (block.actual.size() == GatheredPairs::kBlock) add_block(sums, block);
  }
}

void FigureCollector::end_slab(unsigned worker) {
  std::optional<Sums>& open = open_[worker];
  if (!open) return;
  add_block(*open, gathered_[worker]);
  fold(*std::exchange(open, std::nullopt));
}

FigureCollector::Sums& FigureCollector::sums_for(unsigned worker, std::uint64_t slab) {
  std::optional<Sums>& open = open_[worker];
  if (open && open->slab != slab) end_slab(worker);
  if (!open) open.emplace().slab = slab;
  return *open;
}

void FigureCollector::fold(const Sums& sums) {
  const std::scoped_lock lock(mutex_);
  early_.emplace(sums.slab, sums);
  for (auto first = early_.begin(); first != early_.end() && first->first == next_; ++next_) {
    total_.add(first->second);
    first = early_.erase(first);
  }
}

void FigureCollector::take(unsigned worker, std::uint64_t slab, const JudgedRun<double>& run) {
  Sums& sums = sums_for(worker, slab);
  if (run.pairs.numbers != nullptr) return wide_ ? add_each(sums, run) : gather(worker, sums, run);
  if (run.pairs.alike || run.summary.special > 0)
    return wide_ ? add_run<long double>(sums, run) : add_run<double>(sums, run);
  const RunSums part = compare_runs().sums(run.pairs.actual, run.pairs.golden, run.pairs.count);
  if (wide_ && !is_exact_enough(part, run.summary.largest_error))
    return add_run<long double>(sums, run);
  sums.add(part, run.pairs.count);
}

void FigureCollector::take(unsigned worker, std::uint64_t slab, const JudgedRun<long double>& run) {
  Sums& sums = sums_for(worker, slab);
  return run.pairs.numbers != nullptr ? add_each(sums, run) : add_run<long double>(sums, run);
}

Figures FigureCollector::of_equal(std::uint64_t pairs) {
  Figures figures{.pairs = pairs};
  figures.psnr = figures.snr = std::numeric_limits<double>::infinity();
  if (pairs > 0) figures.fit.emplace();
  return figures;
}

Figures FigureCollector::finish() {
  for (unsigned worker = 0; worker < open_.size(); ++worker) end_slab(worker);
  const long double error2 = total_.error2.wide();
  const long double golden2 = total_.golden2.wide();
  if (error2 == 0) return of_equal(total_.pairs);
  Figures figures{.pairs = total_.pairs};
  const auto n = static_cast<long double>(total_.pairs);
  const long double mean = error2 / n;
  const long double peak = total_.largest;
  figures.rmse = static_cast<double>(std::sqrt(mean));
  const long double norms = std::sqrt(total_.actual2.wide()) * std::sqrt(golden2);
  figures.cosine =
      norms == 0 ? 0 : static_cast<double>(std::clamp(total_.product.wide() / norms, -1.0L, 1.0L));
  figures.psnr = decibels(peak * peak / mean);
  figures.snr = decibels(golden2 / error2);
  figures.mae = static_cast<double>(total_.abs_error.wide() / n);
  figures.bias = static_cast<double>(total_.error.wide() / n);
  figures.fit = total_.fit();
  return figures;
}

namespace {

// Counts errors by 16 of their bits, among those that begin with given bits.
class DigitCollector final : public PairCollector {
 public:
  DigitCollector(std::vector<std::uint64_t> prefixes, unsigned shift)
      : prefixes_(std::move(prefixes)), shift_(shift) {}

  void prepare(unsigned workers) override {
    counts_.assign(workers, std::vector<std::uint64_t>(prefixes_.size() << 16, 0));
  }
  void take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) override {
    count(counts_[worker], run);
  }
  void take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) override {
    count(counts_[worker], run);
  }

  // Among the errors that begin with prefixes[which]: the digit of the one with this rank. `rank`
  // becomes its rank among those with the same digit.
  std::uint64_t digit_at(std::size_t which, std::uint64_t& rank) const {
    for (std::uint64_t digit = 0;; ++digit) {
      std::uint64_t count = 0;
      for (const auto& counts : counts_) count += counts[which << 16 | digit];
      // The last digit, even if a file has changed since the errors were counted.
      if (rank < count || digit == 0xffff) return digit;
      rank -= count;
    }
  }

 private:
  template <typename Real>
  void count(std::vector<std::uint64_t>& counts, const JudgedRun<Real>& run) const {
    const std::uint64_t weight = run.pairs.alike ? run.pairs.count : 1;
    for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
      if (std::isnan(run.error[i])) continue;
      const auto bits = std::bit_cast<std::uint64_t>(run.error[i]);
      const std::uint64_t prefix = shift_ == 48 ? 0 : bits >> (shift_ + 16);
      for (std::size_t which = 0; which < prefixes_.size(); ++which)
        if (prefixes_[which] == prefix) counts[which << 16 | (bits >> shift_ & 0xffff)] += weight;
    }
  }

  std::vector<std::uint64_t> prefixes_;
  unsigned shift_;
  std::vector<std::vector<std::uint64_t>> counts_;
};

struct OrderStatistic {
  std::uint64_t rank = 0;
  std::uint64_t bits = 0;  // found so far

  double value() const { return std::bit_cast<double>(bits); }
};

// Non-negative doubles sort like their bits, so four walks find 16 bits each.
Status find(const PairRows& pairs, std::span<OrderStatistic> wanted) {
  for (const unsigned shift : {48U, 32U, 16U, 0U}) {
    std::vector<std::uint64_t> prefixes;
    for (const OrderStatistic& one : wanted) prefixes.push_back(one.bits);
    std::ranges::sort(prefixes);
    prefixes.erase(std::ranges::unique(prefixes).begin(), prefixes.end());
    DigitCollector digits(prefixes, shift);
    PairCollector* const collectors[] = {&digits};
    BTF_TRY(collect(pairs, Judge{}, collectors));
    for (OrderStatistic& one : wanted) {
      const auto which =
          static_cast<std::size_t>(std::ranges::find(prefixes, one.bits) - prefixes.begin());
      one.bits = one.bits << 16 | digits.digit_at(which, one.rank);
    }
  }
  return {};
}

// Rounded as by numpy.quantile; for Inf the true value, where NumPy gives NaN.
double between(double a, double b, double part) {
  if (part == 0 || a == b) return a;
  if (std::isinf(b)) return b;
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

}  // namespace

Result<std::vector<QuantileValue>> error_quantiles(const PairRows& pairs, std::uint64_t finite,
                                                   std::span<const QuantileGate> gates) {
  std::vector<QuantileValue> values;
  for (const QuantileGate& gate : gates)
    if (!(gate.q >= 0 && gate.q <= 1))
      return fail(ErrorCode::invalid_argument, "a quantile is a number from 0 to 1");
  if (finite == 0 || gates.empty()) return values;
  std::vector<OrderStatistic> wanted;
  for (const QuantileGate& gate : gates) {
    const auto low = static_cast<std::uint64_t>(gate.q * static_cast<double>(finite - 1));
    wanted.push_back({.rank = std::min(low, finite - 1)});
    wanted.push_back({.rank = std::min(low + 1, finite - 1)});
  }
  BTF_TRY(find(pairs, wanted));
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const double position = gates[i].q * static_cast<double>(finite - 1);
    const double part = position - std::floor(position);
    values.push_back({gates[i].q, between(wanted[2 * i].value(), wanted[2 * i + 1].value(), part)});
  }
  return values;
}

}  // namespace btf
