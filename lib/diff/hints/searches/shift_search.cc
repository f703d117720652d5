// Elements shifted by some positions: in row-major order, along one dim, or in the stored
// array.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/models/shifts.h"
#include "diff/hints/searches/searches.h"
#include "kernels/number/widen.h"

namespace btf::hints {
namespace {

// Confirmed on the whole tensor at most.
constexpr std::size_t kMostWalks = 6;

struct Shifted {
  Finding finding;
  std::uint64_t exceptions = 0;
};

// The same shift for what it would push over the edge, if that comes back in at the other end.
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

std::string sentence(const Inquiry& inquiry, const ShiftSpace& space, const Shift& shift,
                     const StreamTally& all, bool round) {
  std::string text = "actual is golden shifted by " + std::to_string(shift.by);
  if (shift.dim)
    text += " along " + dim_text(*shift.dim, space.dims.size());
  else
    text += std::string(std::abs(shift.by) == 1 ? " element" : " elements") +
            (space.stored ? " in the stored array" : " in row-major order");
  return text + (round ? ", wrapping round" : "") + ": " + agreed_text(inquiry, all);
}

Result<std::optional<Shifted>> try_shift(const Inquiry& inquiry, const ShiftSpace& space,
                                         const Shift& shift) {
  BTF_ASSIGN(const StreamTally all,
             compare_streams(inquiry, space.streams, space.count, shift.alignment));
  const std::uint64_t outside = space.count - all.compared;
  const double share = static_cast<double>(all.compared) / static_cast<double>(space.count);
  const auto allowed =
      static_cast<std::uint64_t>(static_cast<double>(allowed_exceptions(inquiry)) * share);
  if (all.compared == 0 || all.exceptions() > allowed) return std::nullopt;
  BTF_ASSIGN(const StreamTally edge,
             compare_streams(inquiry, space.streams, space.count, wrapped(shift, space.count)));
  const bool round = edge.exceptions() <= edge.compared / 100;
  StreamTally sum = all;
  if (round) sum.add(edge);
  const std::uint64_t unexplained = sum.exceptions() + (round ? 0 : outside);
  return Shifted{{{Cause::shift, sentence(inquiry, space, shift, sum, round)}, unexplained},
                 sum.exceptions()};
}

Result<std::optional<Shifted>> best_shift(const Inquiry& inquiry, const ShiftSpace& space) {
  BTF_ASSIGN(const ShiftCandidates candidates, shift_candidates(inquiry, space));
  std::optional<Shifted> best;
  std::size_t walks = 0;
  for (const Shift& shift : candidates.shifts) {
    const Places places = [&](const Point& point) { return place_of(space, shift, point); };
    BTF_ASSIGN(const bool worth,
               worth_a_walk(inquiry, MovedSide::golden, *space.golden, places, candidates.tried));
    if (!worth) continue;
    BTF_ASSIGN(std::optional<Shifted> found, try_shift(inquiry, space, shift));
    // To be wrong is worse than to say nothing.
    const auto cost = [](const Shifted& s) { return s.finding.unexplained + s.exceptions; };
    if (found && (!best || cost(*found) < cost(*best))) best = std::move(found);
    if (best && best->finding.unexplained == 0) break;
    if (++walks == kMostWalks) break;
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

SearchResult find_shift(const Inquiry& inquiry) {
  if (!streamable(inquiry)) return std::nullopt;
  const HintInput& input = inquiry.input;
  BTF_ASSIGN(StridedLayout actual, own_view(input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(input.golden));
  const ShiftSpace logical{.streams = {std::move(actual), std::move(golden)},
                           .count = inquiry.elements,
                           .dims = input.golden.dims(),
                           .golden = inquiry.golden};
  BTF_ASSIGN(std::optional<Shifted> best, best_shift(inquiry, logical));
  if (!best && same_storage(input.actual, input.golden) && !row_major(input.golden)) {
    BTF_ASSIGN(const StridedLayout view, stored_view(input.golden));
    BTF_ASSIGN(Lookup lookup, Lookup::open(input.golden, view));
    const ShiftSpace stored{.streams = {view, view},
                            .count = view.storage_elements,
                            .stored = input.golden.storage(),
                            .golden = &lookup};
    BTF_ASSIGN(best, best_shift(inquiry, stored));
  }
  if (!best) return std::nullopt;
  return std::move(best->finding);
}

}  // namespace btf::hints
