#include "diff/score/collectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include "kernels/compare/small_integers.h"

namespace btf {
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

// What is needed where numbers, or their differences, are no doubles.
struct WideRuns {
  WideRuns(DType actual_dtype, DType golden_dtype) : actual(actual_dtype), golden(golden_dtype) {}

  // The same pairs from their codes.
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

struct Placed {
  std::uint64_t at = 0;
  double rank = 0;

  // By rank, descending; of equals the lower number first.
  bool operator<(const Placed& other) const {
    return rank != other.rank ? rank > other.rank : at < other.at;
  }
};

// The first `most` of all that were added, by their order.
class Best {
 public:
  explicit Best(std::uint64_t most) : most_(most) {}

  void add(const Placed& placed) {
    if (!takes(placed)) return;
    if (heap_.size() == most_) {
      std::ranges::pop_heap(heap_, std::less{});
      heap_.back() = placed;
    } else {
      heap_.push_back(placed);
    }
    std::ranges::push_heap(heap_, std::less{});
  }

  // Could this still be among them?
  bool takes(const Placed& placed) const {
    return heap_.size() < most_ || (most_ > 0 && placed < heap_.front());
  }
  // The rank below which nothing is taken.
  double bar() const {
    return heap_.size() < most_ ? 0 : most_ > 0 ? heap_.front().rank : kEndless;
  }

  void add(const Best& other) {
    for (const Placed& placed : other.heap_) add(placed);
  }

  std::vector<Placed> sorted() const {
    std::vector<Placed> all = heap_;
    std::ranges::sort(all, std::less{});
    return all;
  }

 private:
  std::uint64_t most_;
  std::vector<Placed> heap_;  // the last of them in front
};

std::vector<std::uint64_t> numbers_of(const std::vector<Placed>& placed) {
  std::vector<std::uint64_t> numbers;
  for (const Placed& one : placed) numbers.push_back(one.at);
  return numbers;
}

// May a refused pair's relative error be one that is taken?
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

// Has any of the pairs, refused or not, a rank of at least `least`?
template <typename Real>
bool any_scattered(const PairRun<Real>& pairs, std::uint32_t least) {
  if (pairs.numbers == nullptr) return judge_runs().any_scattered(pairs.first, pairs.count, least);
  std::uint32_t most = 0;
  for (std::uint64_t i = 0; i < pairs.count; ++i)
    most = std::max(most, scattered(pairs.numbers[i]));
  return most >= least;
}

// visit(i, number) for every refused pair, and for at most `most` of a run that is alike.
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
  const auto hand_on = [&](unsigned worker, std::uint64_t slab, const auto& run, auto& own) {
    const RunSummary summary = own.judge(run, judge);
    const JudgedRun judged{run, own.error.data(), own.refused.data(), summary};
    for (PairCollector* collector : collectors) collector->take(worker, slab, judged);
  };
  const bool exact = pairs.use_double();
  // Where they are not, the doubles of a run tell whether it can be taken as such.
  const auto take = [&](unsigned worker, std::uint64_t slab, const PairRun<double>& run) {
    RunJudges& own = judges[worker];
    if (exact || are_doubles(run)) return hand_on(worker, slab, run, own.doubles);
    if (!own.wide) own.wide = std::make_unique<WideRuns>(pairs.actual(), pairs.golden());
    hand_on(worker, slab, own.wide->of(run), own.wide->judge);
  };
  return pairs.walk<double>(take, SparsePairs::gathered);
}

struct MismatchCollector::Kept {
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
  const Kept empty{Best(show_), Best(show_), Best(std::max<std::uint64_t>(show_, 1)),
                   Best(sample_)};
  kept_.assign(workers, empty);
}

template <typename Real>
void MismatchCollector::keep(Kept& kept, const JudgedRun<Real>& run) const {
  if (run.summary.refused == 0) return;
  // Pairs are not looked at one by one for what none of them can change.
  const double error = run.summary.largest_error;
  // The first of equal errors is taken.
  const Placed likeliest{run.pairs.first, error};
  const bool largest = kept.largest.takes(likeliest) || kept.worst_abs.takes(likeliest);
  const bool relative = takes_relative(kept.worst_rel, run);
  const bool first = kept.first.takes({run.pairs.first, 0});
  const bool special = run.summary.special > 0 && kept.special.takes({run.pairs.first, 0});
  if (largest || relative || first || special)
    for_each_refused(
        run, std::max(show_, std::uint64_t{1}), [&](std::uint64_t i, std::uint64_t at) {
          kept.first.add({at, 0});
          if (std::isnan(run.error[i])) return kept.special.add({at, 0});
          kept.largest.add({at, run.error[i]});
          kept.worst_abs.add({at, run.error[i]});
          kept.worst_rel.add({at, error_of(run.pairs.actual[i], run.pairs.golden[i]).rel});
        });
  if (sample_ == 0) return;
  const auto lowest = static_cast<std::uint32_t>(kept.sample.bar());
  if (any_scattered(run.pairs, lowest))
    for_each_refused(run, sample_, [&](std::uint64_t, std::uint64_t at) {
      const Placed placed{at, static_cast<double>(scattered(at))};
      if (kept.sample.takes(placed)) kept.sample.add(placed);
    });
}

void MismatchCollector::take(unsigned worker, std::uint64_t, const JudgedRun<double>& run) {
  keep(kept_[worker], run);
}

void MismatchCollector::take(unsigned worker, std::uint64_t, const JudgedRun<long double>& run) {
  keep(kept_[worker], run);
}

std::vector<std::uint64_t> MismatchCollector::first() const {
  Best all(show_);
  for (const Kept& kept : kept_) all.add(kept.first);
  return numbers_of(all.sorted());
}

std::vector<std::uint64_t> MismatchCollector::largest() const {
  Best all(show_);
  for (const Kept& kept : kept_) all.add(kept.largest);
  if (all.sorted().empty())
    for (const Kept& kept : kept_) all.add(kept.special);
  return numbers_of(all.sorted());
}

template <typename Member>
std::uint64_t MismatchCollector::worst(Member Kept::* which) const {
  Best all(1);
  for (const Kept& kept : kept_) all.add(kept.*which);
  if (all.sorted().empty())
    for (const Kept& kept : kept_) all.add(kept.special);
  return all.sorted().front().at;
}

std::uint64_t MismatchCollector::worst_abs() const { return worst(&Kept::worst_abs); }
std::uint64_t MismatchCollector::worst_rel() const { return worst(&Kept::worst_rel); }

std::vector<std::uint64_t> MismatchCollector::sample() const {
  Best all(sample_);
  for (const Kept& kept : kept_) all.add(kept.sample);
  std::vector<std::uint64_t> numbers = numbers_of(all.sorted());
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace btf
