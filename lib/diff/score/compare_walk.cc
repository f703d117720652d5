// The score of two tensors.
#include "diff/score/compare_walk.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "btf/try.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

bool both_fit(const DiffSide& actual, const DiffSide& golden, bool (*fits)(DType)) {
  return fits(actual.dtype()) && fits(golden.dtype());
}

SlabSide slab_side(const DiffSide& side, const StridedLayout& storage) {
  return {&storage, info(side.dtype()).buffer_bytes()};
}

template <typename Real>
class DenseScorer {
 public:
  DenseScorer(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
              const Execution& execution)
      : actual_(actual),
        golden_(golden),
        judge_(judge),
        execution_(execution),
        actual_bytes_(info(actual.dtype()).buffer_bytes()),
        golden_bytes_(info(golden.dtype()).buffer_bytes()) {}

  Result<CompareScore> run() {
    // COO has no layout of its own and is read from front to back in the other side's.
    const bool in_order = actual_.storage() == nullptr || golden_.storage() == nullptr;
    StridedLayout dense_layout;
    if (in_order) {
      BTF_ASSIGN(dense_layout, dense_layout_for_coo(actual_, golden_));
    }
    const StridedLayout& actual = actual_.storage() != nullptr ? *actual_.storage() : dense_layout;
    const StridedLayout& golden = golden_.storage() != nullptr ? *golden_.storage() : dense_layout;
    const StridedLayout& order = in_order ? dense_layout : golden;
    const SlabSide other = slab_side(golden_, golden);
    // Sides of equal layout are compared as they are read.
    const bool alike = actual.strides == golden.strides && actual.split == golden.split;
    const std::uint64_t bytes = order.storage_elements * std::max(actual_bytes_, golden_bytes_);
    // Sides of equal layout are read straight: a slab of each, together kLinearSlab.
    const std::uint64_t slab_bytes = alike ? kLinearSlab / 2 : 1U << 20;
    const unsigned most = in_order ? 1 : worker_count(execution_, UINT64_MAX, bytes);
    const SlabGrid grid =
        choose_slabs(slab_side(actual_, actual), slab_side(golden_, order),
                     {.bytes = std::min(slab_bytes, max_slab_bytes(execution_, most)),
                      .target_contiguous = in_order,
                      .second_source = &other});
    std::vector<Worker> workers(in_order ? 1 : worker_count(execution_, grid.count(), bytes));
    for (Worker& worker : workers) {
      BTF_ASSIGN(worker.actual, actual_.reader(actual));
      BTF_ASSIGN(worker.golden, golden_.reader(golden));
    }
    const auto count = static_cast<unsigned>(workers.size());
    BTF_TRY(for_each_slab(execution_, count, grid.count(),
                          [&](unsigned worker, std::uint64_t slab) -> Status {
                            BTF_TRY(score_box(grid.box(slab), workers[worker]));
                            if (worker == 0 && execution_.progress)
                              execution_.progress(bytes / grid.count() * count);
                            return {};
                          }));
    CompareScore total;
    for (const Worker& worker : workers) total.add(worker.score);
    return total;
  }

 private:
  template <typename As>
  struct Values {
    Values(DType actual_dtype, DType golden_dtype) : actual(actual_dtype), golden(golden_dtype) {}

    RealValues<As> actual;
    RealValues<As> golden;
  };

  struct Worker {
    std::unique_ptr<SlabReader> actual;
    std::unique_ptr<SlabReader> golden;
    CompareScore score;
    Buffer actual_codes;
    Buffer golden_codes;
    // Not needed for equal bits.
    std::unique_ptr<Values<Real>> values;
    std::unique_ptr<Values<double>> doubles;  // for 64-bit integers
  };

  Status score_box(const Box& box, Worker& worker) const {
    BTF_ASSIGN(SourceSlab actual, worker.actual->read(box));
    BTF_ASSIGN(SourceSlab golden, worker.golden->read(box));
    const Dims counts = box.counts();
    // Contiguous elements compare many times faster than strided ones.
    if (actual.mapping != golden.mapping) {
      actual = in_row_major(actual, counts, actual_.dtype(), worker.actual_codes);
      golden = in_row_major(golden, counts, golden_.dtype(), worker.golden_codes);
    }
    for (const Region& region : make_plan(counts, actual.mapping, golden.mapping)) {
      const Tiling tiling = tile_region(region);
      for_each_tile(region, tiling, [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = 0; i < tiling.outer.count; ++i)
          score_run(actual.data, from + i * tiling.outer.source_stride, golden.data,
                    to + i * tiling.outer.target_stride, tiling.inner, worker);
      });
    }
    return {};
  }

  void score_run(const std::byte* actual, std::uint64_t from, const std::byte* golden,
                 std::uint64_t to, const PlanAxis& axis, Worker& worker) const {
    for (std::uint64_t at = 0; at < axis.count; at += kPairRun) {
      const std::uint64_t n = std::min(kPairRun, axis.count - at);
      const std::byte* left = actual + (from + at * axis.source_stride) * actual_bytes_;
      const std::byte* right = golden + (to + at * axis.target_stride) * golden_bytes_;
      if (same_bits(left, right, axis, n)) {
        worker.score.compared += n;
        continue;
      }
      const auto score_as = [&]<typename As>(std::unique_ptr<Values<As>>& values, auto may) {
        if (!values) values = std::make_unique<Values<As>>(actual_.dtype(), golden_.dtype());
        const As* const a = values->actual.of(left, axis.source_stride, n);
        const As* const g = values->golden.of(right, axis.target_stride, n);
        const bool does = may(a, g);
        if (does) compare_run(a, g, n, judge_, worker.score);
        return does;
      };
      if constexpr (std::is_same_v<Real, long double>)
        if (score_as(worker.doubles, [&](const double* a, const double* g) {
              return all_compare_as_double(a, n) && all_compare_as_double(g, n);
            }))
          continue;
      score_as(worker.values, [](const Real*, const Real*) { return true; });
    }
  }

  // Equal bits of finite numbers, the common case, need no arithmetic.
  bool same_bits(const std::byte* actual, const std::byte* golden, const PlanAxis& axis,
                 std::uint64_t n) const {
    return actual_.dtype() == golden_.dtype() && axis.source_stride == 1 &&
           axis.target_stride == 1 && same_finite_bits(golden_.dtype(), actual, golden, n);
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Judge& judge_;
  const Execution& execution_;
  std::uint64_t actual_bytes_;
  std::uint64_t golden_bytes_;
};

template <typename Real>
Result<CompareScore> score_sparse(const DiffSide& actual, const DiffSide& golden,
                                  const Judge& judge, const Execution& execution) {
  struct Worker {
    Worker(DType a, DType g) : actual(a), golden(g) {}

    RealValues<Real> actual;
    RealValues<Real> golden;
    CompareScore score;
  };
  BTF_ASSIGN(const SparseSlabs slabs, SparseSlabs::open(actual, golden, execution));
  std::vector<Worker> workers(slabs.workers(), Worker(actual.dtype(), golden.dtype()));
  const auto absent_actual = absent_value<Real>(actual.dtype());
  const auto absent_golden = absent_value<Real>(golden.dtype());
  const bool same_dtype = actual.dtype() == golden.dtype();
  BTF_TRY(slabs.walk([&](unsigned number, std::uint64_t, const SparseRun& run) {
    Worker& worker = workers[number];
    if (run.absent() > 0)
      compare_many(absent_actual, absent_golden, run.absent(), judge, worker.score);
    if (run.count == 0) return;
    if (same_dtype &&
        same_finite_bits(golden.dtype(), run.actual_codes, run.golden_codes, run.count)) {
      worker.score.compared += run.count;
      return;
    }
    compare_run(worker.actual.of(run.actual_codes, 1, run.count),
                worker.golden.of(run.golden_codes, 1, run.count), run.count, judge, worker.score);
  }));
  CompareScore total;
  for (const Worker& worker : workers) total.add(worker.score);
  return total;
}

// For steps that differ by element: each pair is judged with the number of its element.
template <typename Real>
Result<CompareScore> score_by_number(const DiffSide& actual, const DiffSide& golden,
                                     const Judge& judge, const Execution& execution) {
  // The score itself refuses no finite pair; those are judged one by one below.
  Judge accept_all = judge;
  accept_all.half_step = false;
  accept_all.by_error = false;
  accept_all.ulp = UINT64_MAX;
  const PairRows pairs(actual, golden, execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<CompareScore> scores(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    CompareScore& score = scores[worker];
    if (run.alike) return compare_many(*run.actual, *run.golden, run.count, accept_all, score);
    compare_run(run.actual, run.golden, run.count, accept_all, score);
    for (std::uint64_t i = 0; i < run.count; ++i)
      if (std::isfinite(run.actual[i]) && std::isfinite(run.golden[i]) &&
          !accepts(run.actual[i], run.golden[i], judge, run.number(i)))
        ++score.mismatched;
  }));
  CompareScore total;
  for (const CompareScore& score : scores) total.add(score);
  return total;
}

// Uses the narrowest type that both sides fit.
Result<CompareScore> score_dense(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                                 const Execution& execution) {
  if (both_fit(actual, golden, fits_float))
    return DenseScorer<float>(actual, golden, judge, execution).run();
  if (both_fit(actual, golden, fits_double))
    return DenseScorer<double>(actual, golden, judge, execution).run();
  return DenseScorer<long double>(actual, golden, judge, execution).run();
}

}  // namespace

Judge judge_of(const Tolerance& effective, const DiffSide& actual, const DiffSide& golden) {
  Judge judge = judge_of(effective, actual.dtype(), golden.dtype());
  judge.actual = actual.grid();
  judge.golden = golden.grid();
  const std::optional<double> left = judge.actual.scale();
  const std::optional<double> right = judge.golden.scale();
  if ((left || right) && left != 0.0 && right != 0.0)
    judge.grid = StepGrid::integers(std::max(left.value_or(0), right.value_or(0)));
  return judge;
}

Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                                 const Execution& execution) {
  if (judge.half_step)
    return PairRows(actual, golden, execution).use_double()
               ? score_by_number<double>(actual, golden, judge, execution)
               : score_by_number<long double>(actual, golden, judge, execution);
  if (!both_sparse(actual, golden)) return score_dense(actual, golden, judge, execution);
  return both_fit(actual, golden, fits_double)
             ? score_sparse<double>(actual, golden, judge, execution)
             : score_sparse<long double>(actual, golden, judge, execution);
}

}  // namespace btf
