// The score of two tensors; errors by decade, and pairs of tolerances that would suffice.
#include "diff/score/compare_walk.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "btf/try.h"
#include "diff/pairs/rows.h"
#include "diff/score/collectors.h"
#include "elements/cast.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kMinDecade = -324;
constexpr int kDecades = 309 - kMinDecade;  // the last is that of the largest double

// 10^(kMinDecade + i), correctly rounded, followed by Inf.
const std::array<double, kDecades + 1>& powers_of_ten() {
  static const auto kPowers = [] {
    std::array<double, kDecades + 1> powers{};
    for (int i = 0; i < kDecades; ++i) {
      const std::string text = "1e" + std::to_string(kMinDecade + i);
      // Below the smallest double the value remains 0.
      std::from_chars(text.data(), text.data() + text.size(), powers[static_cast<std::size_t>(i)]);
    }
    powers.back() = kInf;
    return powers;
  }();
  return kPowers;
}

// Doubles with one exponent: the decade of the smallest, and where the next decade starts.
struct Binade {
  std::uint16_t decade = 0;
  double next = kInf;
};

const std::array<Binade, 2048>& binades() {
  static const auto kBinades = [] {
    const auto& powers = powers_of_ten();
    std::array<Binade, 2048> binades;
    std::size_t at = 0;
    for (std::size_t exponent = 1; exponent < 2047; ++exponent) {
      const double least = std::ldexp(1.0, static_cast<int>(exponent) - 1023);
      while (at + 1 < kDecades && least >= powers[at + 1]) ++at;
      binades[exponent] = {static_cast<std::uint16_t>(at), powers[at + 1]};
    }
    // Inf is not below its `next`; it counts with the largest numbers.
    binades[2047] = {kDecades - 2, kInf};
    return binades;
  }();
  return kBinades;
}

// `error` is greater than 0.
std::size_t decade_of(double error) {
  const std::size_t exponent = std::bit_cast<std::uint64_t>(error) >> 52;
  if (exponent == 0) {
    std::size_t at = 0;
    while (error >= powers_of_ten()[at + 1]) ++at;
    return at;
  }
  const Binade& binade = binades()[exponent];
  return binade.decade + (error >= binade.next ? 1U : 0U);
}

// Calls add(decade, count) for the errors, beginning with the smallest. Counts by decade if there
// are few decades.
template <typename Add>
void for_each_decade(const double* error, std::uint64_t count, const RunSummary& summary,
                     Add&& add) {
  constexpr std::size_t kFew = 20;
  const std::size_t first = decade_of(summary.least_error);
  const std::size_t last = decade_of(summary.largest_error);
  if (last - first > kFew) {
    for (std::uint64_t i = 0; i < count; ++i)
      if (error[i] > 0) add(decade_of(error[i]), 1);
    return;
  }
  // A decade has the errors not below its beginning, minus those of the next one. No error, not
  // even Inf, reaches the NaN after the last.
  for (std::size_t decade = first; decade <= last;) {
    AtLeast::Limits limits;
    for (std::size_t i = 0; i < limits.size(); ++i)
      limits[i] = decade + i == first  ? summary.least_error
                  : decade + i <= last ? powers_of_ten()[decade + i]
                                       : std::numeric_limits<double>::quiet_NaN();
    const AtLeast found = judge_runs().at_least(error, count, limits);
    for (std::size_t i = 0; i + 1 < limits.size() && decade <= last; ++i, ++decade)
      add(decade, found.count[i] - found.count[i + 1]);
  }
}

// The relative tolerances that are tried in pairs.
constexpr auto kRtols = std::to_array<double>({1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8,
                                               1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1});

// The part of the error that atol has to accept.
template <typename Real>
double least_atol(const JudgedRun<Real>& run, double rtol) {
  if constexpr (std::is_same_v<Real, double>)
    return compare_runs().least_atol(run.error, run.pairs.golden, run.pairs.values(), rtol);
  double least = 0;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i)
    if (!std::isnan(run.error[i]))
      least = std::max(
          least, left_to_accept(run.error[i], static_cast<double>(run.pairs.golden[i]), rtol));
  return least;
}

}  // namespace

struct ErrorCollector::State {
  std::uint64_t equal = 0;
  std::array<std::uint64_t, kDecades> count{};
  std::array<std::uint64_t, kDecades> mismatched{};
  std::array<double, kRtols.size()> atol{};  // needed in addition to kRtols[i]
};

ErrorCollector::ErrorCollector() = default;
ErrorCollector::~ErrorCollector() = default;

void ErrorCollector::prepare(unsigned workers) { states_.assign(workers, {}); }

template <typename Real>
void ErrorCollector::add(State& state, const JudgedRun<Real>& run) {
  const std::uint64_t weight = run.pairs.alike ? run.pairs.count : 1;
  const std::uint64_t size = run.pairs.values();
  const RunSummary& summary = run.summary;
  state.equal += summary.equal * weight;
  const std::uint64_t differ = size - summary.equal - summary.special;
  if (differ > 0) {
    const bool all_refused = summary.refused == differ && summary.special == 0;
    for_each_decade(run.error, size, summary, [&](std::size_t decade, std::uint64_t count) {
      state.count[decade] += count * weight;
      if (all_refused) state.mismatched[decade] += count * weight;
    });
    if (!all_refused && summary.refused > 0)
      for_each_decade(run.refused, size, summary, [&](std::size_t decade, std::uint64_t count) {
        state.mismatched[decade] += count * weight;
      });
  }
  for (std::size_t r = 0; r < kRtols.size(); ++r) {
    const double most = left_to_accept(summary.largest_error, summary.least_golden, kRtols[r]);
    if (most > state.atol[r]) state.atol[r] = std::max(state.atol[r], least_atol(run, kRtols[r]));
  }
}

void ErrorCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  add(states_[worker], run);
}

void ErrorCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  add(states_[worker], run);
}

std::uint64_t ErrorCollector::equal() const {
  std::uint64_t equal = 0;
  for (const State& state : states_) equal += state.equal;
  return equal;
}

std::vector<DecadeCount> ErrorCollector::decades() const {
  std::vector<DecadeCount> decades;
  for (std::size_t i = 0; i < kDecades; ++i) {
    DecadeCount sum{.decade = static_cast<int>(i) + kMinDecade};
    for (const State& state : states_) {
      sum.count += state.count[i];
      sum.mismatched += state.mismatched[i];
    }
    if (sum.count > 0) decades.push_back(sum);
  }
  return decades;
}

std::vector<RequiredPair> ErrorCollector::required(std::optional<double> rtol) const {
  std::vector<RequiredPair> pairs;
  for (std::size_t r = 0; r < kRtols.size(); ++r) {
    double atol = 0;
    for (const State& state : states_) atol = std::max(atol, state.atol[r]);
    if (!std::isfinite(atol) || atol == 0 || (rtol && kRtols[r] >= *rtol)) continue;
    pairs.push_back({kRtols[r], atol});
  }
  return pairs;
}

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
    const unsigned most = in_order ? 1 : worker_count(execution_, UINT64_MAX, bytes);
    const SlabGrid grid =
        choose_slabs(slab_side(actual_, actual), slab_side(golden_, order),
                     {.bytes = std::min<std::uint64_t>(alike ? kStraightSlab / 2 : 1U << 20,
                                                       most_slab_bytes(execution_, most)),
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

// For steps that depend on the place: pairs are judged with their numbers.
template <typename Real>
Result<CompareScore> score_by_number(const DiffSide& actual, const DiffSide& golden,
                                     const Judge& judge, const Execution& execution) {
  Judge any = judge;
  any.half_step = false;
  any.by_error = false;
  any.ulp = UINT64_MAX;
  const PairRows pairs(actual, golden, execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<CompareScore> scores(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    CompareScore& score = scores[worker];
    if (run.alike) return compare_many(*run.actual, *run.golden, run.count, any, score);
    compare_run(run.actual, run.golden, run.count, any, score);
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
