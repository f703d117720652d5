#include "diff/hints/models/region_walk.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "btf/try.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

// Calls visit(worker, place, run, i) for every pair but those of the background, whose number it
// returns.
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
      visit(worker, at, run, i);
  }));
  std::uint64_t all = 0;
  for (const std::uint64_t one : background) all += one;
  return all;
}

template <typename Real>
Result<AllCounts> count_all(const Inquiry& inquiry, const Axes& axes, MismatchKind kind) {
  const HintInput& input = inquiry.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<AllCounts> counts(workers, counts_for(axes));
  auto walked = for_each_pair<Real>(
      pairs, workers, axes,
      [&](unsigned worker, std::vector<std::uint64_t>& at, const PairRun<Real>& run,
          std::uint64_t i) {
        if (kind_of(run.actual[i], run.golden[i]) != kind ||
            agrees(run.actual[i], run.golden[i], inquiry.agreement))
          return;
        axes.stored(at);
        add_place(at, counts[worker]);
      });
  if (!walked) return std::unexpected(std::move(walked).error());
  for (unsigned worker = 1; worker < workers; ++worker)
    for (std::size_t axis = 0; axis < counts[0].size(); ++axis)
      counts[0][axis].add(counts[worker][axis]);
  return std::move(counts[0]);
}

bool is_inside(const std::vector<Part>& parts, const std::vector<std::uint64_t>& at) {
  return std::ranges::all_of(parts,
                             [&](const Part& part) { return part.set.holds(at[part.axis]); });
}

struct Agreements {
  Agreement own;
  Agreement half;
  Agreement twice;
};

template <typename Real>
void add_pair(Real actual, Real golden, bool inside, const Usual& usual,
              const Agreements& agreements, MismatchKind kind, RegionTally& tally) {
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
  if (inside) {
    if (actual == 0) ++tally.zero_inside;
    if (std::isnan(actual)) ++tally.nan_inside;
    if (std::isinf(actual)) ++tally.inf_inside;
  }
  if (agrees(actual, golden, agreements.own)) {
    if (!inside && !agrees(actual, golden, agreements.half)) ++tally.just_outside;
    return;
  }
  ++tally.kinds[static_cast<std::size_t>(kind_of(actual, golden))];
  if (kind_of(actual, golden) != kind) return;
  ++tally.mismatched;
  if (agrees(actual, golden, agreements.twice)) ++tally.just_refused;
  if (!inside) ++tally.outside;
  if (std::isnan(actual)) ++tally.actual_nan;
  if (std::isinf(actual)) ++tally.actual_inf;
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
  tally.zero_inside += inside;
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
                                const std::vector<Part>& parts, const Usual& usual,
                                MismatchKind kind) {
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
                 [&](unsigned worker, std::vector<std::uint64_t>& at, const PairRun<Real>& run,
                     std::uint64_t i) {
                   if (stored) axes.stored(at);
                   add_pair(run.actual[i], run.golden[i], is_inside(parts, at), usual, agreements,
                            kind, tallies[worker]);
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
  for (std::size_t k = 0; k < kinds.size(); ++k) kinds[k] += other.kinds[k];
  zero_inside += other.zero_inside;
  nan_inside += other.nan_inside;
  inf_inside += other.inf_inside;
  actual_nan += other.actual_nan;
  actual_inf += other.actual_inf;
  large += other.large;
  large_inside += other.large_inside;
  small += other.small;
  small_inside += other.small_inside;
  busy += other.busy;
  busy_inside += other.busy_inside;
  like += other.like;
  like_inside += other.like_inside;
}

Result<AllCounts> count_mismatches(const Inquiry& inquiry, const Axes& axes, MismatchKind kind) {
  const HintInput& input = inquiry.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? count_all<double>(inquiry, axes, kind)
             : count_all<long double>(inquiry, axes, kind);
}

Result<RegionTally> look_inside(const Inquiry& inquiry, const Axes& axes,
                                const std::vector<Part>& parts, const Usual& usual,
                                MismatchKind kind) {
  const HintInput& input = inquiry.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? look_at_all<double>(inquiry, axes, parts, usual, kind)
             : look_at_all<long double>(inquiry, axes, parts, usual, kind);
}

Result<std::optional<RegionTensors>> region_tensors(const Inquiry& inquiry, const Axes& axes,
                                                    const std::vector<Part>& parts) {
  constexpr std::uint64_t kMostElements = 1U << 20;
  const HintInput& input = inquiry.input;
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  const bool by_dims = std::ranges::all_of(parts, [&](const Part& p) { return axes.is_dim(p.axis); });
  const bool stored = !by_dims && parts[0].axis + 1 == axes.sizes().size();
  const std::uint64_t count = size_of(axes, parts);
  // Behind some stored positions there is padding.
  if (count > kMostElements || (stored && axes.sizes().back() != inquiry.elements))
    return std::nullopt;
  RegionTensors region;
  if (by_dims) {
    region.dims.assign(axes.sizes().begin(),
                       axes.sizes().begin() + static_cast<std::ptrdiff_t>(axes.rank()));
    for (const Part& part : parts)
      region.dims[part.axis] = part.set.count(axes.sizes()[part.axis]);
  } else {
    region.dims = {count};
  }
  const std::uint64_t actual_bytes = info(input.actual.dtype()).buffer_bytes();
  const std::uint64_t golden_bytes = info(input.golden.dtype()).buffer_bytes();
  region.actual.resize(count * actual_bytes);
  region.golden.resize(count * golden_bytes);
  const auto place = [&](const std::vector<std::uint64_t>& at) {
    if (!by_dims) return parts[0].set.rank(at[parts[0].axis]);
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < axes.rank(); ++d) {
      const auto part = std::ranges::find(parts, d, &Part::axis);
      number = number * region.dims[d] + (part == parts.end() ? at[d] : part->set.rank(at[d]));
    }
    return number;
  };
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  auto walked = for_each_pair<double>(
      pairs, workers, axes,
      [&](unsigned, std::vector<std::uint64_t>& at, const PairRun<double>& run, std::uint64_t i) {
        if (stored) axes.stored(at);
        if (!is_inside(parts, at)) return;
        const std::uint64_t to = place(at);
        std::memcpy(region.actual.data() + to * actual_bytes, run.actual_codes + i * actual_bytes,
                    actual_bytes);
        std::memcpy(region.golden.data() + to * golden_bytes, run.golden_codes + i * golden_bytes,
                    golden_bytes);
      });
  if (!walked) return std::unexpected(std::move(walked).error());
  return region;
}

}  // namespace btf::hints
