#include <algorithm>
#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/score/figures.h"

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

// The k largest of one side's row.
template <typename Real>
class Largest {
 public:
  explicit Largest(std::uint64_t k) : k_(k) { heap_.reserve(k); }

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
      for (std::uint64_t i = 0; i < (run.alike ? std::min(part, result_.k) : part); ++i) {
        actual_.add(run.actual[run.alike ? 0 : at + i], index + i);
        golden_.add(run.golden[run.alike ? 0 : at + i], index + i);
      }
      at += part;
      if (index + part == length_) end_row((run.first + at - 1) / length_);
    }
  }

  TopK result() const { return result_; }

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
    if (!result_.first)
      result_.first = index_of(Dims(dims_.begin(), dims_.end() - (dims_.empty() ? 0 : 1)), row);
  }

  const Dims& dims_;
  std::uint64_t length_;
  TopK result_;
  Largest<Real> actual_;
  Largest<Real> golden_;
};

template <typename Real>
Result<TopK> compare_rows(const PairRows& pairs, const Dims& dims, std::uint64_t k) {
  RowComparer<Real> rows(dims, k);
  BTF_TRY(
      pairs.walk<Real>([&](unsigned, std::uint64_t, const PairRun<Real>& run) { rows.take(run); }));
  return rows.result();
}

}  // namespace

Status check_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                   const Execution& execution) {
  if (k == 0) return fail(ErrorCode::invalid_argument, "the top 0 of a row are no elements");
  const std::uint64_t kept = std::min(k, row_length(golden.dims()));
  const std::uint64_t each = PairRows(actual, golden, execution).use_double()
                                 ? 2 * sizeof(Ranked<double>)
                                 : 2 * sizeof(Ranked<long double>);
  const std::uint64_t most = execution.memory / each;
  if (kept <= most) return {};
  return fail(ErrorCode::refused,
              "the top " + std::to_string(kept) + " of a row need " + std::to_string(each) +
                  " bytes of memory each, and buffers may take " +
                  std::to_string(execution.memory) + ": at most " + std::to_string(most));
}

Result<TopK> compare_top_k(const DiffSide& actual, const DiffSide& golden, std::uint64_t k,
                           const Execution& execution) {
  const PairRows pairs(actual, golden, execution, PairOrder::row_major);
  return pairs.use_double() ? compare_rows<double>(pairs, golden.dims(), k)
                            : compare_rows<long double>(pairs, golden.dims(), k);
}

}  // namespace btf
