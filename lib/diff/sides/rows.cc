#include "diff/sides/rows.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "btf/try.h"
#include "core/numbers.h"
#include "elements/cast.h"

namespace btf {
namespace {

constexpr std::uint64_t kNoNumber = UINT64_MAX;

// Runs with at least this many alike pairs in front are passed on unchanged.
constexpr std::uint64_t kMinAlike = 32;

struct EntrySide {
  std::unique_ptr<CooSource> source;
  CooRun run;
  std::uint64_t at = 0;
  bool ended = false;

  Status fill() {
    if (ended || at < run.count) return {};
    BTF_ASSIGN(run, source->next_run());
    at = 0;
    ended = run.count == 0;
    return {};
  }
  std::uint64_t left() const { return run.count - at; }
  const std::uint64_t* keys() const { return run.keys + at; }
};

// The codes of one side for merged entries; zero for elements that it does not store.
template <std::size_t kBytes>
void gather_codes(const CooRun& run, const std::uint32_t* from, std::uint64_t count,
                  std::uint32_t not_stored, std::byte* codes) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (from[i] == not_stored)
      std::memset(codes + i * kBytes, 0, kBytes);
    else
      std::memcpy(codes + i * kBytes, run.codes + from[i] * kBytes, kBytes);
  }
}

using GatherCodesFn = void (*)(const CooRun& run, const std::uint32_t* from, std::uint64_t count,
                               std::uint32_t not_stored, std::byte* codes);

// Indexed by the binary logarithm of the bytes of a code.
constexpr GatherCodesFn kGatherCodes[] = {gather_codes<1>, gather_codes<2>, gather_codes<4>,
                                          gather_codes<8>};

// Merges the entries of two sides. Reused by its worker.
class Merger {
 public:
  Merger(DType actual, DType golden)
      : bytes_{info(actual).buffer_bytes(), info(golden).buffer_bytes()},
        numbers_(kPairRun),
        from_{std::vector<std::uint32_t>(kPairRun), std::vector<std::uint32_t>(kPairRun)},
        codes_{std::vector<std::uint64_t>(kPairRun), std::vector<std::uint64_t>(kPairRun)} {}

  // Calls run(SparseRun) for the numbers in [begin, end).
  template <typename Run>
  Status merge(EntrySide left, EntrySide right, std::uint64_t begin, std::uint64_t end,
               const Execution& execution, Run&& run) {
    for (;;) {
      BTF_TRY(check_cancelled(execution));
      BTF_TRY(left.fill());
      BTF_TRY(right.fill());
      if (left.ended && right.ended) break;
      SparseRun merged = take_alike(left, right);
      if (merged.count == 0) merged = take_merged(left, right);
      merged.begin = begin;
      merged.end = begin = merged.numbers[merged.count - 1] + 1;
      run(merged);
    }
    if (begin < end) run(SparseRun{.begin = begin, .end = end});
    return {};
  }

 private:
  static SparseRun take_alike(EntrySide& left, EntrySide& right) {
    const std::uint64_t most = std::min({left.left(), right.left(), kPairRun});
    const std::uint64_t* const numbers = left.keys();
    const auto count = static_cast<std::uint64_t>(
        std::mismatch(numbers, numbers + most, right.keys()).first - numbers);
    if (count < most && count < kMinAlike) return {};
    const SparseRun run{.count = count,
                        .numbers = numbers,
                        .actual_codes = left.run.code(left.at),
                        .golden_codes = right.run.code(right.at)};
    left.at += count;
    right.at += count;
    return run;
  }

  // Merges until there is no more room, or a side must read on.
  SparseRun take_merged(EntrySide& left, EntrySide& right) {
    constexpr auto kNotStored = UINT32_MAX;
    std::uint64_t count = 0;
    const auto unfinished = [](const EntrySide& side) { return side.ended || side.left() > 0; };
    const auto number_of = [](const EntrySide& side) {
      return side.left() > 0 ? *side.keys() : kNoNumber;
    };
    while (count < kPairRun && unfinished(left) && unfinished(right)) {
      const std::uint64_t a = number_of(left);
      const std::uint64_t b = number_of(right);
      const std::uint64_t number = std::min(a, b);
      if (number == kNoNumber) break;
      numbers_[count] = number;
      from_[0][count] = a == number ? static_cast<std::uint32_t>(left.at) : kNotStored;
      from_[1][count] = b == number ? static_cast<std::uint32_t>(right.at) : kNotStored;
      left.at += a == number ? 1 : 0;
      right.at += b == number ? 1 : 0;
      ++count;
    }
    const auto codes = [&](std::size_t which, const EntrySide& side) {
      auto* const bytes = reinterpret_cast<std::byte*>(codes_[which].data());
      kGatherCodes[std::countr_zero(bytes_[which])](side.run, from_[which].data(), count,
                                                    kNotStored, bytes);
      return bytes;
    };
    return {.count = count,
            .numbers = numbers_.data(),
            .actual_codes = codes(0, left),
            .golden_codes = codes(1, right)};
  }

  std::array<std::uint64_t, 2> bytes_;
  std::vector<std::uint64_t> numbers_;
  std::array<std::vector<std::uint32_t>, 2> from_;  // index in the side's run
  std::array<std::vector<std::uint64_t>, 2> codes_;
};

}  // namespace

Result<SparseSlabs> SparseSlabs::open(const DiffSide& actual, const DiffSide& golden,
                                      const Execution& execution, std::uint64_t granule) {
  SparseSlabs slabs(actual, golden, execution);
  BTF_ASSIGN(const auto left, actual.entry_marks());
  BTF_ASSIGN(const auto right, golden.entry_marks());
  slabs.begins_.push_back(0);
  // The marks of the side with more entries.
  if (!left.empty() && !right.empty())
    for (const std::uint64_t mark : left.size() < right.size() ? right : left) {
      const std::uint64_t begin = mark / granule * granule;
      if (begin > slabs.begins_.back()) slabs.begins_.push_back(begin);
    }
  const std::uint64_t pieces = slabs.begins_.size();
  slabs.begins_.push_back(*element_count(golden.dims()));
  if (pieces > 1) slabs.workers_ = worker_count(execution, pieces, UINT64_MAX);
  return slabs;
}

Status SparseSlabs::walk(const Visit& visit) const {
  std::vector<Merger> mergers(workers_, Merger(actual_->dtype(), golden_->dtype()));
  const std::uint64_t pieces = begins_.size() - 1;
  return for_each_slab(
      *execution_, workers_, pieces, [&](unsigned worker, std::uint64_t slab) -> Status {
        const std::uint64_t begin = begins_[slab];
        const std::uint64_t end = begins_[slab + 1];
        const KeyRange range = pieces == 1 ? KeyRange{} : KeyRange{begin, end};
        EntrySide left;
        EntrySide right;
        BTF_ASSIGN(left.source, actual_->entries(range));
        BTF_ASSIGN(right.source, golden_->entries(range));
        return mergers[worker].merge(std::move(left), std::move(right), begin, end, *execution_,
                                     [&](const SparseRun& run) { visit(worker, slab, run); });
      });
}

namespace {

struct DensePlan {
  StridedLayout dense_layout;  // layout in which a COO side is read; unused for two dense sides
  SlabGrid grid;
  unsigned workers = 1;
};

const StridedLayout& storage_of(const DiffSide& side, const StridedLayout& dense_layout) {
  return side.storage() != nullptr ? *side.storage() : dense_layout;
}

// Sums are added slab by slab, and other slabs would change their last digit. So slabs depend on
// the tensors only, and little memory means fewer workers instead.
constexpr std::uint64_t kPairSlab = 256U << 10;

// The most bytes that a slab of whole rows may have on either side.
constexpr std::uint64_t kMaxOfRows = 4U << 20;

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
    BTF_ASSIGN(DensePlan found, dense_layout() ? beside_storage(row) : in_boxes(row));
    if (!rows || slab_bytes(found.grid) <= kMaxOfRows) return found;
    return in_row_major();
  }

 private:
  bool dense_layout() const { return actual_.storage() == nullptr || golden_.storage() == nullptr; }

  std::uint64_t element_bytes() const {
    return std::max(info(actual_.dtype()).buffer_bytes(), info(golden_.dtype()).buffer_bytes());
  }

  std::uint64_t slab_bytes(const SlabGrid& grid) const {
    if (grid.count() == 0) return 0;
    std::uint64_t elements = 1;
    for (const std::uint64_t count : grid.box(0).counts()) elements *= count;
    return elements * element_bytes();
  }

  // Elements in another order are read again for every slab, so these slabs may be larger; no sums
  // depend on them, since the elements come in order. Each side needs a buffer as read and one in
  // order.
  std::uint64_t row_major_bytes(const StridedLayout& linear) const {
    const auto is_linear = [&](const DiffSide& side) {
      const StridedLayout* storage = side.storage();
      return storage == nullptr || (storage->strides == linear.strides && !storage->split);
    };
    if (is_linear(actual_) && is_linear(golden_)) return kPairSlab;
    return std::clamp(execution_.memory / 4, kPairSlab, 2 * kMaxOfRows);
  }

  Result<DensePlan> in_row_major() const {
    BTF_ASSIGN(StridedLayout linear, resolve(Layout::linear, golden_.dims(), DType::uint8));
    const std::uint64_t bytes = row_major_bytes(linear);
    return in_order(std::move(linear), bytes, 1);
  }

  Result<DensePlan> beside_storage(std::uint64_t granule) const {
    BTF_ASSIGN(StridedLayout beside, dense_layout_for_coo(actual_, golden_));
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

  SlabGrid choose(const StridedLayout& target, const StridedLayout& dense_layout,
                  SlabLimits limits) const {
    const std::uint64_t golden_bytes = info(golden_.dtype()).buffer_bytes();
    const SlabSide other{&storage_of(golden_, dense_layout), golden_bytes};
    limits.second_source = &other;
    return choose_slabs({&storage_of(actual_, dense_layout), info(actual_.dtype()).buffer_bytes()},
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

// Calls run(first number, offset in the box, count) for the runs of row-major numbers of a box.
template <typename Run>
void for_each_row(const Dims& dims, const Box& box, Run&& run) {
  const Dims counts = box.counts();
  // The box is whole from dim `inner` on, so those dims and the part of the dim before them are one
  // run.
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

// Makes pairs of what two COO tensors store, and of what they do not store.
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
  // Most tensors are small, and one worker with buffers on the stack suffices.
  Worker<Real> first(actual_.dtype(), golden_.dtype());
  std::vector<Worker<Real>> others;
  others.reserve(plan.workers - 1);
  for (unsigned i = 1; i < plan.workers; ++i) others.emplace_back(actual_.dtype(), golden_.dtype());
  const auto worker_of = [&](unsigned number) -> Worker<Real>& {
    return number == 0 ? first : others[number - 1];
  };
  for (unsigned i = 0; i < plan.workers; ++i) {
    Worker<Real>& worker = worker_of(i);
    BTF_TRY(worker.actual.open(actual_, storage_of(actual_, plan.dense_layout)));
    BTF_TRY(worker.golden.open(golden_, storage_of(golden_, plan.dense_layout)));
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
