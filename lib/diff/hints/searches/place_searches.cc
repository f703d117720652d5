// Searches for elements that are right but in other places: shifted, wrapped, with indices or parts
// in another order, or cut off at the end.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/models/index_order.h"
#include "diff/hints/models/rearrangement.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"
#include "elements/cast.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

// The element whose index is one higher, or one lower, in every dim.
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
  std::uint64_t entries = 0;  // of both sides
  std::uint64_t agreed = 0;
  std::uint64_t outside = 0;  // entries of actual without a counterpart
};

// The entries of one side, by the number that each would have in golden.
class MappedEntries {
 public:
  static Result<MappedEntries> open(const DiffSide& side) {
    BTF_ASSIGN(auto entries, side.entries({}));
    return MappedEntries(std::move(entries));
  }

  // Skips entries for which `place` is unset. The entries keep their order.
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
  explicit MappedEntries(std::unique_ptr<CooSource> entries) : entries_(std::move(entries)) {}

  CooEntries entries_;
  std::uint64_t skipped_ = 0;
};

// Compares two COO tensors of any size by merging their entries.
Result<EntryTally> compare_entries(const SearchContext& context, const Rearrangement& to_golden,
                                   const Rearrangement& to_actual) {
  const HintInput& input = context.input;
  BTF_ASSIGN(MappedEntries left, MappedEntries::open(input.actual));
  BTF_ASSIGN(MappedEntries right, MappedEntries::open(input.golden));
  const auto moved = [&](std::uint64_t key) { return to_golden.source_of(key); };
  // Elements at golden's edge have no index in actual.
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
                      value_of(input.golden.dtype(), in_right ? b->code : 0), context.agreement))
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

SearchResult try_entries(const SearchContext& context, const NamedRearrangement& base,
                         const Rearrangement& back) {
  const Places places = [&](const Point& point) { return base.rule.source_of(point.number); };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(context, TransformedSide::golden, *context.golden, places, 2));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(const EntryTally tally, compare_entries(context, base.rule, back));
  const std::uint64_t exceptions = tally.entries - tally.agreed;
  if (exceptions > allowed_exceptions(context)) return std::nullopt;
  return Finding{{base.cause, base.words + ": " + std::to_string(tally.agreed) + " of " +
                                  std::to_string(tally.entries) + " stored elements"},
                 exceptions + tally.outside};
}

NamedRearrangement counted_from(const Dims& dims, bool further, bool sparse) {
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

SearchResult find_index_base(const SearchContext& context) {
  const HintInput& input = context.input;
  const Dims& dims = input.golden.dims();
  const bool sparse = input.actual.storage() == nullptr || input.golden.storage() == nullptr;
  if (std::ranges::any_of(dims, [](std::uint64_t dim) { return dim < 2; })) return std::nullopt;
  if (dims.size() < 2 && !sparse) return std::nullopt;
  const std::vector<NamedRearrangement> bases{counted_from(dims, true, sparse),
                                              counted_from(dims, false, sparse)};
  if (!both_sparse(input.actual, input.golden)) return find_rearranged(context, bases);
  for (std::size_t i = 0; i < bases.size(); ++i) {
    BTF_ASSIGN(std::optional<Finding> finding, try_entries(context, bases[i], bases[1 - i].rule));
    if (finding) return finding;
  }
  return std::nullopt;
}

namespace {

// Equal parts of a dim in any other order: heads, groups of channels.

constexpr std::uint64_t kMaxPartIndices = 4096;
constexpr std::uint64_t kMinRows = 8;    // elements per index: fewer may match anywhere by chance
constexpr std::size_t kProbedRows = 16;  // rows by which indices are recognised
constexpr std::size_t kMaxListedParts = 8;  // parts that are listed

// Some rows along a dim, with the numbers of both sides.
struct Probes {
  std::vector<std::vector<long double>> actual;
  std::vector<std::vector<long double>> golden;
};

std::vector<std::uint64_t> rows_of(const SearchContext& context, const Along& place) {
  std::vector<std::uint64_t> rows;
  for (const std::size_t i : context.rarest) {
    const std::uint64_t row = place.row(context.mismatches[i].number);
    if (std::ranges::find(rows, row) == rows.end()) rows.push_back(row);
    if (rows.size() == kProbedRows) break;
  }
  return rows;
}

Result<std::vector<long double>> read_row(Lookup& lookup, const Along& place, std::uint64_t row) {
  std::vector<std::uint64_t> numbers(place.size);
  for (std::uint64_t i = 0; i < place.size; ++i) numbers[i] = place.number(row, i);
  return lookup.values(numbers);
}

// Whether golden has another index that matches that of the first mismatch in some rows. Rejects
// most dims.
Result<bool> worth_reading(const SearchContext& context, const Along& place,
                           const std::vector<std::uint64_t>& rows) {
  constexpr std::size_t kRows = 4;
  const std::uint64_t index = place.index(context.mismatches[context.rarest.front()].number);
  std::vector<std::uint64_t> left(place.size);
  std::iota(left.begin(), left.end(), 0U);
  for (std::size_t row = 0; row < std::min(kRows, rows.size()) && !left.empty(); ++row) {
    std::vector<std::uint64_t> numbers;
    for (const std::uint64_t other : left) numbers.push_back(place.number(rows[row], other));
    BTF_ASSIGN(const std::vector<long double> golden, context.golden->values(numbers));
    const std::vector<std::uint64_t> own{place.number(rows[row], index)};
    BTF_ASSIGN(const std::vector<long double> actual, context.actual->values(own));
    std::vector<std::uint64_t> like;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (sampled_agree(actual.front(), golden[i], context.agreement)) like.push_back(left[i]);
    left = std::move(like);
  }
  return !left.empty();
}

bool alike(const SearchContext& context, const Probes& probes, std::uint64_t actual,
           std::uint64_t golden, std::uint64_t count) {
  for (std::size_t row = 0; row < probes.actual.size(); ++row)
    for (std::uint64_t i = 0; i < count; ++i)
      if (!sampled_agree(probes.actual[row][actual + i], probes.golden[row][golden + i],
                         context.agreement))
        return false;
  return true;
}

// For each part of actual, the matching part of golden; of several that match, the one after the
// part that the previous one matched.
std::vector<std::uint32_t> order_of(const SearchContext& context, const Probes& probes,
                                    std::uint64_t parts, std::uint64_t size) {
  std::vector<std::uint32_t> order;
  std::vector<bool> taken(parts, false);
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t first = order.empty() ? 0 : order.back() + 1U;
    for (std::uint64_t k = 0; k < parts && order.size() == i; ++k) {
      const std::uint64_t other = (first + k) % parts;
      if (taken[other] || !alike(context, probes, i * size, other * size, size)) continue;
      taken[other] = true;
      order.push_back(static_cast<std::uint32_t>(other));
    }
    if (order.size() == i) return {};
  }
  return order;
}

NamedRearrangement reordered(const Dims& dims, std::size_t dim, std::uint64_t part,
                             const std::vector<std::uint32_t>& order) {
  const std::span listed = std::span(order).first(std::min(kMaxListedParts, order.size()));
  NamedRearrangement result{Cause::shuffled,
                            "actual has the parts of " + std::to_string(part) + " of golden's " +
                                dim_text(static_cast<std::uint32_t>(dim), dims.size()) +
                                " in the order " + order_text(listed) +
                                (order.size() > listed.size() ? ", ..." : ""),
                            unchanged(dims)};
  for (std::uint64_t i = 0; i < dims[dim]; ++i)
    result.rule.digits[dim].order.push_back(
        static_cast<std::uint32_t>(order[i / part] * part + i % part));
  return result;
}

Result<std::optional<NamedRearrangement>> along_dim(const SearchContext& context, std::size_t dim) {
  const Dims& dims = context.input.golden.dims();
  const Along place = along(dims, dim);
  const std::vector<std::uint64_t> rows = rows_of(context, place);
  BTF_ASSIGN(const bool worth, worth_reading(context, place, rows));
  if (!worth) return std::nullopt;
  Probes probes;
  for (const std::uint64_t row : rows) {
    BTF_ASSIGN(std::vector<long double> actual, read_row(*context.actual, place, row));
    BTF_ASSIGN(std::vector<long double> golden, read_row(*context.golden, place, row));
    probes.actual.push_back(std::move(actual));
    probes.golden.push_back(std::move(golden));
  }
  // Single indices are found by find_reordered().
  for (std::uint64_t parts = 2; parts <= dims[dim] / 2; ++parts) {
    if (dims[dim] % parts != 0) continue;
    const std::uint64_t size = dims[dim] / parts;
    const std::vector<std::uint32_t> order = order_of(context, probes, parts, size);
    if (!order.empty() && !std::ranges::is_sorted(order)) return reordered(dims, dim, size, order);
  }
  return std::nullopt;
}

}  // namespace

SearchResult find_part_order(const SearchContext& context) {
  const HintInput& input = context.input;
  if (context.rounded || context.rarest.empty() || input.actual.storage() == nullptr ||
      input.golden.storage() == nullptr)
    return std::nullopt;
  const Dims& dims = input.golden.dims();
  std::vector<NamedRearrangement> candidates;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 4 || dims[d] > kMaxPartIndices || context.elements / dims[d] < kMinRows) continue;
    BTF_ASSIGN(std::optional<NamedRearrangement> found, along_dim(context, d));
    if (found) candidates.push_back(*std::move(found));
  }
  return find_rearranged(context, candidates);
}

namespace {

// The indices of one dim in any other order: boxes, classes, a vocabulary.

constexpr std::uint64_t kMaxIndices = 1U << 16;
constexpr std::uint64_t kMinIndices = 3;
constexpr std::size_t kMaxListed = 3;

std::string count_text(std::uint64_t count, const std::string& what) {
  return ", " + std::to_string(count) + " " + what;
}

// "the indices 3 and 7 of {dim} exchanged", "the indices of {dim} reversed" or "... rotated by 3",
// if that is the whole difference; else empty.
std::string kind_text(const std::vector<std::uint32_t>& source, std::uint64_t moved,
                      const std::string& dim) {
  const std::size_t size = source.size();
  bool reversed = true;
  bool rotated = true;
  std::optional<std::size_t> by;
  for (std::size_t i = 0; i < size; ++i) {
    if (source[i] == kNoIndex) continue;
    if (!by) by = (i + size - source[i]) % size;
    rotated = rotated && (source[i] + *by) % size == i;
    reversed = reversed && source[i] == size - 1 - i;
  }
  if (reversed) return "the indices of " + dim + " reversed";
  if (rotated && by) return "the indices of " + dim + " rotated by " + std::to_string(*by);
  const auto first =
      std::ranges::find_if(source, [&](const std::uint32_t& j) { return j != &j - source.data(); });
  const auto at = static_cast<std::size_t>(first - source.begin());
  if (moved == 2 && *first != kNoIndex && source[*first] == at)
    return "the indices " + std::to_string(at) + " and " + std::to_string(*first) + " of " + dim +
           " exchanged";
  return "";
}

std::string order_words(const IndexOrder& order, const Dims& dims, std::size_t dim) {
  const std::string which = "golden's " + dim_text(static_cast<std::uint32_t>(dim), dims.size());
  const std::string kind = kind_text(order.source, order.moved, which);
  if (!kind.empty()) return "actual has " + kind;
  std::string text = "actual has the indices of " + which + " in " +
                     (order.sorted.empty() ? "another order" : order.sorted);
  std::size_t listed = 0;
  for (std::size_t i = 0; i < order.source.size() && listed < kMaxListed; ++i) {
    if (order.source[i] == i || order.source[i] == kNoIndex) continue;
    text += (listed == 0 ? ", golden's " : ", ") + std::to_string(order.source[i]) + " at " +
            std::to_string(i);
    ++listed;
  }
  return text + (order.moved > listed ? ", ..." : "");
}

Rearrangement rule_of(const IndexOrder& order, const Dims& dims, std::size_t dim) {
  Rearrangement rule = unchanged(dims);
  rule.digits[dim].order = order.source;
  return rule;
}

SearchResult try_order(const SearchContext& context, const IndexOrder& order, std::size_t dim) {
  const Dims& dims = context.input.golden.dims();
  if (order.bits < kNeededBits + std::log2(static_cast<double>(dims.size()))) return std::nullopt;
  BTF_ASSIGN(const RearrangementTally all, compare_rearranged(context, rule_of(order, dims, dim)));
  if (all.all.compared == 0 || all.all.exceptions() > allowed_exceptions(context))
    return std::nullopt;
  std::string text = order_words(order, dims, dim) + ": " + agreed_text(context, all.all);
  if (order.missing > 0) text += count_text(order.missing, "of golden's indices missing");
  if (order.repeated > 0) text += count_text(order.repeated, "repeated");
  if (order.unmatched > 0) text += count_text(order.unmatched, "match none of golden's");
  return Finding{{Cause::reordered, std::move(text)}, all.all.exceptions() + all.outside};
}

}  // namespace

SearchResult find_reordered(const SearchContext& context) {
  const HintInput& input = context.input;
  if (context.rounded || context.rarest.empty() || input.actual.storage() == nullptr ||
      input.golden.storage() == nullptr || !rearrangeable(context))
    return std::nullopt;
  const Dims& dims = input.golden.dims();
  std::optional<Finding> best;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim] < kMinIndices || dims[dim] > kMaxIndices) continue;
    BTF_ASSIGN(const std::optional<IndexOrder> order, find_index_order(context, dim));
    if (!order) continue;
    BTF_ASSIGN(std::optional<Finding> finding, try_order(context, *order, dim));
    if (finding && (!best || finding->unexplained < best->unexplained)) best = std::move(finding);
  }
  return best;
}

namespace {

// Elements shifted by some positions: in row-major order, along one dim, or in the stored array.

// Shifts that are confirmed on the whole tensor.
constexpr std::size_t kMaxWalks = 6;

struct ShiftResult {
  Finding finding;
  std::uint64_t exceptions = 0;
};

// The alignment of the elements that the shift pushes over the edge, if they come back at the other
// end.
Alignment wrapped(const Shift& shift, std::uint64_t count) {
  Alignment around = shift.alignment;
  const auto extent = static_cast<std::int64_t>(shift.dim ? around.extent : count);
  const auto inner = static_cast<std::int64_t>(around.inner);
  around.lag = (shift.by > 0 ? shift.by - extent : shift.by + extent) * inner;
  if (!shift.dim) return around;
  around.begin = shift.by > 0 ? 0 : static_cast<std::uint64_t>(extent + shift.by);
  around.end = static_cast<std::uint64_t>(shift.by > 0 ? shift.by : extent);
  return around;
}

std::string sentence(const SearchContext& context, const ShiftSpace& space, const Shift& shift,
                     const StreamTally& all, bool round) {
  std::string text = "actual is golden shifted by " + std::to_string(shift.by);
  if (shift.dim)
    text += " along " + dim_text(*shift.dim, space.dims.size());
  else
    text += std::string(std::abs(shift.by) == 1 ? " element" : " elements") +
            (space.stored ? " in the stored array" : " in row-major order");
  return text + (round ? ", wrapping around" : "") + ": " + agreed_text(context, all);
}

Result<std::optional<ShiftResult>> try_shift(const SearchContext& context, const ShiftSpace& space,
                                             const Shift& shift) {
  BTF_ASSIGN(const StreamTally all,
             compare_streams(context, space.streams, space.count, shift.alignment));
  const std::uint64_t outside = space.count - all.compared;
  const double share = static_cast<double>(all.compared) / static_cast<double>(space.count);
  const auto allowed =
      static_cast<std::uint64_t>(static_cast<double>(allowed_exceptions(context)) * share);
  if (all.compared == 0 || all.exceptions() > allowed) return std::nullopt;
  BTF_ASSIGN(const StreamTally edge,
             compare_streams(context, space.streams, space.count, wrapped(shift, space.count)));
  const bool round = edge.exceptions() <= edge.compared / 100;
  StreamTally sum = all;
  if (round) sum.add(edge);
  const std::uint64_t unexplained = sum.exceptions() + (round ? 0 : outside);
  return ShiftResult{{{Cause::shift, sentence(context, space, shift, sum, round)}, unexplained},
                     sum.exceptions()};
}

Result<std::optional<ShiftResult>> best_shift(const SearchContext& context,
                                              const ShiftSpace& space) {
  BTF_ASSIGN(const ShiftCandidates candidates, shift_candidates(context, space));
  std::optional<ShiftResult> best;
  std::size_t walks = 0;
  for (const Shift& shift : candidates.shifts) {
    const Places places = [&](const Point& point) { return place_of(space, shift, point); };
    BTF_ASSIGN(const bool worth, worth_a_walk(context, TransformedSide::golden, *space.golden,
                                              places, candidates.tried));
    if (!worth) continue;
    BTF_ASSIGN(std::optional<ShiftResult> found, try_shift(context, space, shift));
    // A wrong prediction costs more than none.
    const auto cost = [](const ShiftResult& s) { return s.finding.unexplained + s.exceptions; };
    if (found && (!best || cost(*found) < cost(*best))) best = std::move(found);
    if (best && best->finding.unexplained == 0) break;
    if (++walks == kMaxWalks) break;
  }
  return best;
}

bool row_major(const DiffSide& side) {
  auto linear = linear_view(side.dims(), side.dtype());
  return side.storage() == nullptr ||
         (linear && linear->strides == side.storage()->strides && !side.storage()->split);
}

bool same_storage(const DiffSide& a, const DiffSide& b) {
  return a.storage() != nullptr && b.storage() != nullptr &&
         a.storage()->strides == b.storage()->strides && a.storage()->split == b.storage()->split &&
         a.storage()->storage_elements == b.storage()->storage_elements;
}

}  // namespace

SearchResult find_shift(const SearchContext& context) {
  if (!streamable(context)) return std::nullopt;
  const HintInput& input = context.input;
  BTF_ASSIGN(StridedLayout actual, own_view(input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(input.golden));
  const ShiftSpace logical{.streams = {std::move(actual), std::move(golden)},
                           .count = context.elements,
                           .dims = input.golden.dims(),
                           .golden = context.golden};
  BTF_ASSIGN(std::optional<ShiftResult> best, best_shift(context, logical));
  if (!best && same_storage(input.actual, input.golden) && !row_major(input.golden)) {
    BTF_ASSIGN(const StridedLayout view, stored_view(input.golden));
    BTF_ASSIGN(Lookup lookup, Lookup::open(input.golden, view));
    const ShiftSpace stored{.streams = {view, view},
                            .count = view.storage_elements,
                            .stored = input.golden.storage(),
                            .golden = &lookup};
    BTF_ASSIGN(best, best_shift(context, stored));
  }
  if (!best) return std::nullopt;
  return std::move(best->finding);
}

namespace {

// Integers beyond the range of a dtype that wrapped around to its other end.

bool is_integer(const DTypeInfo& row) {
  return row.kind == NumberKind::signed_integer || row.kind == NumberKind::unsigned_integer;
}

// Whether the side has mismatches beyond the dtype's range, and the other side is within it.
bool may_wrap(const SearchContext& context, TransformedSide side, DType dtype) {
  const Limits limits = limits_of(dtype);
  return !context.mismatches.empty() &&
         std::ranges::all_of(context.mismatches, [&](const Point& point) {
           const long double from = side == TransformedSide::golden ? point.golden : point.actual;
           const long double to = side == TransformedSide::golden ? point.actual : point.golden;
           return (from <= limits.lowest - 0.5L || from >= limits.highest + 0.5L) &&
                  to >= limits.lowest && to <= limits.highest;
         });
}

SearchResult try_wrap(const SearchContext& context, TransformedSide side, DType dtype,
                      Rounding rounding) {
  const bool of_golden = side == TransformedSide::golden;
  const DType stored = of_golden ? context.input.golden.dtype() : context.input.actual.dtype();
  const ElementMap map =
      cast_map(side, stored, dtype, {.overflow = Overflow::wrap, .rounding = rounding});
  if (!fits_anywhere(context, map) ||
      !convincing(context, side, mapped(context, map, context.mismatches),
                  mapped(context, map, context.anywhere),
                  2.0 * static_cast<double>(dtypes().size())))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all)) return std::nullopt;
  const std::string words =
      of_golden ? "actual is golden wrapped to " : "golden is actual wrapped to ";
  return Finding{
      {Cause::wrapped, words + name_of(dtype) + ": " + fitting_text(context, all) + ", " +
                           std::to_string(all.confirmed) + " of them beyond its range"},
      all.exceptions};
}

// Where one side is clipped at the limits of a dtype, the other may have wrapped around: at the
// upper limit it is then in the lower half of the range, unless it was beyond the limit by more
// than that.
struct ClipTally {
  std::uint64_t round = 0;    // wrapped around into the other half
  std::uint64_t further = 0;  // in the same half, and not at the limit
  std::uint64_t agreed = 0;   // at the limit too
  std::uint64_t others = 0;   // mismatches elsewhere
  std::uint64_t elements = 0;

  void add(long double cut, long double other, const Limits& limits, bool agree) {
    ++elements;
    const bool high = cut == limits.highest;
    if (!high && cut != limits.lowest) {
      others += agree ? 0 : 1;
    } else if (agree) {
      // Zeros are no evidence where 0 is the lower limit.
      agreed += high || limits.lowest != 0 ? 1 : 0;
    } else {
      const bool low_half = 2 * other < limits.highest + limits.lowest;
      ++(other < limits.lowest || other > limits.highest ? others
         : low_half == high                              ? round
                                                         : further);
    }
  }
  bool holds() const {
    constexpr std::uint64_t kMin = 8;
    constexpr double kMinBits = 50;
    if (round < kMin || 10 * further > round || 4 * agreed > round || 100 * others > round)
      return false;
    // The chance to be at a limit with the other side in that half.
    const double rarity =
        1 + std::log2(static_cast<double>(elements) / static_cast<double>(round + further));
    return 4 * (round + further) <= 3 * elements && static_cast<double>(round) * rarity >= kMinBits;
  }
};

SearchResult try_cut_off(const SearchContext& context, TransformedSide cut_side, DType dtype) {
  constexpr std::size_t kMinCameRound = 4;  // distinct numbers
  const Limits limits = limits_of(dtype);
  const bool of_golden = cut_side == TransformedSide::golden;
  ClipTally sampled;
  DistinctNumbers<kMinCameRound> distinct;
  for (const Point& point : context.mismatches) {
    const long double other = of_golden ? point.actual : point.golden;
    if (std::isnan(other)) return std::nullopt;
    sampled.add(of_golden ? point.golden : point.actual, other, limits, false);
    distinct.add(other);
  }
  if (50 * sampled.others > sampled.elements || 8 * sampled.further > sampled.elements ||
      !distinct.enough())
    return std::nullopt;
  ClipTally all;
  BTF_TRY(visit_finite(context, [&](std::uint64_t, long double actual, long double golden) {
    all.add(of_golden ? golden : actual, of_golden ? actual : golden, limits,
            sampled_agree(actual, golden, context.agreement));
  }));
  if (!all.holds()) return std::nullopt;
  return Finding{
      {Cause::wrapped, mismatches_text(all.round + all.further) + " have " +
                           (of_golden ? "golden" : "actual") + " at " + name_of(dtype) +
                           "'s limits, " + number_text(limits.lowest) + " or " +
                           number_text(limits.highest) + ", where " +
                           (of_golden ? "actual" : "golden") + " wrapped around to the other end"},
      all.others};
}

// Both sides stay within the range of the dtype.
SearchResult find_cut_off(const SearchContext& context) {
  for (const TransformedSide side : {TransformedSide::golden, TransformedSide::actual})
    for (const DType dtype : {context.input.golden.dtype(), context.input.actual.dtype()}) {
      constexpr int kMinBits = 8;
      if (!is_integer(info(dtype)) || info(dtype).bits < kMinBits) continue;
      BTF_ASSIGN(std::optional<Finding> finding, try_cut_off(context, side, dtype));
      if (finding) return finding;
      if (context.input.golden.dtype() == context.input.actual.dtype()) break;
    }
  return std::nullopt;
}

}  // namespace

SearchResult find_wrapped(const SearchContext& context) {
  for (const TransformedSide side : {TransformedSide::golden, TransformedSide::actual})
    for (const DTypeInfo& row : dtypes()) {
      if (!is_integer(row) || !may_wrap(context, side, row.dtype)) continue;
      for (const Rounding rounding : {Rounding::nearest, Rounding::zero, Rounding::down}) {
        BTF_ASSIGN(std::optional<Finding> finding, try_wrap(context, side, row.dtype, rounding));
        if (finding) return finding;
      }
    }
  return find_cut_off(context);
}

namespace {

// Actual is zero from some element on, in row-major order or in its stored array.

constexpr std::uint64_t kMinLost = 8;

struct TailTally {
  std::uint64_t first_mismatch = UINT64_MAX;  // by position
  std::uint64_t at = 0;                       // row-major number of the first mismatch
  std::uint64_t nonzero_end = 0;  // position after the last element of actual that is not 0
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
Result<TailTally> tally_tail(const SearchContext& context, const StridedLayout* stored) {
  const HintInput& input = context.input;
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
      if (!agrees(run.actual[i], run.golden[i], context.agreement)) {
        one.first_mismatch = position(number);
        one.at = number;
        one.mismatched = weight;
      }
      if (run.actual[i] != 0) one.nonzero_end = position(number + weight - 1) + 1;
      if (!agrees(Real{0}, run.golden[i], context.agreement)) one.would_show = weight;
      tallies[worker].add(one);
    }
  }));
  TailTally all;
  for (const TailTally& one : tallies) all.add(one);
  return all;
}

Result<TailTally> tally_tail(const SearchContext& context, const StridedLayout* stored) {
  const PairRows pairs(context.input.actual, context.input.golden, context.input.execution);
  return pairs.use_double() ? tally_tail<double>(context, stored)
                            : tally_tail<long double>(context, stored);
}

// That exactly the last elements were lost must be unlikely by chance, and a tensor that is 0
// throughout must have many.
bool is_tail(const TailTally& tally) {
  if (tally.nonzero_end > tally.first_mismatch || tally.mismatched < kMinLost) return false;
  if (tally.mismatched == tally.would_show) return tally.mismatched >= 2 * kMinLost;
  return log2_choices(static_cast<double>(tally.would_show),
                      static_cast<double>(tally.mismatched)) >= kNeededBits;
}

SearchResult describe(const SearchContext& context, const TailTally& tally, bool stored) {
  const std::string lost =
      ": " + left_over_text(context, tally.mismatched) + ", actual 0 at all of them";
  if (tally.nonzero_end == 0)
    return Finding{{Cause::zero_tail, "actual is 0 throughout" + lost}, 0};
  const Dims index = index_of(context.input.golden.dims(), tally.at);
  BTF_ASSIGN(const std::vector<Element> element,
             context.input.actual.elements(std::span(&index, 1)));
  std::string where = stored ? "stored element " + std::to_string(tally.first_mismatch)
                             : "element " + std::to_string(tally.at);
  where += " " + dims_text(index);
  if (element.front().offset) where += " (byte " + std::to_string(*element.front().offset) + ")";
  return Finding{{Cause::zero_tail, "actual is 0 from " + where + " to the end" + lost}, 0};
}

}  // namespace

SearchResult find_zero_tail(const SearchContext& context) {
  if (context.rounded ||
      !std::ranges::all_of(context.mismatches, [](const Point& p) { return p.actual == 0; }))
    return std::nullopt;
  BTF_ASSIGN(const TailTally tail, tally_tail(context, nullptr));
  if (is_tail(tail)) return describe(context, tail, false);
  const StridedLayout* stored = context.input.actual.storage();
  if (stored == nullptr) return std::nullopt;
  BTF_ASSIGN(const StridedLayout linear, linear_view(stored->dims, context.input.actual.dtype()));
  if (linear.strides == stored->strides && !stored->split) return std::nullopt;
  BTF_ASSIGN(const TailTally stored_tail, tally_tail(context, stored));
  if (is_tail(stored_tail)) return describe(context, stored_tail, true);
  return std::nullopt;
}

}  // namespace btf::hints
