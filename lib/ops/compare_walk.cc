#include "ops/compare_walk.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/try.h"
#include "kernels/special.h"
#include "kernels/widen.h"
#include "ops/cast_slab.h"
#include "ops/parallel.h"
#include "ops/row_major.h"

namespace btf {
namespace {

constexpr std::uint64_t kChunk = 1024;
constexpr std::uint64_t kCancelInterval = 1U << 20;  // entries

// What both sides are widened to.
bool use_double(const DiffSide& actual, const DiffSide& golden) {
  return fits_double(actual.dtype()) && fits_double(golden.dtype());
}

// The index at `offset` of a packed box.
Dims index_at(const Mapping& mapping, std::span<const std::uint64_t> counts, std::uint64_t offset) {
  struct Digit {
    std::uint64_t stride;
    std::uint32_t dim;
    std::uint64_t unit;
  };
  std::vector<Digit> digits;
  for (std::uint32_t d = 0; d < counts.size(); ++d) {
    const bool split = mapping.split && mapping.split->dim == d;
    const std::uint64_t lanes = split ? mapping.split->lanes : 1;
    if (counts[d] > lanes || (!split && counts[d] > 1))
      digits.push_back({mapping.strides[d], d, lanes});
    if (split) digits.push_back({mapping.split->lane_stride, d, 1});
  }
  std::ranges::sort(digits, std::ranges::greater{}, &Digit::stride);
  Dims index(counts.size(), 0);
  for (const Digit& digit : digits) {
    if (digit.stride == 0) continue;
    index[digit.dim] += offset / digit.stride * digit.unit;
    offset %= digit.stride;
  }
  return index;
}

// Of two candidates the worse; of equals the one that comes first.
void merge_worst(ScoredPair& worst, const ScoredPair& other) {
  if (!other.set) return;
  if (!worst.set || other.error > worst.error ||
      (other.error == worst.error && other.at < worst.at))
    worst = other;
}

void merge(CompareScore& total, const CompareScore& part) {
  total.add(part);
  merge_worst(total.worst_abs, part.worst_abs);
  merge_worst(total.worst_rel, part.worst_rel);
  merge_worst(total.worst_special, part.worst_special);
}

SlabSide slab_side(const DiffSide& side, const Resolved& layout) {
  return {&layout, info(side.dtype()).buffer_bytes()};
}

template <typename Real>
class DenseScorer {
 public:
  DenseScorer(const DiffSide& actual, const DiffSide& golden, const DiffOptions& options)
      : actual_(actual),
        golden_(golden),
        options_(options),
        widen_actual_(widener<Real>(actual.dtype())),
        widen_golden_(widener<Real>(golden.dtype())),
        actual_bytes_(info(actual.dtype()).buffer_bytes()),
        golden_bytes_(info(golden.dtype()).buffer_bytes()) {}

  Result<CompareScore> run() {
    BTF_ASSIGN(const Resolved linear, resolve(Layout::linear, golden_.dims(), DType::uint8));
    // COO has no layout of its own and is read in row-major order, front to back.
    const bool in_order = actual_.storage() == nullptr || golden_.storage() == nullptr;
    const Resolved& actual = actual_.storage() != nullptr ? *actual_.storage() : linear;
    const Resolved& golden = golden_.storage() != nullptr ? *golden_.storage() : linear;
    const Resolved& order = in_order ? linear : golden;
    const SlabSide other = slab_side(golden_, golden);
    // The same layout on both sides is compared as it is read: in pieces that stay in the caches.
    const bool alike = actual.strides == golden.strides && actual.split == golden.split;
    const SlabGrid grid = choose_slabs(slab_side(actual_, actual), slab_side(golden_, order),
                                       {.bytes = alike ? 1U << 18 : 1U << 20,
                                        .target_contiguous = in_order,
                                        .second_source = &other});
    const std::uint64_t bytes = order.storage_elements * std::max(actual_bytes_, golden_bytes_);
    std::vector<Worker> workers(in_order ? 1
                                         : worker_count(options_.execution, grid.count(), bytes));
    for (Worker& worker : workers) {
      BTF_ASSIGN(worker.actual, actual_.reader(actual));
      BTF_ASSIGN(worker.golden, golden_.reader(golden));
    }
    const auto count = static_cast<unsigned>(workers.size());
    BTF_TRY(for_each_slab(options_.execution, count, grid.count(),
                          [&](unsigned worker, std::uint64_t slab) -> Status {
                            BTF_TRY(score_box(grid.box(slab), workers[worker]));
                            if (worker == 0 && options_.execution.progress)
                              options_.execution.progress(bytes / grid.count() * count);
                            return {};
                          }));
    CompareScore total;
    for (const Worker& worker : workers) merge(total, worker.score);
    return total;
  }

 private:
  struct Worker {
    std::unique_ptr<SlabReader> actual;
    std::unique_ptr<SlabReader> golden;
    CompareScore score;
    Buffer actual_codes;
    Buffer golden_codes;
    std::array<Real, kChunk> actual_values;
    std::array<Real, kChunk> golden_values;
  };

  Status score_box(const Box& box, Worker& worker) const {
    BTF_ASSIGN(SourceSlab actual, worker.actual->read(box));
    BTF_ASSIGN(SourceSlab golden, worker.golden->read(box));
    const Dims counts = box.counts();
    // Elements side by side on both sides compare many times faster than they do with strides.
    if (actual.mapping != golden.mapping) {
      actual = in_row_major(actual, counts, actual_.dtype(), worker.actual_codes);
      golden = in_row_major(golden, counts, golden_.dtype(), worker.golden_codes);
    }
    CompareScore score;
    for (const Region& region : make_plan(counts, actual.mapping, golden.mapping)) {
      const Tiling tiling = tile_region(region);
      for_each_tile(region, tiling, [&](std::uint64_t from, std::uint64_t to) {
        for (std::uint64_t i = 0; i < tiling.outer.count; ++i)
          score_run(actual.data, from + i * tiling.outer.source_stride, golden.data,
                    to + i * tiling.outer.target_stride, tiling.inner, worker, score);
      });
    }
    for (ScoredPair* pair : {&score.worst_abs, &score.worst_rel, &score.worst_special})
      if (pair->set) pair->at = number_of(box, index_at(golden.mapping, counts, pair->at));
    merge(worker.score, score);
    return {};
  }

  void score_run(const std::byte* actual, std::uint64_t from, const std::byte* golden,
                 std::uint64_t to, const PlanAxis& axis, Worker& worker,
                 CompareScore& score) const {
    for (std::uint64_t at = 0; at < axis.count; at += kChunk) {
      const std::uint64_t n = std::min(kChunk, axis.count - at);
      const std::uint64_t golden_at = to + at * axis.target_stride;
      if (same_bits(actual + (from + at * axis.source_stride) * actual_bytes_,
                    golden + golden_at * golden_bytes_, axis, n)) {
        score.compared += n;
        continue;
      }
      widen_actual_(actual + (from + at * axis.source_stride) * actual_bytes_, axis.source_stride,
                    n, worker.actual_values.data());
      widen_golden_(golden + golden_at * golden_bytes_, axis.target_stride, n,
                    worker.golden_values.data());
      compare_run(worker.actual_values.data(), worker.golden_values.data(), n, options_.tolerance,
                  golden_at, axis.target_stride, score);
    }
  }

  // Equal bits of finite numbers, the common case, need no arithmetic.
  bool same_bits(const std::byte* actual, const std::byte* golden, const PlanAxis& axis,
                 std::uint64_t n) const {
    return actual_.dtype() == golden_.dtype() && axis.source_stride == 1 &&
           axis.target_stride == 1 && std::memcmp(actual, golden, n * golden_bytes_) == 0 &&
           !any_special(golden_.dtype(), golden, n);
  }

  std::uint64_t number_of(const Box& box, Dims index) const {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += box.lo[d];
    return linear_key(golden_.dims(), index);
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const DiffOptions& options_;
  WidenFn<Real> widen_actual_;
  WidenFn<Real> widen_golden_;
  std::uint64_t actual_bytes_;
  std::uint64_t golden_bytes_;
};

// Calls visit(number, count, actual, golden) for every stored entry of either side and for the runs
// of numbers that neither stores, ascending, until visit returns false.
template <typename Real, typename Visit>
Status visit_sparse(const DiffSide& actual, const DiffSide& golden, const Execution& execution,
                    Visit&& visit) {
  BTF_ASSIGN(const auto left, actual.entries());
  BTF_ASSIGN(const auto right, golden.entries());
  const auto value = [](const DiffSide& side, std::uint64_t code) {
    Real real = 0;
    widener<Real>(side.dtype())(reinterpret_cast<const std::byte*>(&code), 1, 1, &real);
    return real;
  };
  const Real no_left = value(actual, 0);
  const Real no_right = value(golden, 0);
  std::uint64_t total = 1;
  for (const std::uint64_t dim : golden.dims()) total *= dim;
  BTF_ASSIGN(std::optional<CooEntry> a, left->next());
  BTF_ASSIGN(std::optional<CooEntry> b, right->next());
  std::uint64_t next = 0;
  for (std::uint64_t turn = 0;; ++turn) {
    if (turn % kCancelInterval == 0) BTF_TRY(check_cancelled(execution));
    const std::uint64_t at = std::min(a ? a->key : total, b ? b->key : total);
    if (at > next && !visit(next, at - next, no_left, no_right)) return {};
    if (at == total) return {};
    const bool in_left = a && a->key == at;
    const bool in_right = b && b->key == at;
    if (!visit(at, std::uint64_t{1}, in_left ? value(actual, a->code) : no_left,
               in_right ? value(golden, b->code) : no_right))
      return {};
    next = at + 1;
    if (in_left) {
      BTF_ASSIGN(a, left->next());
    }
    if (in_right) {
      BTF_ASSIGN(b, right->next());
    }
  }
}

bool both_sparse(const DiffSide& actual, const DiffSide& golden) {
  return actual.storage() == nullptr && golden.storage() == nullptr;
}

// Row-major slabs of one side.
template <typename Real>
class LinearSide {
 public:
  LinearSide(const DiffSide& side, const Resolved& linear)
      : side_(side), linear_(linear), bytes_(info(side.dtype()).buffer_bytes()) {}

  const Resolved& storage() const {
    return side_.storage() != nullptr ? *side_.storage() : linear_;
  }

  Status open() {
    BTF_ASSIGN(reader_, side_.reader(storage()));
    return {};
  }

  Status load(const Box& box) {
    BTF_ASSIGN(const SourceSlab read, reader_->read(box));
    codes_ = in_row_major(read, box.counts(), side_.dtype(), buffer_).data;
    return {};
  }

  Real value(std::uint64_t i) {
    Real real = 0;
    widener<Real>(side_.dtype())(codes_ + i * bytes_, 1, 1, &real);
    return real;
  }

 private:
  const DiffSide& side_;
  const Resolved& linear_;
  std::uint64_t bytes_;
  std::unique_ptr<SlabReader> reader_;
  const std::byte* codes_ = nullptr;
  Buffer buffer_;
};

template <typename Real>
Result<std::vector<std::uint64_t>> first_dense(const DiffSide& actual, const DiffSide& golden,
                                               const DiffOptions& options) {
  std::vector<std::uint64_t> found;
  BTF_ASSIGN(const Resolved linear, resolve(Layout::linear, golden.dims(), DType::uint8));
  LinearSide<Real> left(actual, linear);
  LinearSide<Real> right(golden, linear);
  BTF_TRY(left.open());
  BTF_TRY(right.open());
  const SlabSide other = slab_side(golden, right.storage());
  const SlabGrid grid =
      choose_slabs(slab_side(actual, left.storage()), slab_side(golden, linear),
                   {.bytes = 1U << 20, .target_contiguous = true, .second_source = &other});
  for (std::uint64_t slab = 0; slab < grid.count(); ++slab) {
    BTF_TRY(check_cancelled(options.execution));
    const Box box = grid.box(slab);
    const Footprint to = footprint(linear, box);
    BTF_TRY(left.load(box));
    BTF_TRY(right.load(box));
    for (std::uint64_t i = 0; i < to.elements; ++i) {
      if (!accepts(left.value(i), right.value(i), options.tolerance)) found.push_back(to.base + i);
      if (found.size() == options.show) return found;
    }
  }
  return found;
}

template <typename Real>
Result<std::vector<std::uint64_t>> first_sparse(const DiffSide& actual, const DiffSide& golden,
                                                const DiffOptions& options) {
  std::vector<std::uint64_t> found;
  BTF_TRY(visit_sparse<Real>(actual, golden, options.execution,
                             [&](std::uint64_t at, std::uint64_t count, Real a, Real b) {
                               if (accepts(a, b, options.tolerance)) return true;
                               for (; count > 0 && found.size() < options.show; --count)
                                 found.push_back(at++);
                               return found.size() < options.show;
                             }));
  return found;
}

template <typename Real>
Result<CompareScore> score_sparse(const DiffSide& actual, const DiffSide& golden,
                                  const DiffOptions& options) {
  CompareScore score;
  BTF_TRY(visit_sparse<Real>(actual, golden, options.execution,
                             [&](std::uint64_t at, std::uint64_t count, Real a, Real b) {
                               compare_many(a, b, count, options.tolerance, at, score);
                               return true;
                             }));
  return score;
}

template <typename Real>
Result<CompareScore> score_as(const DiffSide& actual, const DiffSide& golden,
                              const DiffOptions& options) {
  return both_sparse(actual, golden) ? score_sparse<Real>(actual, golden, options)
                                     : DenseScorer<Real>(actual, golden, options).run();
}

template <typename Real>
Result<std::vector<std::uint64_t>> first_as(const DiffSide& actual, const DiffSide& golden,
                                            const DiffOptions& options) {
  return both_sparse(actual, golden) ? first_sparse<Real>(actual, golden, options)
                                     : first_dense<Real>(actual, golden, options);
}

}  // namespace

Result<CompareScore> score_pairs(const DiffSide& actual, const DiffSide& golden,
                                 const DiffOptions& options) {
  return use_double(actual, golden) ? score_as<double>(actual, golden, options)
                                    : score_as<long double>(actual, golden, options);
}

Result<std::vector<std::uint64_t>> first_mismatches(const DiffSide& actual, const DiffSide& golden,
                                                    const DiffOptions& options) {
  if (options.show == 0) return std::vector<std::uint64_t>{};
  return use_double(actual, golden) ? first_as<double>(actual, golden, options)
                                    : first_as<long double>(actual, golden, options);
}

}  // namespace btf
