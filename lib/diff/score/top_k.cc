#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "btf/try.h"
#include "diff/score/figures.h"
#include "elements/parallel.h"
#include "kernels/stats/above_run.h"

namespace btf {
namespace {

template <typename Real>
struct Ranked {
  Real value;
  std::uint64_t index;

  bool operator<(const Ranked& other) const {
    const bool nan = std::isnan(value);
    if (nan != std::isnan(other.value)) return nan;
    if (!nan && value != other.value) return value > other.value;
    return index < other.index;
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

// The k largest of one side's row.
template <typename Real>
class Largest {
 public:
  explicit Largest(std::uint64_t k) : k_(k) { heap_.reserve(k); }

  // `count` values, or one that is there so many times, the first of which has this index.
  void add(const Real* values, std::uint64_t count, bool alike, std::uint64_t index) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!alike && heap_.size() == k_) {
        // What comes later and is no larger does not get in.
        i += first_above(values + i, count - i, heap_.front().value);
        if (i == count) return;
      }
      add(values[alike ? 0 : i], index + i);
    }
  }

  void add(Real value, std::uint64_t index) {
    const Ranked<Real> ranked{value, index};
    if (heap_.size() == k_) {
      if (!(ranked < heap_.front())) return;
      std::ranges::pop_heap(heap_, std::less{});
      heap_.pop_back();
    }
    heap_.push_back(ranked);
    std::ranges::push_heap(heap_, std::less{});
  }

  void sort() { std::ranges::sort(heap_, std::less{}); }
  bool same_order(const Largest& other) const {
    return std::ranges::equal(heap_, other.heap_, {}, &Ranked<Real>::index, &Ranked<Real>::index);
  }
  void clear() { heap_.clear(); }

 private:
  std::uint64_t k_;
  std::vector<Ranked<Real>> heap_;  // the last of them in front
};

std::uint64_t row_length(const Dims& dims) { return dims.empty() ? 1 : dims.back(); }

template <typename Real>
class RowComparer {
 public:
  RowComparer(const Dims& dims, std::uint64_t k)
      : dims_(dims),
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
      actual_.add(run.actual + from, taken, run.alike, index);
      golden_.add(run.golden + from, taken, run.alike, index);
      at += part;
      if (index + part == length_) end_row((run.first + at - 1) / length_);
    }
  }

  // Of other rows.
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
    const bool same = actual_.same_order(golden_);
    actual_.clear();
    golden_.clear();
    if (same) return;
    ++result_.disagreeing;
    first_ = std::min(first_, row);
  }

  const Dims& dims_;
  std::uint64_t length_;
  TopK result_;
  std::uint64_t first_ = UINT64_MAX;  // row that disagrees
  Largest<Real> actual_;
  Largest<Real> golden_;
};

template <typename Real>
Result<TopK> compare_rows(const PairRows& pairs, const Dims& dims, std::uint64_t k) {
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<RowComparer<Real>> rows(workers, RowComparer<Real>(dims, k));
  BTF_TRY(pairs.walk<Real>(
      [&](unsigned worker, std::uint64_t, const PairRun<Real>& run) { rows[worker].take(run); }));
  for (unsigned worker = 1; worker < workers; ++worker) rows[0].add(rows[worker]);
  return rows[0].result();
}

std::uint64_t bytes_each(const PairRows& pairs) {
  return pairs.use_double() ? 2 * sizeof(Ranked<double>) : 2 * sizeof(Ranked<long double>);
}

}  // namespace

Status check_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                   const Execution& execution) {
  if (k == 0) return fail(ErrorCode::invalid_argument, "the top 0 of a row are no elements");
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
                           const Execution& execution) {
  // Every worker has lists of its own.
  Execution within = execution;
  const std::uint64_t kept = std::max<std::uint64_t>(1, std::min(k, row_length(golden.dims())));
  const std::uint64_t most =
      execution.memory / (kept * bytes_each(PairRows(actual, golden, execution)));
  within.jobs = static_cast<unsigned>(
      std::clamp<std::uint64_t>(most, 1, worker_count(execution, UINT64_MAX, UINT64_MAX)));
  const PairRows pairs(actual, golden, within, PairOrder::rows);
  if (pairs.use_float()) return compare_rows<float>(pairs, golden.dims(), k);
  return pairs.use_double() ? compare_rows<double>(pairs, golden.dims(), k)
                            : compare_rows<long double>(pairs, golden.dims(), k);
}

}  // namespace btf
