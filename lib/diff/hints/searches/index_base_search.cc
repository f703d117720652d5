// Indices that count from 1 on one side and from 0 on the other: all dims are one off together.
#include <algorithm>
#include <optional>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/sparse.h"
#include "elements/parallel.h"

namespace btf::hints {
namespace {

// Number of the element one further on, or one before, in every dim.
Rearrangement diagonal(const Dims& dims, bool further) {
  Rearrangement rule = unchanged(dims);
  for (Digit& digit : rule.digits) {
    rule.base += further ? -digit.step : digit.step;
    if (further)
      digit.begin = 1;
    else
      digit.end = digit.size - 1;
  }
  return rule;
}

struct EntryTally {
  std::uint64_t entries = 0;  // of either side
  std::uint64_t agreed = 0;
  std::uint64_t outside = 0;  // of actual
};

// The entries of one side, by the number that they would have in golden.
class MovedEntries {
 public:
  static Result<MovedEntries> open(const DiffSide& side) {
    BTF_ASSIGN(auto entries, side.entries({}));
    return MovedEntries(std::move(entries));
  }

  // Passes over those that `place` has nothing for. Which leaves them in their order.
  template <typename Place>
  Result<std::optional<CooEntry>> next(const Place& place) {
    for (;;) {
      BTF_ASSIGN(std::optional<CooEntry> entry, entries_.next());
      if (!entry) return entry;
      const std::optional<std::uint64_t> key = place(entry->key);
      if (!key) {
        ++skipped_;
        continue;
      }
      entry->key = *key;
      return entry;
    }
  }
  std::uint64_t skipped() const { return skipped_; }

 private:
  explicit MovedEntries(std::unique_ptr<CooSource> entries) : entries_(std::move(entries)) {}

  CooEntries entries_;
  std::uint64_t skipped_ = 0;
};

// Two COO tensors, whatever their size: their entries side by side.
Result<EntryTally> compare_entries(const Inquiry& inquiry, const Rearrangement& to_golden,
                                   const Rearrangement& to_actual) {
  const HintInput& input = inquiry.input;
  BTF_ASSIGN(MovedEntries left, MovedEntries::open(input.actual));
  BTF_ASSIGN(MovedEntries right, MovedEntries::open(input.golden));
  const auto moved = [&](std::uint64_t key) { return to_golden.source_of(key); };
  // Elements of golden at the edge have no index in actual.
  const auto kept = [&](std::uint64_t key) {
    return to_actual.source_of(key) ? std::optional(key) : std::nullopt;
  };
  BTF_ASSIGN(std::optional<CooEntry> a, left.next(moved));
  BTF_ASSIGN(std::optional<CooEntry> b, right.next(kept));
  EntryTally tally;
  while (a || b) {
    if (tally.entries % (1U << 20) == 0) BTF_TRY(check_cancelled(input.execution));
    const std::uint64_t at = std::min(a ? a->key : UINT64_MAX, b ? b->key : UINT64_MAX);
    const bool in_left = a && a->key == at;
    const bool in_right = b && b->key == at;
    ++tally.entries;
    if (sampled_agree(value_of(input.actual.dtype(), in_left ? a->code : 0),
                      value_of(input.golden.dtype(), in_right ? b->code : 0), inquiry.agreement))
      ++tally.agreed;
    if (in_left) {
      BTF_ASSIGN(a, left.next(moved));
    }
    if (in_right) {
      BTF_ASSIGN(b, right.next(kept));
    }
  }
  tally.outside = left.skipped();
  return tally;
}

SearchResult try_entries(const Inquiry& inquiry, const RearrangedAs& base,
                         const Rearrangement& back) {
  const Places places = [&](const Point& point) { return base.rule.source_of(point.number); };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(inquiry, MovedSide::golden, *inquiry.golden, places, 2));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(const EntryTally tally, compare_entries(inquiry, base.rule, back));
  const std::uint64_t exceptions = tally.entries - tally.agreed;
  if (exceptions > allowed_exceptions(inquiry)) return std::nullopt;
  return Finding{{base.cause, base.words + ": " + std::to_string(tally.agreed) + " of " +
                                  std::to_string(tally.entries) + " stored elements"},
                 exceptions + tally.outside};
}

RearrangedAs counted_from(const Dims& dims, bool further, bool sparse) {
  const std::string side = further ? "actual" : "golden";
  if (sparse)
    return {Cause::index_base,
            side + "'s indices are one too high in every dim, as if counted from 1",
            diagonal(dims, further)};
  return {Cause::shift,
          "actual is golden shifted by " + std::string(further ? "1" : "-1") + " along every dim",
          diagonal(dims, further)};
}

}  // namespace

SearchResult find_index_base(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  const Dims& dims = input.golden.dims();
  const bool sparse = input.actual.storage() == nullptr || input.golden.storage() == nullptr;
  if (std::ranges::any_of(dims, [](std::uint64_t dim) { return dim < 2; })) return std::nullopt;
  if (dims.size() < 2 && !sparse) return std::nullopt;
  const std::vector<RearrangedAs> bases{counted_from(dims, true, sparse),
                                        counted_from(dims, false, sparse)};
  if (!both_sparse(input.actual, input.golden)) return find_rearranged(inquiry, bases);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    BTF_ASSIGN(std::optional<Finding> finding, try_entries(inquiry, bases[i], bases[1 - i].rule));
    if (finding) return finding;
  }
  return std::nullopt;
}

}  // namespace btf::hints
