// All mismatches in one part of the tensor: a channel, a row, a tile, some lanes of every block.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/distinct.h"
#include "diff/hints/evidence/significance.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/region_walk.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kLeastMismatches = 8;
constexpr double kStaleShare = 0.01;    // of golden's numbers elsewhere
constexpr std::size_t kLeastStale = 4;  // different numbers

template <typename Value>
long double median_size(const std::vector<Point>& points, Value&& value) {
  std::vector<long double> sizes;
  for (const Point& point : points) {
    const long double v = value(point);
    if (!std::isnan(v)) sizes.push_back(std::abs(v));
  }
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  if (sizes.empty()) return 0;
  std::ranges::nth_element(sizes, middle);
  return *middle;
}

// Elements that two COO tensors do not store mismatch if one of the dtypes has no zero.
bool zeros_agree(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  return input.actual.storage() != nullptr || input.golden.storage() != nullptr ||
         sampled_agree(value_of(input.actual.dtype(), 0), value_of(input.golden.dtype(), 0),
                       inquiry.agreement);
}

double bits_of(std::uint64_t count, std::uint64_t all, std::uint64_t inside) {
  if (all == 0 || inside == 0) return 0;
  return static_cast<double>(count) *
         std::log2(static_cast<double>(all) / static_cast<double>(inside));
}

// Mismatches may be where golden is large, where it is small, or where there is anything at all, as
// noise has it: there must be others like that outside.
bool not_by_size(const RegionTally& tally) {
  return std::min({bits_of(tally.mismatched, tally.large, tally.large_inside),
                   bits_of(tally.mismatched, tally.small, tally.small_inside),
                   bits_of(tally.mismatched, tally.busy, tally.busy_inside)}) >= kNeededBits;
}

// Errors that run on below the tolerance elsewhere as they do above it here have one cause, and
// only the tolerance makes the difference.
bool not_by_tolerance(const RegionTally& tally) {
  return 2 * tally.just_refused < tally.mismatched || 4 * tally.just_outside < tally.mismatched;
}

// Where golden has few numbers, each in a part of its own, a change by value looks like one by
// region: then the same numbers must be right outside.
bool not_by_value(const RegionTally& tally, std::size_t distinct) {
  return bits_of(distinct, tally.elements, tally.inside) >= 1.4 * kNeededBits ||
         bits_of(tally.mismatched, tally.like, tally.like_inside) >= kNeededBits;
}

Usual usual_of(const Inquiry& inquiry) {
  std::set<long double> like;
  for (const Point& point : inquiry.mismatches)
    if (!std::isnan(point.golden)) like.insert(point.golden);
  return {median_size(inquiry.mismatches, [](const Point& p) { return p.golden; }),
          {like.begin(), like.end()}};
}

// The last lanes of a dim, or of every block of it.
bool is_last(const Axes& axes, const Part& part) {
  const std::uint64_t end = part.set.period == 0 ? axes.sizes()[part.axis] : part.set.period;
  return axes.is_dim(part.axis) && part.set.high == end - 1 && part.set.low > 0;
}

// Golden is zero inside and mostly not outside, and actual has numbers of an ordinary size there.
bool looks_stale(const RegionTally& tally, const Inquiry& inquiry) {
  if (tally.golden_inside != 0 || tally.outside != 0 ||
      2 * tally.golden_outside < tally.elements - tally.inside)
    return false;
  std::vector<Point> others;
  std::ranges::copy_if(inquiry.anywhere, std::back_inserter(others),
                       [](const Point& p) { return p.golden != 0; });
  DistinctNumbers<kLeastStale> left;  // one number everywhere was put there
  for (const Point& point : inquiry.mismatches)
    if (!std::isnan(point.actual)) left.add(point.actual);
  if (!left.enough()) return false;
  const long double stale = median_size(
      inquiry.mismatches, [](const Point& p) { return std::isnan(p.actual) ? 0 : p.actual; });
  const long double usual = median_size(others, [](const Point& p) { return p.golden; });
  return stale >= kStaleShare * usual;
}

// One of the parts may be padding by itself, whatever else the mismatches have in common.
SearchResult find_padding(const Inquiry& inquiry, const Axes& axes, const std::vector<Part>& parts,
                          const Usual& usual) {
  for (const Part& part : parts) {
    if (!is_last(axes, part)) continue;
    const std::vector<Part> lanes{part};
    BTF_ASSIGN(const RegionTally padding, look_inside(inquiry, axes, lanes, usual));
    if (looks_stale(padding, inquiry))
      return Finding{{Cause::stale_padding,
                      "all " + left_over_text(inquiry, padding.mismatched) + " have " +
                          parts_text(axes, lanes) +
                          ", where golden is 0 throughout: padding that was not cleared"},
                     0};
  }
  return std::nullopt;
}

}  // namespace

SearchResult find_region(const Inquiry& inquiry) {
  if (inquiry.mismatches.size() < kLeastMismatches || inquiry.rounded || !zeros_agree(inquiry))
    return std::nullopt;
  const Axes axes(inquiry.input);
  AllCounts counts = counts_for(axes);
  std::vector<std::uint64_t> at;
  for (const Point& point : inquiry.mismatches) {
    axes.place(point.number, at);
    axes.stored(at);
    add_place(at, counts);
  }
  std::vector<Part> parts = surprising_parts(axes, counts);
  if (!parts.empty() && inquiry.mismatched > inquiry.mismatches.size()) {
    BTF_ASSIGN(counts, count_mismatches(inquiry, axes));
    parts = surprising_parts(axes, counts);
  }
  if (parts.empty()) return std::nullopt;

  const Usual usual = usual_of(inquiry);
  BTF_ASSIGN(const RegionTally all, look_inside(inquiry, axes, parts, usual));
  if (all.outside != 0 || all.mismatched < kLeastMismatches) return std::nullopt;
  if (all.golden_inside == 0) {
    BTF_ASSIGN(std::optional<Finding> padding, find_padding(inquiry, axes, parts, usual));
    if (padding) return padding;
  }
  if (!not_by_size(all) || !not_by_tolerance(all) || !not_by_value(all, usual.like.size()))
    return std::nullopt;
  const std::string what = all.actual_zero == all.mismatched  ? "; actual is 0 there"
                           : all.actual_nan == all.mismatched ? "; actual is NaN there"
                                                              : "";
  return Finding{{Cause::region, "all " + left_over_text(inquiry, all.mismatched) + " have " +
                                     parts_text(axes, parts) + " (" + std::to_string(all.inside) +
                                     (all.inside == 1 ? " element)" : " elements)") + what},
                 0};
}

}  // namespace btf::hints
