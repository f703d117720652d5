#include "diff/pairs/rows.h"

#include <algorithm>
#include <array>
#include <vector>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/pairs/sparse.h"
#include "elements/parallel.h"
#include "elements/row_major.h"

namespace btf {
namespace {

struct DensePlan {
  StridedLayout spelt_out;  // what a COO side is read as; of two dense ones nothing
  SlabGrid grid;
  unsigned workers = 1;
};

const StridedLayout& storage_of(const DiffSide& side, const StridedLayout& spelt_out) {
  return side.storage() != nullptr ? *side.storage() : spelt_out;
}

// Sums are added up slab by slab, so that another cut would change their last digit: slabs are a
// function of the tensors alone, and where memory is short there are fewer workers instead.
constexpr std::uint64_t kPairSlab = 256U << 10;
// The most bytes of a slab of whole rows on either side.
constexpr std::uint64_t kMostOfRows = 4U << 20;

unsigned pair_workers(const Execution& execution, const SlabGrid& grid, std::uint64_t bytes,
                      std::uint64_t slab_bytes) {
  const std::uint64_t most = std::max<std::uint64_t>(1, execution.memory / (2 * slab_bytes));
  return static_cast<unsigned>(
      std::min<std::uint64_t>(most, worker_count(execution, grid.count(), bytes)));
}

class Planner {
 public:
  Planner(const DiffSide& actual, const DiffSide& golden, const Execution& execution)
      : actual_(actual), golden_(golden), execution_(execution) {}

  Result<DensePlan> plan(PairOrder order) const {
    if (order == PairOrder::row_major) return in_row_major();
    const bool rows = order == PairOrder::rows;
    const std::uint64_t row = rows && !golden_.dims().empty() ? golden_.dims().back() : 1;
    BTF_ASSIGN(DensePlan found, spelt_out() ? beside_storage(row) : in_boxes(row));
    if (!rows || slab_bytes(found.grid) <= kMostOfRows) return found;
    return in_row_major();
  }

 private:
  bool spelt_out() const { return actual_.storage() == nullptr || golden_.storage() == nullptr; }

  std::uint64_t element_bytes() const {
    return std::max(info(actual_.dtype()).buffer_bytes(), info(golden_.dtype()).buffer_bytes());
  }

  std::uint64_t slab_bytes(const SlabGrid& grid) const {
    if (grid.count() == 0) return 0;
    std::uint64_t elements = 1;
    for (const std::uint64_t count : grid.box(0).counts()) elements *= count;
    return elements * element_bytes();
  }

  // Elements in another order are read again for every slab, so these may be larger: nothing is
  // summed up by slabs that come in the order of the elements. Each side has a buffer as read and
  // one in order.
  std::uint64_t row_major_bytes(const StridedLayout& linear) const {
    const auto is_linear = [&](const DiffSide& side) {
      const StridedLayout* storage = side.storage();
      return storage == nullptr || (storage->strides == linear.strides && !storage->split);
    };
    if (is_linear(actual_) && is_linear(golden_)) return kPairSlab;
    return std::clamp(execution_.memory / 4, kPairSlab, 2 * kMostOfRows);
  }

  Result<DensePlan> in_row_major() const {
    BTF_ASSIGN(StridedLayout linear, resolve(Layout::linear, golden_.dims(), DType::uint8));
    const std::uint64_t bytes = row_major_bytes(linear);
    return in_order(std::move(linear), bytes, 1);
  }

  Result<DensePlan> beside_storage(std::uint64_t granule) const {
    BTF_ASSIGN(StridedLayout beside, spelt_out_as(actual_, golden_));
    return in_order(std::move(beside), kPairSlab, granule);
  }

  DensePlan in_order(StridedLayout target, std::uint64_t bytes, std::uint64_t granule) const {
    SlabGrid grid = choose(target, target,
                           {.bytes = bytes, .target_contiguous = true, .last_granule = granule});
    return {std::move(target), std::move(grid), 1};
  }

  DensePlan in_boxes(std::uint64_t granule) const {
    const StridedLayout& storage = *golden_.storage();
    SlabGrid grid = choose(storage, storage, {.bytes = kPairSlab, .last_granule = granule});
    const std::uint64_t bytes = storage.storage_elements * element_bytes();
    const unsigned workers =
        pair_workers(execution_, grid, bytes, std::max(kPairSlab, slab_bytes(grid)));
    return {{}, std::move(grid), workers};
  }

  SlabGrid choose(const StridedLayout& target, const StridedLayout& spelt_out,
                  SlabLimits limits) const {
    const std::uint64_t golden_bytes = info(golden_.dtype()).buffer_bytes();
    const SlabSide other{&storage_of(golden_, spelt_out), golden_bytes};
    limits.second_source = &other;
    return choose_slabs({&storage_of(actual_, spelt_out), info(actual_.dtype()).buffer_bytes()},
                        {&target, golden_bytes}, limits);
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Execution& execution_;
};

Result<DensePlan> plan_dense(const DiffSide& actual, const DiffSide& golden,
                             const Execution& execution, PairOrder order) {
  return Planner(actual, golden, execution).plan(order);
}

// One side's elements of a box, in row-major order.
class BoxSide {
 public:
  Status open(const DiffSide& side, const StridedLayout& storage) {
    side_ = &side;
    BTF_ASSIGN(reader_, side.reader(storage));
    return {};
  }

  Status load(const Box& box) {
    BTF_ASSIGN(const SourceSlab read, reader_->read(box));
    codes_ = in_row_major(read, box.counts(), side_->dtype(), buffer_).data;
    return {};
  }

  const std::byte* code(std::uint64_t i) const {
    return codes_ + i * info(side_->dtype()).buffer_bytes();
  }

 private:
  const DiffSide* side_ = nullptr;
  std::unique_ptr<SlabReader> reader_;
  const std::byte* codes_ = nullptr;
  Buffer buffer_;
};

// A box as runs of row-major numbers: run(first number, offset in the box, count).
template <typename Run>
void for_each_row(const Dims& dims, const Box& box, Run&& run) {
  const Dims counts = box.counts();
  // From dim `inner` on the box is whole, so these and the part of the dim before are one run.
  std::size_t inner = dims.size();
  while (inner > 0 && counts[inner - 1] == dims[inner - 1]) --inner;
  const std::size_t outer = inner > 0 ? inner - 1 : 0;
  std::uint64_t length = 1;
  for (std::size_t d = outer; d < dims.size(); ++d) length *= counts[d];
  if (length == 0) return;
  Dims index = box.lo;
  for (std::uint64_t offset = 0;; offset += length) {
    run(linear_key(dims, index), offset, length);
    std::size_t d = outer;
    for (; d > 0; --d) {
      if (++index[d - 1] < box.hi[d - 1]) break;
      index[d - 1] = box.lo[d - 1];
    }
    if (d == 0) return;
  }
}

template <typename Real>
struct Worker {
  Worker(DType actual_dtype, DType golden_dtype)
      : actual_values(actual_dtype), golden_values(golden_dtype) {}

  BoxSide actual;
  BoxSide golden;
  RealValues<Real> actual_values;
  RealValues<Real> golden_values;
};

// Makes pairs of what two COO tensors store, and of what they do not.
template <typename Real>
class SparseWorker {
 public:
  SparseWorker(DType actual, DType golden, SparsePairs sparse)
      : actual_(actual),
        golden_(golden),
        actual_bytes_(info(actual).buffer_bytes()),
        golden_bytes_(info(golden).buffer_bytes()),
        absent_actual_(absent_value<Real>(actual)),
        absent_golden_(absent_value<Real>(golden)),
        gathered_(sparse == SparsePairs::gathered && absent_actual_ == absent_golden_) {}

  template <typename Visit>
  void hand_on(const SparseRun& stored, Visit&& visit) {
    PairRun<Real> all{.first = stored.begin,
                      .count = stored.count,
                      .actual_codes = stored.actual_codes,
                      .golden_codes = stored.golden_codes};
    if (stored.count > 0) {
      all.actual = actual_.of(stored.actual_codes, 1, stored.count);
      all.golden = golden_.of(stored.golden_codes, 1, stored.count);
    }
    if (!gathered_) return in_order(stored, all, visit);
    if (stored.count > 0) {
      all.first = stored.numbers[0];
      all.numbers = stored.numbers;
      visit(all);
    }
    if (stored.absent() > 0) visit(absent(stored.begin, stored.absent()));
  }

 private:
  template <typename Visit>
  void in_order(const SparseRun& stored, const PairRun<Real>& all, Visit&& visit) {
    std::uint64_t next = stored.begin;
    for (std::uint64_t i = 0; i < stored.count;) {
      const std::uint64_t first = stored.numbers[i];
      if (first > next) visit(absent(next, first - next));
      std::uint64_t end = i + 1;
      while (end < stored.count && stored.numbers[end] == first + (end - i)) ++end;
      visit(PairRun<Real>{.first = first,
                          .count = end - i,
                          .actual = all.actual + i,
                          .golden = all.golden + i,
                          .actual_codes = all.actual_codes + i * actual_bytes_,
                          .golden_codes = all.golden_codes + i * golden_bytes_});
      next = first + (end - i);
      i = end;
    }
    if (next < stored.end) visit(absent(next, stored.end - next));
  }

  PairRun<Real> absent(std::uint64_t first, std::uint64_t count) const {
    return {.first = first,
            .count = count,
            .actual = &absent_actual_,
            .golden = &absent_golden_,
            .actual_codes = kZeros.data(),
            .golden_codes = kZeros.data(),
            .alike = true};
  }

  static constexpr std::array<std::byte, sizeof(std::uint64_t)> kZeros{};

  RealValues<Real> actual_;
  RealValues<Real> golden_;
  std::uint64_t actual_bytes_;
  std::uint64_t golden_bytes_;
  Real absent_actual_;
  Real absent_golden_;
  bool gathered_;
};

}  // namespace

bool PairRows::use_double() const {
  return fits_double(actual_.dtype()) && fits_double(golden_.dtype());
}

bool PairRows::use_float() const {
  return fits_float(actual_.dtype()) && fits_float(golden_.dtype()) &&
         !both_sparse(actual_, golden_);
}

Result<unsigned> PairRows::workers() const {
  if (both_sparse(actual_, golden_)) {
    BTF_ASSIGN(const SparseSlabs slabs,
               SparseSlabs::open(actual_, golden_, execution_, sparse_granule()));
    return order_ == PairOrder::row_major ? 1U : slabs.workers();
  }
  BTF_ASSIGN(const DensePlan plan, plan_dense(actual_, golden_, execution_, order_));
  return plan.workers;
}

std::uint64_t PairRows::sparse_granule() const {
  const Dims& dims = golden_.dims();
  return order_ == PairOrder::rows && !dims.empty() ? std::max<std::uint64_t>(1, dims.back()) : 1;
}

template <typename Real>
Status PairRows::walk_sparse(const PairVisit<Real>& visit, SparsePairs sparse) const {
  Execution execution = execution_;
  if (order_ == PairOrder::row_major) execution.jobs = 1;
  BTF_ASSIGN(const SparseSlabs slabs,
             SparseSlabs::open(actual_, golden_, execution, sparse_granule()));
  std::vector<SparseWorker<Real>> workers(
      slabs.workers(), SparseWorker<Real>(actual_.dtype(), golden_.dtype(), sparse));
  return slabs.walk([&](unsigned number, std::uint64_t slab, const SparseRun& stored) {
    workers[number].hand_on(stored, [&](const PairRun<Real>& run) { visit(number, slab, run); });
  });
}

template <typename Real>
Status PairRows::walk_dense(const PairVisit<Real>& visit) const {
  BTF_ASSIGN(const DensePlan plan, plan_dense(actual_, golden_, execution_, order_));
  // Most tensors are small, and one worker is enough: its buffers need no memory of the heap.
  Worker<Real> first(actual_.dtype(), golden_.dtype());
  std::vector<Worker<Real>> others;
  others.reserve(plan.workers - 1);
  for (unsigned i = 1; i < plan.workers; ++i) others.emplace_back(actual_.dtype(), golden_.dtype());
  const auto worker_of = [&](unsigned number) -> Worker<Real>& {
    return number == 0 ? first : others[number - 1];
  };
  for (unsigned i = 0; i < plan.workers; ++i) {
    Worker<Real>& worker = worker_of(i);
    BTF_TRY(worker.actual.open(actual_, storage_of(actual_, plan.spelt_out)));
    BTF_TRY(worker.golden.open(golden_, storage_of(golden_, plan.spelt_out)));
  }
  return for_each_slab(
      execution_, plan.workers, plan.grid.count(),
      [&](unsigned number, std::uint64_t slab) -> Status {
        Worker<Real>& worker = worker_of(number);
        const Box box = plan.grid.box(slab);
        BTF_TRY(worker.actual.load(box));
        BTF_TRY(worker.golden.load(box));
        for_each_row(golden_.dims(), box,
                     [&](std::uint64_t first, std::uint64_t offset, std::uint64_t length) {
                       for (std::uint64_t at = 0; at < length; at += kPairRun) {
                         PairRun<Real> run{.first = first + at,
                                           .count = std::min(kPairRun, length - at),
                                           .actual_codes = worker.actual.code(offset + at),
                                           .golden_codes = worker.golden.code(offset + at)};
                         run.actual = worker.actual_values.of(run.actual_codes, 1, run.count);
                         run.golden = worker.golden_values.of(run.golden_codes, 1, run.count);
                         visit(number, slab, run);
                       }
                     });
        return {};
      });
}

template <typename Real>
Status PairRows::walk(const PairVisit<Real>& visit, SparsePairs sparse) const {
  if constexpr (!std::is_same_v<Real, float>)
    if (both_sparse(actual_, golden_)) return walk_sparse<Real>(visit, sparse);
  return walk_dense<Real>(visit);
}

template Status PairRows::walk<float>(const PairVisit<float>&, SparsePairs) const;
template Status PairRows::walk<double>(const PairVisit<double>&, SparsePairs) const;
template Status PairRows::walk<long double>(const PairVisit<long double>&, SparsePairs) const;

}  // namespace btf
