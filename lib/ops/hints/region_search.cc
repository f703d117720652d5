// All mismatches in one part of the tensor: a channel, a row, a tile, some lanes of every block.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/try.h"
#include "kernels/widen.h"
#include "ops/hints/index_set.h"
#include "ops/hints/searches.h"
#include "ops/hints/significance.h"
#include "ops/hints/wording.h"
#include "ops/pair_rows.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kLeast = 8;    // mismatches
constexpr double kLeastPartBits = 20;  // of each axis that is named
constexpr std::size_t kMostParts = 3;
constexpr double kStaleShare = 0.01;  // of golden's numbers elsewhere

// The axes along which mismatches are counted: the dims, the row-major number, and the position in
// actual's stored array.
class Axes {
 public:
  explicit Axes(const HintInput& input)
      : dims_(input.golden.dims()), stored_(input.actual.storage()) {
    elements_ = 1;
    for (const std::uint64_t dim : dims_) elements_ *= dim;
    for (const std::uint64_t dim : dims_) sizes_.push_back(dim);
    sizes_.push_back(elements_);
    if (stored_ != nullptr) sizes_.push_back(stored_->storage_elements);
  }

  const std::vector<std::uint64_t>& sizes() const { return sizes_; }
  std::size_t rank() const { return dims_.size(); }

  void positions(std::uint64_t number, std::vector<std::uint64_t>& out) const {
    out.resize(sizes_.size());
    std::uint64_t rest = number;
    for (std::size_t d = dims_.size(); d-- > 0; rest /= dims_[d]) out[d] = rest % dims_[d];
    out[dims_.size()] = number;
    if (stored_ != nullptr) out.back() = offset(*stored_, std::span(out).first(dims_.size()));
  }

  std::string name(std::size_t axis) const {
    if (axis < dims_.size()) return dim_text(static_cast<std::uint32_t>(axis), dims_.size());
    return axis == dims_.size() ? "element number" : "stored position";
  }

 private:
  const Dims& dims_;
  const Resolved* stored_;
  std::uint64_t elements_ = 0;
  std::vector<std::uint64_t> sizes_;
};

struct Part {
  std::size_t axis = 0;
  IndexSet set;
  double bits = 0;
};

using Counts = std::vector<AxisCounts>;

Counts counts_for(const Axes& axes) {
  Counts counts;
  for (const std::uint64_t size : axes.sizes()) counts.emplace_back(size);
  return counts;
}

// The dims together, or one of the other orders if that says clearly more. Most telling part first;
// empty if it could be chance.
std::vector<Part> surprising_parts(const Axes& axes, const Counts& counts) {
  std::vector<Part> parts;
  double bits = 0;
  for (std::size_t d = 0; d < axes.rank(); ++d) {
    const SurprisingSet found = counts[d].tightest();
    if (found.bits < kLeastPartBits) continue;
    parts.push_back({d, found.set, found.bits});
    bits += found.bits;
  }
  std::ranges::stable_sort(parts, std::greater{}, &Part::bits);
  for (std::size_t axis = axes.rank(); axis < counts.size(); ++axis) {
    const SurprisingSet found = counts[axis].tightest();
    if (found.bits <= 1.1 * bits || found.bits < kNeededBits) continue;
    parts = {{axis, found.set, found.bits}};
    bits = found.bits;
  }
  if (bits < kNeededBits) parts.clear();
  if (parts.size() > kMostParts) parts.resize(kMostParts);
  return parts;
}

struct RegionTally {
  std::uint64_t mismatched = 0;
  std::uint64_t outside = 0;         // mismatches, which should be none
  std::uint64_t inside = 0;          // elements
  std::uint64_t golden_inside = 0;   // not 0
  std::uint64_t golden_outside = 0;  // likewise
  std::uint64_t actual_zero = 0;     // of the mismatches
  std::uint64_t actual_nan = 0;
  std::uint64_t elements = 0;
  std::uint64_t background = 0;  // of these, what two COO tensors do not store
  // Elements whose golden is no smaller, and no larger, than that of a usual mismatch: all, and
  // those inside.
  std::uint64_t large = 0;
  std::uint64_t large_inside = 0;
  std::uint64_t small = 0;
  std::uint64_t small_inside = 0;

  void add(const RegionTally& other) {
    mismatched += other.mismatched;
    outside += other.outside;
    inside += other.inside;
    golden_inside += other.golden_inside;
    golden_outside += other.golden_outside;
    actual_zero += other.actual_zero;
    actual_nan += other.actual_nan;
    elements += other.elements;
    background += other.background;
    large += other.large;
    large_inside += other.large_inside;
    small += other.small;
    small_inside += other.small_inside;
  }
};

long double size_of(long double value) { return std::isnan(value) ? HUGE_VALL : std::abs(value); }

template <typename Value>
long double median_size(const std::vector<Point>& points, Value&& value) {
  std::vector<long double> sizes;
  for (const Point& point : points) sizes.push_back(size_of(value(point)));
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::ranges::nth_element(sizes, middle);
  return sizes.empty() ? 0 : *middle;
}

// What two COO tensors do not store must not mismatch, as it does where one dtype has no zero.
bool zeros_agree(const HintInput& input) {
  return input.actual.storage() != nullptr || input.golden.storage() != nullptr ||
         accepts(value_of(input.actual.dtype(), 0), value_of(input.golden.dtype(), 0), input.judge);
}

// Two walks over all pairs: where mismatches are, and what else is there.
template <typename Real>
class RegionWalk {
 public:
  explicit RegionWalk(const HintInput& input)
      : input_(input), axes_(input), pairs_(input.actual, input.golden, input.execution) {}

  Result<Counts> count() const {
    BTF_ASSIGN(const unsigned workers, pairs_.workers());
    std::vector<Counts> counts(workers, counts_for(axes_));
    std::vector<std::vector<std::uint64_t>> at(workers);
    BTF_TRY(walk(
        [&](unsigned worker, std::uint64_t number, Real actual, Real golden, std::uint64_t weight) {
          if (accepts(actual, golden, input_.judge)) return;
          // What two COO tensors do not store is alike and does not mismatch.
          for (std::uint64_t i = 0; i < weight; ++i) {
            axes_.positions(number + i, at[worker]);
            for (std::size_t axis = 0; axis < at[worker].size(); ++axis)
              counts[worker][axis].add(at[worker][axis]);
          }
        }));
    for (unsigned worker = 1; worker < workers; ++worker)
      for (std::size_t axis = 0; axis < counts[0].size(); ++axis)
        counts[0][axis].add(counts[worker][axis]);
    return std::move(counts[0]);
  }

  Result<RegionTally> look_inside(const std::vector<Part>& parts, Real usual) const {
    BTF_ASSIGN(const unsigned workers, pairs_.workers());
    std::vector<RegionTally> tallies(workers);
    std::vector<std::vector<std::uint64_t>> at(workers);
    BTF_TRY(walk(
        [&](unsigned worker, std::uint64_t number, Real actual, Real golden, std::uint64_t weight) {
          RegionTally& tally = tallies[worker];
          axes_.positions(number, at[worker]);
          const bool inside = std::ranges::all_of(
              parts, [&](const Part& part) { return part.set.holds(at[worker][part.axis]); });
          const Real size = std::isnan(golden) ? static_cast<Real>(HUGE_VAL) : std::abs(golden);
          tally.elements += weight;
          if (inside) tally.inside += weight;
          if (golden != 0) (inside ? tally.golden_inside : tally.golden_outside) += weight;
          if (size >= usual) tally.large += weight;
          if (size >= usual && inside) tally.large_inside += weight;
          if (size <= usual) tally.small += weight;
          if (size <= usual && inside) tally.small_inside += weight;
          if (accepts(actual, golden, input_.judge)) return;
          tally.mismatched += weight;
          if (!inside) tally.outside += weight;
          if (actual == 0) tally.actual_zero += weight;
          if (std::isnan(actual)) tally.actual_nan += weight;
        }));
    RegionTally all;
    for (const RegionTally& one : tallies) all.add(one);
    return all;
  }

 private:
  template <typename Visit>
  Status walk(Visit&& visit) const {
    return pairs_.template walk<Real>(
        [&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
          for (std::uint64_t i = 0; i < run.values(); ++i)
            visit(worker, run.first + i, run.actual[i], run.golden[i], run.alike ? run.count : 1);
        });
  }

  // Zeros that stand nowhere: how many of them are inside follows from the others.
  void add_background(const std::vector<Part>& parts, Real usual, RegionTally& all) const {
    std::uint64_t inside = 1;
    std::vector<bool> named(axes_.sizes().size());
    for (const Part& part : parts) {
      inside *= part.set.count(axes_.sizes()[part.axis]);
      named[part.axis] = true;
    }
    for (std::size_t d = 0; d < axes_.rank() && !named[axes_.rank()]; ++d)
      if (!named[d]) inside *= axes_.sizes()[d];
    const std::uint64_t among = inside - all.inside;
    all.inside = inside;
    if (usual <= 0) {
      all.large += all.background;
      all.large_inside += among;
    }
    all.small += all.background;
    all.small_inside += among;
  }

  const HintInput& input_;
  Axes axes_;
  PairRows pairs_;
};

// Mismatches may be where golden is large, or small, as noise has it; there must be others like
// that outside.
bool not_by_size(const RegionTally& tally) {
  const auto bits = [&](std::uint64_t all, std::uint64_t inside) {
    if (all == 0 || inside == 0) return 0.0;
    return static_cast<double>(tally.mismatched) *
           std::log2(static_cast<double>(all) / static_cast<double>(inside));
  };
  return std::min(bits(tally.large, tally.large_inside), bits(tally.small, tally.small_inside)) >=
         kNeededBits;
}

bool is_padding(const Axes& axes, const std::vector<Part>& parts, const RegionTally& tally,
                const Sample& sample) {
  if (parts.size() != 1 || parts[0].axis >= axes.rank() || tally.golden_inside != 0) return false;
  const IndexSet& set = parts[0].set;
  const std::uint64_t end = set.period == 0 ? axes.sizes()[parts[0].axis] : set.period;
  if (set.high != end - 1 || set.low == 0) return false;
  if (2 * tally.golden_outside < tally.elements - tally.inside) return false;
  std::vector<Point> others;
  std::ranges::copy_if(sample.anywhere, std::back_inserter(others),
                       [](const Point& p) { return p.golden != 0; });
  const long double stale = median_size(sample.mismatches, [](const Point& p) { return p.actual; });
  const long double usual = median_size(others, [](const Point& p) { return p.golden; });
  return stale >= kStaleShare * usual;
}

std::string parts_text(const Axes& axes, const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts)
    text += (text.empty() ? "" : " and ") + axes.name(part.axis) + " " +
            part.set.text(axes.sizes()[part.axis]);
  return text;
}

template <typename Real>
SearchResult search(const HintInput& input, const Sample& sample, const std::vector<Part>& seen) {
  const Axes axes(input);
  const RegionWalk<Real> walk(input);
  std::vector<Part> parts = seen;
  if (input.mismatched > sample.mismatches.size()) {
    BTF_ASSIGN(const Counts counts, walk.count());
    parts = surprising_parts(axes, counts);
  }
  if (parts.empty()) return std::nullopt;
  const long double usual = median_size(sample.mismatches, [](const Point& p) { return p.golden; });
  BTF_ASSIGN(const RegionTally all, walk.look_inside(parts, static_cast<Real>(usual)));
  if (all.outside != 0 || all.mismatched < kLeast) return std::nullopt;
  const std::string where = mismatches_text(all.mismatched) + " have " + parts_text(axes, parts);
  if (is_padding(axes, parts, all, sample))
    return Finding{
        {Cause::stale_padding,
         "all " + where + ", where golden is 0 throughout: padding that was not cleared"},
        0};
  if (!not_by_size(all)) return std::nullopt;
  const std::string what = all.actual_zero == all.mismatched  ? "; actual is 0 there"
                           : all.actual_nan == all.mismatched ? "; actual is NaN there"
                                                              : "";
  return Finding{{Cause::region, "all " + where + " (" + std::to_string(all.inside) +
                                     (all.inside == 1 ? " element)" : " elements)") + what},
                 0};
}

}  // namespace

SearchResult find_region(const HintInput& input, const Sample& sample) {
  if (sample.mismatches.size() < kLeast || !zeros_agree(input)) return std::nullopt;
  const Axes axes(input);
  Counts counts = counts_for(axes);
  std::vector<std::uint64_t> at;
  for (const Point& point : sample.mismatches) {
    axes.positions(point.number, at);
    for (std::size_t axis = 0; axis < at.size(); ++axis) counts[axis].add(at[axis]);
  }
  const std::vector<Part> parts = surprising_parts(axes, counts);
  if (parts.empty()) return std::nullopt;
  const bool narrow = fits_double(input.actual.dtype()) && fits_double(input.golden.dtype());
  return narrow ? search<double>(input, sample, parts) : search<long double>(input, sample, parts);
}

}  // namespace btf::hints
