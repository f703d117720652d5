#include "diff/hints/models/regions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "btf/try.h"
#include "core/numbers.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kLongest = 1U << 14;  // axes up to this size are counted index by index
constexpr std::uint64_t kRemainders =
    4096;  // for longer axes; the periods considered are its divisors
constexpr std::uint64_t kLongestPeriod = 512;
constexpr std::uint64_t kMinPlaces = 3;  // of a period
constexpr std::size_t kMaxPlaces = 8;    // listed one by one
constexpr std::uint64_t kMaxBits = 1U << 22;

// -log2 of the chance that `count` random points are all in `ranges` ranges with this share of the
// axis that were chosen to contain them: about count^2 * share^(count - 1) for a single range, and
// correspondingly for several.
double surprise(std::uint64_t count, double share, double choices, std::size_t ranges = 1) {
  if (share >= 1 || count <= ranges) return 0;
  const auto n = static_cast<double>(count);
  const auto m = static_cast<double>(ranges);
  return std::max(0.0, (n - m) * -std::log2(share) - 2 * m * std::log2(n) - std::log2(choices));
}

std::uint64_t length(const IndexRange& range) { return range.high - range.low + 1; }

// "17" or "8..15"
std::string range_text(const IndexRange& range) {
  return range.low == range.high ? std::to_string(range.low)
                                 : std::to_string(range.low) + ".." + std::to_string(range.high);
}

}  // namespace

bool IndexSet::holds(std::uint64_t index) const {
  const std::uint64_t at = period == 0 ? index : index % period;
  return std::ranges::any_of(
      ranges, [&](const IndexRange& range) { return at >= range.low && at <= range.high; });
}

std::uint64_t IndexSet::rank(std::uint64_t index) const {
  if (period != 0) return index / period * length(ranges[0]) + index % period - ranges[0].low;
  std::uint64_t before = 0;
  for (const IndexRange& range : ranges) {
    if (index <= range.high) return before + index - range.low;
    before += length(range);
  }
  return before;
}

std::uint64_t IndexSet::count(std::uint64_t size) const {
  std::uint64_t all = 0;
  if (period == 0) {
    for (const IndexRange& range : ranges) all += length(range);
    return all;
  }
  const auto& [low, high] = ranges[0];
  const std::uint64_t rest = size % period;
  const std::uint64_t in_rest = rest <= low ? 0 : std::min(rest, high + 1) - low;
  return size / period * (high - low + 1) + in_rest;
}

std::string IndexSet::text(std::uint64_t size) const {
  const std::string start = period == 0 ? "" : "% " + std::to_string(period) + " ";
  if (ranges.size() > 1) {
    const bool single = std::ranges::all_of(
        ranges, [](const IndexRange& range) { return range.low == range.high; });
    std::string list = single ? "= " : "in ";
    for (std::size_t i = 0; i < ranges.size(); ++i)
      list += (i == 0 ? "" : i + 1 < ranges.size() ? ", " : " or ") + range_text(ranges[i]);
    return list;
  }
  const auto& [low, high] = ranges[0];
  const std::uint64_t last = (period == 0 ? size : period) - 1;
  if (low == high) return start + (period == 0 ? "= " : "== ") + std::to_string(low);
  if (high == last) return start + ">= " + std::to_string(low);
  if (low == 0) return start + "< " + std::to_string(high + 1);
  return start + "in " + range_text(ranges[0]);
}

AxisCounts::AxisCounts(std::uint64_t size, bool single)
    : size_(size), single_(single), by_index_(size <= kLongest ? size : kRemainders) {
  if (whole()) return;
  parts_.assign(kLongest, {.low = UINT64_MAX, .high = 0});
  if (!single && size <= kMaxBits) hit_.assign(size / 64 + 1, 0);
}

std::uint64_t AxisCounts::part_of(std::uint64_t index) const {
  return index / (size_ / parts_.size() + 1);
}

void AxisCounts::add(std::uint64_t index, std::uint64_t count) {
  total_ += count;
  least_ = std::min(least_, index);
  most_ = std::max(most_, index);
  by_index_[index < by_index_.size() ? index : index % by_index_.size()] += count;
  if (parts_.empty()) return;
  IndexRange& part = parts_[part_of(index)];
  part.low = std::min(part.low, index);
  part.high = std::max(part.high, index);
  if (!hit_.empty()) hit_[index / 64] |= std::uint64_t{1} << index % 64;
}

void AxisCounts::add(const AxisCounts& other) {
  total_ += other.total_;
  least_ = std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
  for (std::size_t i = 0; i < by_index_.size(); ++i) by_index_[i] += other.by_index_[i];
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i].low = std::min(parts_[i].low, other.parts_[i].low);
    parts_[i].high = std::max(parts_[i].high, other.parts_[i].high);
  }
  for (std::size_t i = 0; i < hit_.size(); ++i) hit_[i] |= other.hit_[i];
}

// Where mismatches are. On a long axis, gaps too short to be seen are included.
std::vector<IndexRange> AxisCounts::hit_ranges() const {
  std::vector<IndexRange> ranges;
  const auto take = [&](const IndexRange& hit) {
    if (!ranges.empty() && ranges.back().high + 1 == hit.low)
      ranges.back().high = hit.high;
    else
      ranges.push_back(hit);
  };
  if (whole()) {
    for (std::uint64_t i = 0; i < by_index_.size(); ++i)
      if (by_index_[i] != 0) take({i, i});
  } else {
    for (const IndexRange& part : parts_)
      if (part.low <= part.high) take(part);
  }
  return ranges;
}

// How many indices have mismatches; 0 if unknown.
std::uint64_t AxisCounts::hit_indices() const {
  if (single_) return total_;
  std::uint64_t count = 0;
  if (whole())
    for (const std::uint64_t at : by_index_) count += at != 0 ? 1 : 0;
  for (const std::uint64_t word : hit_) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

SurprisingSet AxisCounts::interval() const {
  const IndexSet set{0, {{least_, most_}}};
  const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
  return {set, surprise(total_, share, 1)};
}

// Some separate places, split at the widest gaps first.
SurprisingSet AxisCounts::places() const {
  SurprisingSet best;
  const std::vector<IndexRange> hit = hit_ranges();
  std::vector<std::size_t> gaps;  // indices of the ranges after each gap
  for (std::size_t i = 1; i < hit.size(); ++i) gaps.push_back(i);
  const auto width = [&](std::size_t i) { return hit[i].low - hit[i - 1].high; };
  const std::size_t most = std::min(gaps.size(), kMaxPlaces - 1);
  std::ranges::partial_sort(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(most),
                            std::ranges::greater{}, width);
  for (std::size_t count = 1; count <= most; ++count) {
    std::vector<std::size_t> starts(gaps.begin(),
                                    gaps.begin() + static_cast<std::ptrdiff_t>(count));
    std::ranges::sort(starts);
    IndexSet set{0, {{hit.front().low, 0}}};
    for (const std::size_t i : starts) {
      set.ranges.back().high = hit[i - 1].high;
      set.ranges.push_back({hit[i].low, 0});
    }
    set.ranges.back().high = hit.back().high;
    const double share = static_cast<double>(set.count(size_)) / static_cast<double>(size_);
    const double bits = surprise(total_, share, 1, set.ranges.size());
    if (bits > best.bits * 1.01) best = {std::move(set), bits};
  }
  return best;
}

SurprisingSet AxisCounts::periodic(CountScope scope) const {
  SurprisingSet best;
  const std::uint64_t hits = hit_indices();
  for (std::uint64_t period = 2; period <= std::min(kLongestPeriod, size_ / 2); ++period) {
    if (!whole() && by_index_.size() % period != 0) continue;
    // Within a single period it is an interval.
    if (least_ / period == most_ / period) continue;
    const auto hit = [&](std::uint64_t remainder) {
      for (std::uint64_t i = remainder; i < by_index_.size(); i += period)
        if (by_index_[i] != 0) return true;
      return false;
    };
    // Some remainder is hit, at least that of least_.
    std::uint64_t low = 0;
    while (!hit(low)) ++low;
    std::uint64_t high = period - 1;
    while (!hit(high)) --high;
    const IndexSet set{period, {{low, high}}};
    const std::uint64_t count = set.count(size_);
    const std::uint64_t places = (size_ - low + period - 1) / period;
    if (places < kMinPlaces || (scope == CountScope::all && count != hits)) continue;
    const double share = static_cast<double>(count) / static_cast<double>(size_);
    // A longer period must be clearly better, since its divisors say the same more simply.
    const double bits = surprise(total_, share, static_cast<double>(kLongestPeriod));
    if (bits > best.bits * 1.01) best = {set, bits};
  }
  return best;
}

SurprisingSet AxisCounts::tightest(CountScope scope) const {
  if (total_ == 0 || size_ < 2) return {{0, {{0, size_ == 0 ? 0 : size_ - 1}}}, 0};
  SurprisingSet best = interval();
  for (SurprisingSet other : {periodic(scope), places()})
    if (other.bits > best.bits * 1.01) best = std::move(other);
  return best;
}

namespace {

constexpr double kMinPartBits = 20;  // of each part that is reported
constexpr std::size_t kMaxParts = 3;

}  // namespace

Axes::Axes(const HintInput& input) : dims_(input.golden.dims()), stored_(input.actual.storage()) {
  sizes_.assign(dims_.begin(), dims_.end());
  sizes_.push_back(*element_count(dims_));
  if (stored_ != nullptr) sizes_.push_back(stored_->storage_elements);
}

std::string Axes::name(std::size_t axis) const {
  if (is_dim(axis)) return dim_text(static_cast<std::uint32_t>(axis), rank());
  return axis == rank() ? "element number" : "stored position";
}

void Axes::place(std::uint64_t number, std::vector<std::uint64_t>& at) const {
  at.resize(sizes_.size());
  at[rank()] = number;
  for (std::size_t d = rank(); d-- > 0; number /= dims_[d]) at[d] = number % dims_[d];
}

void Axes::advance(std::vector<std::uint64_t>& at) const {
  ++at[rank()];
  for (std::size_t d = rank(); d-- > 0;) {
    if (++at[d] < dims_[d]) return;
    at[d] = 0;
  }
}

void Axes::stored(std::vector<std::uint64_t>& at) const {
  if (stored_ != nullptr) at.back() = offset(*stored_, std::span(at).first(rank()));
}

AllCounts counts_for(const Axes& axes) {
  AllCounts counts;
  const std::uint64_t elements = axes.sizes()[axes.rank()];
  for (std::size_t axis = 0; axis < axes.sizes().size(); ++axis) {
    const std::uint64_t size = axes.sizes()[axis];
    counts.emplace_back(size, !axes.is_dim(axis) || size == elements);
  }
  return counts;
}

void add_place(const std::vector<std::uint64_t>& at, AllCounts& counts) {
  for (std::size_t axis = 0; axis < at.size(); ++axis) counts[axis].add(at[axis]);
}

std::vector<Part> surprising_parts(const Axes& axes, const AllCounts& counts, CountScope scope) {
  std::vector<Part> parts;
  double bits = 0;
  for (std::size_t d = 0; d < axes.rank(); ++d) {
    const SurprisingSet found = counts[d].tightest(scope);
    if (found.bits < kMinPartBits) continue;
    parts.push_back({d, found.set, found.bits});
    bits += found.bits;
  }
  std::ranges::stable_sort(parts, std::greater{}, &Part::bits);
  for (std::size_t axis = axes.rank(); axis < counts.size(); ++axis) {
    const SurprisingSet found = counts[axis].tightest(scope);
    if (found.bits <= 1.1 * bits || found.bits < kNeededBits) continue;
    parts = {{axis, found.set, found.bits}};
    bits = found.bits;
  }
  if (bits < kNeededBits) parts.clear();
  if (parts.size() > kMaxParts) parts.resize(kMaxParts);
  return parts;
}

std::string parts_text(const Axes& axes, const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    text += (text.empty() ? "" : " and ") + axes.name(part.axis) + " " +
            part.set.text(axes.sizes()[part.axis]);
  return text;
}

namespace {

// Calls visit(worker, place, run, i) for every pair but those that neither COO tensor stores, whose
// number is returned.
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
    for (std::uint64_t i = 0; i < run.count; ++i, axes.advance(at)) visit(worker, at, run, i);
  }));
  std::uint64_t all = 0;
  for (const std::uint64_t one : background) all += one;
  return all;
}

template <typename Real>
Result<AllCounts> count_all(const SearchContext& context, const Axes& axes, MismatchKind kind) {
  const HintInput& input = context.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<AllCounts> counts(workers, counts_for(axes));
  auto walked = for_each_pair<Real>(pairs, workers, axes,
                                    [&](unsigned worker, std::vector<std::uint64_t>& at,
                                        const PairRun<Real>& run, std::uint64_t i) {
                                      if (kind_of(run.actual[i], run.golden[i]) != kind ||
                                          agrees(run.actual[i], run.golden[i], context.agreement))
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
void add_pair(Real actual, Real golden, bool inside, const Reference& usual,
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
  // Zeros are not counted with small numbers, since noise may leave them unchanged.
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

// The number of elements in the region.
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

// Adds the elements that neither COO tensor stores; how many of them are inside follows from the
// other counts.
void add_background(std::uint64_t background, std::uint64_t size, const Reference& usual,
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
Result<RegionTally> look_at_all(const SearchContext& context, const Axes& axes,
                                const std::vector<Part>& parts, const Reference& usual,
                                MismatchKind kind) {
  const HintInput& input = context.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  const bool stored = std::ranges::any_of(
      parts, [&](const Part& part) { return part.axis + 1 == axes.sizes().size(); });
  const Agreements agreements{context.agreement, widened(context.agreement, 0.5),
                              widened(context.agreement, 2)};
  std::vector<RegionTally> tallies(workers);
  BTF_ASSIGN(const std::uint64_t background,
             for_each_pair<Real>(pairs, workers, axes,
                                 [&](unsigned worker, std::vector<std::uint64_t>& at,
                                     const PairRun<Real>& run, std::uint64_t i) {
                                   if (stored) axes.stored(at);
                                   add_pair(run.actual[i], run.golden[i], is_inside(parts, at),
                                            usual, agreements, kind, tallies[worker]);
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

Result<AllCounts> count_mismatches(const SearchContext& context, const Axes& axes,
                                   MismatchKind kind) {
  const HintInput& input = context.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? count_all<double>(context, axes, kind)
             : count_all<long double>(context, axes, kind);
}

Result<RegionTally> look_inside(const SearchContext& context, const Axes& axes,
                                const std::vector<Part>& parts, const Reference& usual,
                                MismatchKind kind) {
  const HintInput& input = context.input;
  return PairRows(input.actual, input.golden, input.execution).use_double()
             ? look_at_all<double>(context, axes, parts, usual, kind)
             : look_at_all<long double>(context, axes, parts, usual, kind);
}

Result<std::optional<RegionTensors>> region_tensors(const SearchContext& context, const Axes& axes,
                                                    const std::vector<Part>& parts) {
  constexpr std::uint64_t kMaxElements = 1U << 20;
  const HintInput& input = context.input;
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  const bool by_dims =
      std::ranges::all_of(parts, [&](const Part& p) { return axes.is_dim(p.axis); });
  const bool stored = !by_dims && parts[0].axis + 1 == axes.sizes().size();
  const std::uint64_t count = size_of(axes, parts);
  // Some stored positions are padding.
  if (count > kMaxElements || (stored && axes.sizes().back() != context.elements))
    return std::nullopt;
  RegionTensors region;
  if (by_dims) {
    region.dims.assign(axes.sizes().begin(),
                       axes.sizes().begin() + static_cast<std::ptrdiff_t>(axes.rank()));
    for (const Part& part : parts) region.dims[part.axis] = part.set.count(axes.sizes()[part.axis]);
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
