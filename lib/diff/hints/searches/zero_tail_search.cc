// Actual is zero from some element on: in row-major order, or in its stored array.
#include <algorithm>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/significance.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/flat_stream.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/rows.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kLeastLost = 8;

struct TailTally {
  std::uint64_t first_mismatch = UINT64_MAX;  // by position
  std::uint64_t at = 0;                       // its row-major number
  std::uint64_t nonzero_end = 0;              // behind the last element of actual that is not 0
  std::uint64_t mismatched = 0;
  std::uint64_t would_show = 0;  // elements of golden that would mismatch if actual were 0

  void add(const TailTally& other) {
    if (other.first_mismatch < first_mismatch) {
      first_mismatch = other.first_mismatch;
      at = other.at;
    }
    nonzero_end = std::max(nonzero_end, other.nonzero_end);
    mismatched += other.mismatched;
    would_show += other.would_show;
  }
};

template <typename Real>
Result<TailTally> tally_tail(const Inquiry& inquiry, const StridedLayout* stored) {
  const HintInput& input = inquiry.input;
  const PairRows pairs(input.actual, input.golden, input.execution);
  BTF_ASSIGN(const unsigned workers, pairs.workers());
  std::vector<TailTally> tallies(workers);
  BTF_TRY(pairs.walk<Real>([&](unsigned worker, std::uint64_t, const PairRun<Real>& run) {
    const std::uint64_t weight = run.alike ? run.count : 1;
    for (std::uint64_t i = 0; i < run.values(); ++i) {
      TailTally one;
      const std::uint64_t number = run.first + i;
      const auto position = [&](std::uint64_t n) {
        return stored == nullptr ? n : offset(*stored, index_of(stored->dims, n));
      };
      if (!agrees(run.actual[i], run.golden[i], inquiry.agreement)) {
        one.first_mismatch = position(number);
        one.at = number;
        one.mismatched = weight;
      }
      if (run.actual[i] != 0) one.nonzero_end = position(number + weight - 1) + 1;
      if (!agrees(Real{0}, run.golden[i], inquiry.agreement)) one.would_show = weight;
      tallies[worker].add(one);
    }
  }));
  TailTally all;
  for (const TailTally& one : tallies) all.add(one);
  return all;
}

Result<TailTally> tally_tail(const Inquiry& inquiry, const StridedLayout* stored) {
  const PairRows pairs(inquiry.input.actual, inquiry.input.golden, inquiry.input.execution);
  return pairs.use_double() ? tally_tail<double>(inquiry, stored)
                            : tally_tail<long double>(inquiry, stored);
}

// Losing exactly the last ones must not be luck, and losing all must be many.
bool is_tail(const TailTally& tally) {
  if (tally.nonzero_end > tally.first_mismatch || tally.mismatched < kLeastLost) return false;
  if (tally.mismatched == tally.would_show) return tally.mismatched >= 2 * kLeastLost;
  return log2_choices(static_cast<double>(tally.would_show),
                      static_cast<double>(tally.mismatched)) >= kNeededBits;
}

SearchResult describe(const Inquiry& inquiry, const TailTally& tally, bool stored) {
  const std::string lost =
      ": " + left_over_text(inquiry, tally.mismatched) + ", actual 0 at all of them";
  if (tally.nonzero_end == 0)
    return Finding{{Cause::zero_tail, "actual is 0 throughout" + lost}, 0};
  const Dims index = index_of(inquiry.input.golden.dims(), tally.at);
  BTF_ASSIGN(const std::vector<Element> element,
             inquiry.input.actual.elements(std::span(&index, 1)));
  std::string where = stored ? "stored element " + std::to_string(tally.first_mismatch)
                             : "element " + std::to_string(tally.at);
  where += " " + dims_text(index);
  if (element.front().offset) where += " (byte " + std::to_string(*element.front().offset) + ")";
  return Finding{{Cause::zero_tail, "actual is 0 from " + where + " to the end" + lost}, 0};
}

}  // namespace

SearchResult find_zero_tail(const Inquiry& inquiry) {
  if (inquiry.rounded ||
      !std::ranges::all_of(inquiry.mismatches, [](const Point& p) { return p.actual == 0; }))
    return std::nullopt;
  BTF_ASSIGN(const TailTally tail, tally_tail(inquiry, nullptr));
  if (is_tail(tail)) return describe(inquiry, tail, false);
  const StridedLayout* stored = inquiry.input.actual.storage();
  if (stored == nullptr) return std::nullopt;
  BTF_ASSIGN(const StridedLayout linear, linear_view(stored->dims, inquiry.input.actual.dtype()));
  if (linear.strides == stored->strides && !stored->split) return std::nullopt;
  BTF_ASSIGN(const TailTally stored_tail, tally_tail(inquiry, stored));
  if (is_tail(stored_tail)) return describe(inquiry, stored_tail, true);
  return std::nullopt;
}

}  // namespace btf::hints
