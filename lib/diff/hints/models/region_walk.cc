#include "diff/hints/models/region_walk.h"

#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

// Calls visit(worker, place, actual, golden) for every pair but those of the background, whose
// number it returns.
template <typename Real, typename Visit>
Result<std::uint64_t> for_each_pair(const PairRows& pairs, unsigned workers, const Axes& axes,
                                    Visit&& visit) {
  std::vector<std::vector<std::uint64_t>> places(workers);
  std::vector<std::uint64_t> background(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    if (run.alike && run.count > 1) {
      background[worker] += run.count;
      return;
    }
    std::vector<std::uint64_t>& at = places[worker];
    axes.place(run.first, at);
    for (std::uint64_t i = 0; i < run.count; ++i, axes.advance(at))
      visit(worker, at, run.actual[i], run.golden[i]);
  }));
  std::uint64_t all = 0;
  for (const std::uint64_t one : background) all += one;
  return all;
}

template <typename Real>
Result<AllCounts> count_all(const Inquiry& inquiry, const Axes& axes) {
  const HintInput& input = inquiry.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<AllCounts> counts(workers, counts_for(axes));
  auto walked = for_each_pair<Real>(
      pairs, workers, axes,
      [&](unsigned worker, std::vector<std::uint64_t>& at, Real actual, Real golden) {
        if (agrees(actual, golden, inquiry.agreement)) return;
        axes.stored(at);
        add_place(at, counts[worker]);
      });
  if (!walked) return std::unexpected(std::move(walked).error());
  for (unsigned worker = 1; worker < workers; ++worker)
    for (std::size_t axis = 0; axis < counts[0].size(); ++axis)
      counts[0][axis].add(counts[worker][axis]);
  return std::move(counts[0]);
}

struct Agreements {
  Agreement own;
  Agreement half;
  Agreement twice;
};

template <typename Real>
void add_pair(Real actual, Real golden, bool inside, const Usual& usual,
              const Agreements& agreements, RegionTally& tally) {
  const Real limit = static_cast<Real>(usual.size);
  const Real size = std::isnan(golden) ? static_cast<Real>(HUGE_VAL) : std::abs(golden);
  ++tally.elements;
  if (inside) ++tally.inside;
  if (golden != 0) ++(inside ? tally.golden_inside : tally.golden_outside);
  if (size >= limit) ++tally.large;
  if (size >= limit && inside) ++tally.large_inside;
  const bool busy = golden != 0 || actual != 0;
  if (busy) ++tally.busy;
  if (busy && inside) ++tally.busy_inside;
  // Zeros are not like small numbers: noise may leave them alone.
  const bool small = size <= limit && (golden != 0 || limit == 0);
  if (small) ++tally.small;
  if (small && inside) ++tally.small_inside;
  if (!usual.like.empty() &&
      std::ranges::binary_search(usual.like, static_cast<long double>(golden))) {
    ++tally.like;
    if (inside) ++tally.like_inside;
  }
  if (agrees(actual, golden, agreements.own)) {
    if (!inside && !agrees(actual, golden, agreements.half)) ++tally.just_outside;
    return;
  }
  ++tally.mismatched;
  if (agrees(actual, golden, agreements.twice)) ++tally.just_refused;
  if (!inside) ++tally.outside;
  if (actual == 0) ++tally.actual_zero;
  if (std::isnan(actual)) ++tally.actual_nan;
}

// How many elements the region has.
std::uint64_t size_of(const Axes& axes, const std::vector<Part>& parts) {
  std::vector<std::uint64_t> counts(
      axes.sizes().begin(), axes.sizes().begin() + static_cast<std::ptrdiff_t>(axes.rank()));
  std::uint64_t size = 1;
  for (const Part& part : parts) {
    const std::uint64_t count = part.set.count(axes.sizes()[part.axis]);
    if (!axes.is_dim(part.axis)) return count;
    counts[part.axis] = count;
  }
  for (const std::uint64_t count : counts) size *= count;
  return size;
}

// How many zeros that stand nowhere are inside follows from the others.
void add_background(std::uint64_t background, std::uint64_t size, const Usual& usual,
                    RegionTally& tally) {
  const std::uint64_t inside = size - tally.inside;
  tally.elements += background;
  tally.background = background;
  tally.inside = size;
  if (std::ranges::binary_search(usual.like, 0.0L)) {
    tally.like += background;
    tally.like_inside += inside;
  }
  if (usual.size > 0) return;
  tally.large += background;
  tally.large_inside += inside;
  tally.small += background;
  tally.small_inside += inside;
}

template <typename Real>
Result<RegionTally> look_at_all(const Inquiry& inquiry, const Axes& axes,
                                const std::vector<Part>& parts, const Usual& usual) {
  const HintInput& input = inquiry.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  const bool stored = std::ranges::any_of(
      parts, [&](const Part& part) { return part.axis + 1 == axes.sizes().size(); });
  const Agreements agreements{inquiry.agreement, widened(inquiry.agreement, 0.5),
                              widened(inquiry.agreement, 2)};
  std::vector<RegionTally> tallies(workers);
  BTF_ASSIGN(const std::uint64_t background,
             for_each_pair<Real>(
                 pairs, workers, axes,
                 [&](unsigned worker, std::vector<std::uint64_t>& at, Real actual, Real golden) {
                   if (stored) axes.stored(at);
                   bool inside = true;
                   for (const Part& part : parts) inside = inside && part.set.holds(at[part.axis]);
                   add_pair(actual, golden, inside, usual, agreements, tallies[worker]);
                 }));
  RegionTally all;
  for (const RegionTally& one : tallies) all.add(one);
  if (background > 0) add_background(background, size_of(axes, parts), usual, all);
  return all;
}

}  // namespace

void RegionTally::add(const RegionTally& other) {
  elements += other.elements;
  background += other.background;
  inside += other.inside;
  mismatched += other.mismatched;
  outside += other.outside;
  just_outside += other.just_outside;
  just_refused += other.just_refused;
  golden_inside += other.golden_inside;
  golden_outside += other.golden_outside;
  actual_zero += other.actual_zero;
  actual_nan += other.actual_nan;
  large += other.large;
  large_inside += other.large_inside;
  small += other.small;
  small_inside += other.small_inside;
  busy += other.busy;
  busy_inside += other.busy_inside;
  like += other.like;
  like_inside += other.like_inside;
}

Result<AllCounts> count_mismatches(const Inquiry& inquiry, const Axes& axes) {
  const HintInput& input = inquiry.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? count_all<double>(inquiry, axes)
             : count_all<long double>(inquiry, axes);
}

Result<RegionTally> look_inside(const Inquiry& inquiry, const Axes& axes,
                                const std::vector<Part>& parts, const Usual& usual) {
  const HintInput& input = inquiry.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? look_at_all<double>(inquiry, axes, parts, usual)
             : look_at_all<long double>(inquiry, axes, parts, usual);
}

}  // namespace btf::hints
