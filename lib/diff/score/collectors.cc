#include "diff/score/collectors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "core/dtype.h"
#include "elements/elements.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

constexpr std::uint64_t kNoPlace = UINT64_MAX;

}  // namespace

void NonfiniteCollector::prepare(unsigned workers) {
  Numbers none;
  none.fill(kNoPlace);
  lowest_.assign(workers, none);
}

template <typename Real>
void NonfiniteCollector::add(Numbers& lowest, const JudgedRun<Real>& run) {
  if (run.summary.special == 0) return;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    if (!std::isnan(run.error[i])) continue;
    const Real actual = run.pairs.actual[i];
    const Real golden = run.pairs.golden[i];
    const auto note = [&](Kind kind, bool is) {
      if (is) lowest[kind] = std::min(lowest[kind], run.pairs.number(i));
    };
    note(nan_actual, std::isnan(actual) && !std::isnan(golden));
    note(nan_golden, !std::isnan(actual) && std::isnan(golden));
    note(nan_both, std::isnan(actual) && std::isnan(golden));
    note(inf_both, std::isinf(actual) && actual == golden);
    note(inf_opposite, std::isinf(actual) && std::isinf(golden) && actual != golden);
    note(inf_actual, std::isinf(actual) && !std::isinf(golden));
    note(inf_golden, !std::isinf(actual) && std::isinf(golden));
  }
}

void NonfiniteCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  add(lowest_[worker], run);
}

void NonfiniteCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  add(lowest_[worker], run);
}

FirstNonfinite NonfiniteCollector::first(const Dims& dims) const {
  const auto place = [&](Kind kind) {
    std::uint64_t lowest = kNoPlace;
    for (const Numbers& numbers : lowest_) lowest = std::min(lowest, numbers[kind]);
    return lowest == kNoPlace ? std::nullopt : std::optional(index_of(dims, lowest));
  };
  return {.nan_actual = place(nan_actual),
          .nan_golden = place(nan_golden),
          .inf_opposite = place(inf_opposite),
          .inf_actual = place(inf_actual),
          .inf_golden = place(inf_golden),
          .nan_both = place(nan_both),
          .inf_both = place(inf_both)};
}

namespace {

bool may_saturate(const Grid& own, const Grid& other) {
  return own.saturates() && (own.codes || other.codes || can_overflow(other.dtype, own.dtype));
}

}  // namespace

SaturationCollector::SaturationCollector(const Judge& judge)
    : judge_(judge),
      actual_(may_saturate(judge.actual, judge.golden)),
      golden_(may_saturate(judge.golden, judge.actual)) {}

void SaturationCollector::prepare(unsigned workers) { counts_.assign(workers, {}); }

template <typename Real>
void SaturationCollector::add(SaturatedCount& count, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    if (run.refused[i] == 0 || std::isnan(run.error[i])) continue;
    const Real a = run.pairs.actual[i];
    const Real g = run.pairs.golden[i];
    const std::uint64_t number = run.pairs.number(i);
    const std::uint64_t pairs = run.pairs.alike ? run.pairs.count : 1;
    if (actual_ && judge_.actual.saturated(a, g, number)) count.actual += pairs;
    if (golden_ && judge_.golden.saturated(g, a, number)) count.golden += pairs;
  }
}

void SaturationCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  add(counts_[worker], run);
}

void SaturationCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  add(counts_[worker], run);
}

SaturatedCount SaturationCollector::count() const {
  SaturatedCount total;
  for (const SaturatedCount& count : counts_) {
    total.actual += count.actual;
    total.golden += count.golden;
  }
  return total;
}

namespace {

// Chi-squared per degree of freedom of the sample's indices in one dim: about 1 if they are spread
// evenly.
double unevenness(const Dims& dims, std::size_t dim, std::span<const std::uint64_t> sample) {
  const std::uint64_t buckets = std::min<std::uint64_t>(dims[dim], 16);
  if (buckets < 2 || sample.empty()) return 0;
  const auto bucket_of = [&](std::uint64_t index) {
    return static_cast<std::size_t>(static_cast<double>(index) / static_cast<double>(dims[dim]) *
                                    static_cast<double>(buckets));
  };
  std::array<double, 16> count{};
  for (const std::uint64_t number : sample) ++count[bucket_of(index_of(dims, number)[dim])];
  const double expected = static_cast<double>(sample.size()) / static_cast<double>(buckets);
  double sum = 0;
  for (std::size_t b = 0; b < buckets; ++b)
    sum += (count[b] - expected) * (count[b] - expected) / expected;
  return sum / static_cast<double>(buckets - 1);
}

std::vector<std::uint32_t> picked_axes(const Dims& dims, std::span<const std::uint64_t> sample) {
  constexpr double kUneven = 4;
  struct Candidate {
    std::uint32_t dim = 0;
    double unevenness = 0;
  };
  std::vector<Candidate> candidates;
  for (std::size_t d = dims.size(); d-- > 0;) {
    if (dims[d] < 2) continue;
    const double found = unevenness(dims, d, sample);
    candidates.push_back({static_cast<std::uint32_t>(d), found > kUneven ? found : 0});
  }
  // Of equal dims the later one comes first.
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::unevenness);
  std::vector<std::uint32_t> axes;
  for (const Candidate& candidate : candidates)
    if (axes.size() < 2) axes.push_back(candidate.dim);
  std::ranges::sort(axes);
  return axes;
}

// Unset if the tensor lacks one of them.
std::optional<std::vector<std::uint32_t>> given_axes(const Dims& dims,
                                                     const HeatmapRequest& request) {
  std::vector<std::uint32_t> axes;
  const auto rank = static_cast<std::int64_t>(dims.size());
  for (const std::int32_t axis : request.axes) {
    const std::int64_t dim = axis < 0 ? axis + rank : axis;
    if (dim < 0 || dim >= rank) return std::nullopt;
    axes.push_back(static_cast<std::uint32_t>(dim));
  }
  if (axes.empty() || axes.size() > 2 || (axes.size() == 2 && axes[0] == axes[1]))
    return std::nullopt;
  return axes;
}

std::uint64_t steps_in(std::uint64_t size, std::uint64_t step) {
  return size == 0 ? 0 : (size - 1) / step + 1;
}

}  // namespace

Heatmap heatmap_frame(const Dims& dims, const HeatmapRequest& request,
                      std::span<const std::uint64_t> sample) {
  const std::vector<std::uint32_t> axes =
      given_axes(dims, request).value_or(picked_axes(dims, sample));
  Heatmap map;
  // Steps are powers of two, like blocks of channels and tiles.
  const auto axis_of = [&](std::uint32_t dim, std::uint64_t most) {
    std::uint64_t step = 1;
    while (steps_in(dims[dim], step) > std::max<std::uint64_t>(most, 1) && step < 1ULL << 63)
      step *= 2;
    return Heatmap::Axis{dim, step};
  };
  if (!axes.empty()) {
    map.across = axis_of(axes.back(), request.columns);
    map.columns = steps_in(dims[axes.back()], map.across->step);
  }
  if (axes.size() == 2) {
    map.down = axis_of(axes.front(), request.rows);
    map.rows = steps_in(dims[axes.front()], map.down->step);
  }
  std::uint64_t others = 1;
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (std::ranges::find(axes, d) == axes.end()) others *= dims[d];
  const auto covered = [&](const std::optional<Heatmap::Axis>& axis, std::uint64_t cell) {
    return axis ? std::min(axis->step, dims[axis->dim] - cell * axis->step) : 1;
  };
  for (std::uint64_t r = 0; r < map.rows; ++r)
    for (std::uint64_t c = 0; c < map.columns; ++c)
      map.elements.push_back(others * covered(map.down, r) * covered(map.across, c));
  map.mismatched.assign(map.elements.size(), 0);
  return map;
}

bool needs_no_sample(const Dims& dims, const HeatmapRequest& request) {
  const auto wide = std::ranges::count_if(dims, [](std::uint64_t dim) { return dim > 1; });
  return wide <= 2 || given_axes(dims, request);
}

std::string axes_trouble(const std::vector<std::int32_t>& axes, std::size_t rank) {
  const auto dims = static_cast<std::int64_t>(rank);
  const auto dim_of = [&](std::int64_t axis) { return axis < 0 ? axis + dims : axis; };
  const std::string in_rank = " in rank " + std::to_string(rank);
  for (const std::int32_t axis : axes)
    if (dim_of(axis) < 0 || dim_of(axis) >= dims)
      return "there is no dim " + std::to_string(axis) + in_rank;
  if (axes.size() == 2 && dim_of(axes[0]) == dim_of(axes[1]))
    return "dims " + std::to_string(axes[0]) + " and " + std::to_string(axes[1]) + " are the same" +
           in_rank;
  return "";
}

namespace {

// The position along one axis of the cells while row-major numbers ascend. Counts to the next cell,
// since a division per element would cost more than all other work on it. Without an axis there is
// one cell.
class AxisWalk {
 public:
  AxisWalk(const Dims& dims, const std::optional<Heatmap::Axis>& axis) {
    if (!axis) return;
    const std::uint64_t size = dims[axis->dim];
    step_ = axis->step;
    cells_ = (size - 1) / step_ + 1;
    for (std::size_t d = axis->dim + 1; d < dims.size(); ++d) stride_ *= dims[d];
    around_ = size * stride_;
    last_ = (size - (cells_ - 1) * step_) * stride_;
  }

  void go_to(std::uint64_t number) {
    if (cells_ == 0) return;
    const std::uint64_t place = number % around_;
    cell_ = place / stride_ / step_;
    left_ = cell_ * step_ * stride_ + length() - place;
  }

  // How many numbers from here on are in the same cell.
  std::uint64_t left() const { return left_; }
  std::uint64_t cell() const { return cell_; }

  // `numbers` is at most left().
  void advance(std::uint64_t numbers) {
    if (cells_ == 0 || (left_ -= numbers) > 0) return;
    if (++cell_ == cells_) cell_ = 0;
    left_ = length();
  }

 private:
  std::uint64_t length() const { return cell_ + 1 == cells_ ? last_ : step_ * stride_; }

  std::uint64_t stride_ = 1;
  std::uint64_t step_ = 1;
  std::uint64_t cells_ = 0;   // 0: there is no axis
  std::uint64_t around_ = 0;  // numbers in all cells
  std::uint64_t last_ = 0;    // numbers in the last cell, which may be shorter
  std::uint64_t cell_ = 0;
  std::uint64_t left_ = UINT64_MAX;
};

}  // namespace

void HeatmapCollector::prepare(unsigned workers) {
  cells_.assign(workers, std::vector<std::uint64_t>(map_.rows * map_.columns, 0));
}

template <typename Real>
void HeatmapCollector::count(std::vector<std::uint64_t>& cells, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  AxisWalk down(dims_, map_.down);
  AxisWalk across(dims_, map_.across);
  // count_in(begin, length) counts the refused of `length` elements in one cell.
  const auto count_from = [&](std::uint64_t number, std::uint64_t count, auto count_in) {
    down.go_to(number);
    across.go_to(number);
    for (std::uint64_t at = 0; at < count;) {
      const std::uint64_t length = std::min({count - at, down.left(), across.left()});
      cells[down.cell() * map_.columns + across.cell()] += count_in(at, length);
      down.advance(length);
      across.advance(length);
      at += length;
    }
  };
  const auto all = [](std::uint64_t, std::uint64_t length) { return length; };
  const std::uint64_t values = run.pairs.values();
  if (run.pairs.alike || run.pairs.numbers != nullptr) {
    // Elements that neither COO tensor stores may cover many cells.
    for (std::uint64_t i = 0; i < values; ++i)
      if (run.refused[i] != 0)
        count_from(run.pairs.number(i), run.pairs.alike ? run.pairs.count : 1, all);
    return;
  }
  if (run.summary.refused == values) return count_from(run.pairs.first, values, all);
  count_from(run.pairs.first, values, [&](std::uint64_t begin, std::uint64_t length) {
    std::uint64_t refused = 0;
    for (std::uint64_t i = begin; i < begin + length; ++i) refused += run.refused[i] != 0 ? 1U : 0U;
    return refused;
  });
}

void HeatmapCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  count(cells_[worker], run);
}

void HeatmapCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  count(cells_[worker], run);
}

Heatmap HeatmapCollector::finish() {
  map_.mismatched.assign(map_.rows * map_.columns, 0);
  for (const std::vector<std::uint64_t>& cells : cells_)
    for (std::size_t i = 0; i < cells.size(); ++i) map_.mismatched[i] += cells[i];
  return std::move(map_);
}

namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The judgement of one run, computed once for all collectors.
template <typename Real>
struct RunJudge {
  std::array<double, kPairRun> error;
  std::array<double, kPairRun> refused;

  RunSummary judge(const PairRun<Real>& run, const Judge& judge) {
    if constexpr (std::is_same_v<Real, double>)
      if (!judge.half_step)
        return judge_runs().judge(run.actual, run.golden, run.values(), judge, error.data(),
                                  refused.data());
    RunSummary summary{.least_error = kEndless};
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      const Real a = run.actual[i];
      const Real g = run.golden[i];
      const bool finite = std::isfinite(a) && std::isfinite(g);
      error[i] = finite ? error_of(a, g).abs : kNan;
      refused[i] = accepts(a, g, judge, run.number(i)) ? 0 : error[i];
      summary.refused += refused[i] != 0 ? 1U : 0U;
      summary.special += finite ? 0U : 1U;
      summary.equal += error[i] == 0 ? 1U : 0U;
      if (finite) summary.largest_error = std::max(summary.largest_error, error[i]);
      if (error[i] > 0) summary.least_error = std::min(summary.least_error, error[i]);
    }
    return summary;
  }
};

// Used where numbers or their differences are not doubles.
struct WideRuns {
  WideRuns(DType actual_dtype, DType golden_dtype) : actual(actual_dtype), golden(golden_dtype) {}

  // The same pairs, read from their codes.
  PairRun<long double> of(const PairRun<double>& run) {
    return {.first = run.first,
            .count = run.count,
            .actual = actual.of(run.actual_codes, 1, run.values()),
            .golden = golden.of(run.golden_codes, 1, run.values()),
            .actual_codes = run.actual_codes,
            .golden_codes = run.golden_codes,
            .alike = run.alike,
            .numbers = run.numbers};
  }

  RealValues<long double> actual;
  RealValues<long double> golden;
  RunJudge<long double> judge;
};

struct RunJudges {
  RunJudge<double> doubles;
  std::unique_ptr<WideRuns> wide;
};

bool are_doubles(const PairRun<double>& run) {
  return all_compare_as_double(run.actual, run.values()) &&
         all_compare_as_double(run.golden, run.values());
}

struct RankedPlace {
  std::uint64_t at = 0;
  double rank = 0;

  // By descending rank; the lower number first among equals.
  bool operator<(const RankedPlace& other) const {
    return rank != other.rank ? rank > other.rank : at < other.at;
  }
};

// The first `most` of all added elements, in their order.
class Best {
 public:
  explicit Best(std::uint64_t most) : most_(most) {}

  void add(const RankedPlace& place) {
    if (!takes(place)) return;
    if (heap_.size() == most_) {
      std::ranges::pop_heap(heap_, std::less{});
      heap_.back() = place;
    } else {
      heap_.push_back(place);
    }
    std::ranges::push_heap(heap_, std::less{});
  }

  // Whether it would be kept now.
  bool takes(const RankedPlace& place) const {
    return heap_.size() < most_ || (most_ > 0 && place < heap_.front());
  }
  // The rank below which nothing is kept.
  double bar() const {
    return heap_.size() < most_ ? 0 : most_ > 0 ? heap_.front().rank : kEndless;
  }

  void add(const Best& other) {
    for (const RankedPlace& place : other.heap_) add(place);
  }

  std::vector<RankedPlace> sorted() const {
    std::vector<RankedPlace> all = heap_;
    std::ranges::sort(all, std::less{});
    return all;
  }

 private:
  std::uint64_t most_;
  std::vector<RankedPlace> heap_;  // a heap with the last of them in front
};

std::vector<std::uint64_t> numbers_of(const std::vector<RankedPlace>& place) {
  std::vector<std::uint64_t> numbers;
  for (const RankedPlace& one : place) numbers.push_back(one.at);
  return numbers;
}

// Whether the relative error of a refused pair may be one that is kept.
template <typename Real>
bool takes_relative(const Best& best, const JudgedRun<Real>& run) {
  if constexpr (std::is_same_v<Real, double>) {
    const double bar = best.bar();
    if (std::isinf(bar)) return best.takes({run.pairs.first, bar});
    const double largest =
        judge_runs().largest_relative(run.refused, run.pairs.golden, run.pairs.values(), bar);
    return largest > 0 && best.takes({run.pairs.first, largest});
  }
  return true;
}

// Whether any pair of the run, refused or not, has a rank of at least `least`.
template <typename Real>
bool any_scattered(const PairRun<Real>& pairs, std::uint32_t least) {
  if (pairs.numbers == nullptr) return judge_runs().any_scattered(pairs.first, pairs.count, least);
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < pairs.count; ++i)
    most = std::max(most, scattered(pairs.numbers[i]));
  return most >= least;
}

// Calls visit(i, number) for every refused pair, at most `most` times for a run of alike pairs.
template <typename Real, typename Visit>
void for_each_refused(const JudgedRun<Real>& run, std::uint64_t most, Visit&& visit) {
  for (std::uint64_t i = 0; i < run.pairs.values(); ++i) {
    if (run.refused[i] == 0) continue;
    const std::uint64_t at = run.pairs.number(i);
    const std::uint64_t end = at + (run.pairs.alike ? std::min(run.pairs.count, most) : 1);
    for (std::uint64_t number = at; number < end; ++number) visit(i, number);
  }
}

}  // namespace

Status collect(const PairRows& pairs, const Judge& judge,
               std::span<PairCollector* const> collectors) {
  const auto workers = pairs.workers();
  if (!workers) return std::unexpected(workers.error());
  for (PairCollector* collector : collectors) collector->prepare(*workers);
  std::vector<RunJudges> judges(*workers);
  const auto pass_on = [&](unsigned worker, std::uint64_t slab, const auto& run, auto& own) {
    const RunSummary summary = own.judge(run, judge);
    const JudgedRun judged{run, own.error.data(), own.refused.data(), summary};
    for (PairCollector* collector : collectors) collector->take(worker, slab, judged);
  };
  const bool exact = pairs.use_double();
  // The doubles of a run show whether it can be judged as doubles.
  const auto take = [&](unsigned worker, std::uint64_t slab, const PairRun<double>& run) {
    RunJudges& own = judges[worker];
    if (exact || are_doubles(run)) return pass_on(worker, slab, run, own.doubles);
    if (!own.wide) own.wide = std::make_unique<WideRuns>(pairs.actual(), pairs.golden());
    pass_on(worker, slab, own.wide->of(run), own.wide->judge);
  };
  return pairs.walk<double>(take, SparsePairs::gathered);
}

struct MismatchCollector::State {
  Best first;
  Best largest;
  Best special;
  Best sample;
  Best worst_abs{1};
  Best worst_rel{1};
};

MismatchCollector::MismatchCollector(std::uint64_t show, std::uint64_t sample)
    : show_(show), sample_(sample) {}
MismatchCollector::~MismatchCollector() = default;

void MismatchCollector::prepare(unsigned workers) {
  const State empty{Best(show_), Best(show_), Best(std::max<std::uint64_t>(show_, 1)),
                    Best(sample_)};
  states_.assign(workers, empty);
}

template <typename Real>
void MismatchCollector::add(State& state, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  // Skips runs in which no pair can change anything.
  const double error = run.summary.largest_error;
  // The first of equal errors is kept.
  const RankedPlace likeliest{run.pairs.first, error};
  const bool largest = state.largest.takes(likeliest) || state.worst_abs.takes(likeliest);
  const bool relative = takes_relative(state.worst_rel, run);
  const bool first = state.first.takes({run.pairs.first, 0});
  const bool special = run.summary.special > 0 && state.special.takes({run.pairs.first, 0});
  if (largest || relative || first || special)
    for_each_refused(
        run, std::max(show_, std::uint64_t{1}), [&](std::uint64_t i, std::uint64_t at) {
          state.first.add({at, 0});
          if (std::isnan(run.error[i])) return state.special.add({at, 0});
          state.largest.add({at, run.error[i]});
          state.worst_abs.add({at, run.error[i]});
          state.worst_rel.add({at, error_of(run.pairs.actual[i], run.pairs.golden[i]).rel});
        });
  if (sample_ == 0) return;
  const auto lowest = static_cast<std::uint32_t>(state.sample.bar());
  if (any_scattered(run.pairs, lowest))
    for_each_refused(run, sample_, [&](std::uint64_t, std::uint64_t at) {
      const RankedPlace place{at, static_cast<double>(scattered(at))};
      if (state.sample.takes(place)) state.sample.add(place);
    });
}

void MismatchCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  add(states_[worker], run);
}

void MismatchCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  add(states_[worker], run);
}

std::vector<std::uint64_t> MismatchCollector::first() const {
  Best all(show_);
  for (const State& state : states_) all.add(state.first);
  return numbers_of(all.sorted());
}

std::vector<std::uint64_t> MismatchCollector::largest() const {
  Best all(show_);
  for (const State& state : states_) all.add(state.largest);
  if (all.sorted().empty())
    for (const State& state : states_) all.add(state.special);
  return numbers_of(all.sorted());
}

template <typename Member>
std::uint64_t MismatchCollector::worst(Member State::* which) const {
  Best all(1);
  for (const State& state : states_) all.add(state.*which);
  if (all.sorted().empty())
    for (const State& state : states_) all.add(state.special);
  return all.sorted().front().at;
}

std::uint64_t MismatchCollector::worst_abs() const { return worst(&State::worst_abs); }
std::uint64_t MismatchCollector::worst_rel() const { return worst(&State::worst_rel); }

std::vector<std::uint64_t> MismatchCollector::sample() const {
  Best all(sample_);
  for (const State& state : states_) all.add(state.sample);
  std::vector<std::uint64_t> numbers = numbers_of(all.sorted());
  std::ranges::sort(numbers);
  return numbers;
}

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
  // The count of a decade is count(>= its start) - count(>= the next start). Limits after the last
  // decade are NaN: no error reaches those, not even Inf, so the last decade keeps its whole count.
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

}  // namespace btf
