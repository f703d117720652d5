#include <algorithm>
#include <cmath>
#include <span>
#include <type_traits>
#include <vector>

#include "btf/try.h"
#include "diff/score/figures.h"
#include "elements/parallel.h"
#include "kernels/stats/above_run.h"

namespace btf {
namespace {

// Golden's numbers, in the order of their size; NaN before all numbers.
template <typename Real>
struct Sized {
  Real value;

  bool operator<(const Sized& other) const {
    const bool nan = std::isnan(value);
    if (nan != std::isnan(other.value)) return nan;
    return !nan && value > other.value;
  }
};

// An element of actual's, with golden's number there.
template <typename Real>
struct Ranked {
  Real value;
  Real golden;
  std::uint64_t index;

  bool operator<(const Ranked& other) const {
    const Sized<Real> own{value};
    const Sized<Real> others{other.value};
    return own < others || (!(others < own) && index < other.index);
  }
};

// The first that is not known to be at most `limit`; `count` if there is none.
template <typename Real>
std::uint64_t first_above(const Real* values, std::uint64_t count, Real limit) {
  if constexpr (std::is_same_v<Real, long double>)
    return static_cast<std::uint64_t>(
        std::find_if_not(values, values + count, [&](Real value) { return value <= limit; }) -
        values);
  else
    return above_run(values, count, limit);
}

// The k largest of one side's row. One is a Ranked or a Sized.
template <typename Real, typename One>
class Largest {
 public:
  explicit Largest(std::uint64_t k) : k_(k) { heap_.reserve(k); }

  // `count` values, or one that is there so many times, the first of which is made(0).
  template <typename Make>
  void add(const Real* values, std::uint64_t count, bool alike, Make&& made) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!alike && heap_.size() == k_) {
        // A later value must be larger to get in.
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
  std::vector<One> heap_;  // the last of them in front
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
      // Whole rows of what neither side stores agree.
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
        return Ranked<Real>{run.actual[place], run.golden[place], index + i};
      };
      const auto single = [&](std::uint64_t i) {
        return Sized<Real>{run.golden[run.alike ? 0 : at + i]};
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
    const bool same = std::ranges::equal(
        actual_.list(), golden_.list(), [&](const Ranked<Real>& a, const Sized<Real>& g) {
          return as_large(a.golden, g.value, row * length_ + a.index);
        });
    actual_.clear();
    golden_.clear();
    if (same) return;
    ++result_.disagreeing;
    first_ = std::min(first_, row);
  }

  // Two numbers of golden, which may be one.
  bool as_large(Real other, Real golden, std::uint64_t number) const {
    if (std::isnan(other) && std::isnan(golden)) return true;
    using Judged = std::conditional_t<std::is_same_v<Real, float>, double, Real>;
    return accepts<Judged>(other, golden, judge_, number);
  }

  const Dims& dims_;
  const Judge& judge_;
  std::uint64_t length_;
  TopK result_;
  std::uint64_t first_ = UINT64_MAX;  // row that disagrees
  Largest<Real, Ranked<Real>> actual_;
  Largest<Real, Sized<Real>> golden_;
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
  return pairs.use_double() ? sizeof(Ranked<double>) + sizeof(Sized<double>)
                            : sizeof(Ranked<long double>) + sizeof(Sized<long double>);
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

}  // namespace btf
