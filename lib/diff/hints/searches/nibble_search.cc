// Nibbles exchanged: within 8-bit codes, or neighbours where two elements shared a byte.
#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/code_reading.h"
#include "diff/hints/models/reordering.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {

SearchResult find_nibble_order(const Inquiry& inquiry) {
  BTF_ASSIGN(std::optional<Finding> codes, find_swapped_codes(inquiry));
  if (codes) return codes;
  const auto bits = [](const DiffSide& side) { return info(side.dtype()).bits; };
  if (std::min(bits(inquiry.input.actual), bits(inquiry.input.golden)) > 4 || !streamable(inquiry))
    return std::nullopt;
  const Places neighbour = [&](const Point& point) {
    const std::uint64_t other = point.number ^ 1;
    return other < inquiry.elements ? std::optional(other) : std::nullopt;
  };
  BTF_ASSIGN(const bool worth,
             worth_a_walk(inquiry, MovedSide::golden, *inquiry.golden, neighbour, 1));
  if (!worth) return std::nullopt;
  BTF_ASSIGN(StridedLayout actual, own_view(inquiry.input.actual));
  BTF_ASSIGN(StridedLayout golden, own_view(inquiry.input.golden));
  BTF_ASSIGN(const StreamTally all, compare_streams(inquiry, {std::move(actual), std::move(golden)},
                                                    inquiry.elements / 2 * 2, {.exchange = true}));
  if (all.exceptions() > allowed_exceptions(inquiry)) return std::nullopt;
  return Finding{{Cause::nibble_order,
                  "actual equals golden with the two nibbles of every byte "
                  "exchanged: " +
                      agreed_text(inquiry, all)},
                 all.exceptions()};
}

}  // namespace btf::hints
