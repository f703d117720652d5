// Elements that are right but at other indices, by a rule on the digits of their row-major numbers:
// mirrored, shuffled, repeated, read with another pitch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/hints/models/reordering.h"

namespace btf::hints {

// An order of the elements in which they may have moved.
struct ShiftSpace {
  Streams streams;
  std::uint64_t count = 0;
  Dims dims{};                            // to shift along one of them
  const StridedLayout* stored = nullptr;  // nothing: row-major order
  Lookup* golden = nullptr;               // by the number in this order
};

struct Shift {
  std::int64_t by = 0;  // towards higher numbers
  std::optional<std::uint32_t> dim{};
  Alignment alignment;
};

// Where golden has what the shift puts at the point; nothing: from outside.
std::optional<std::uint64_t> place_of(const ShiftSpace& space, const Shift& shift,
                                      const Point& point);

struct ShiftCandidates {
  std::vector<Shift> shifts;  // that explain a few mismatches, the shorter first
  double tried = 1;           // of so many
};

Result<ShiftCandidates> shift_candidates(const Inquiry& inquiry, const ShiftSpace& space);

// Elements that are right but at other indices, by a rule on the digits of their row-major numbers:
// mirrored, shuffled, repeated, read with another pitch.

inline constexpr std::uint32_t kNowhere = UINT32_MAX;  // in an order: golden has nothing for it

// One digit of actual's number, and how far golden's number moves with it.
struct Digit {
  std::uint64_t size = 1;
  std::int64_t step = 0;
  std::uint64_t begin = 0;  // of the digits that golden has something for
  std::uint64_t end = UINT64_MAX;
  std::vector<std::uint32_t> order{};  // where not empty, it is order[digit] that moves it
};

struct Rearrangement {
  std::vector<Digit> digits;  // the most significant first, which is never too small
  std::int64_t base = 0;
  std::uint64_t count = 0;  // elements of golden

  // Golden's position of the element at actual's `number`; nothing: none.
  std::optional<std::uint64_t> source_of(std::uint64_t number) const;
};

// Digits that change nothing, one a dim.
Rearrangement unchanged(const Dims& dims);
std::int64_t stride_of(const Dims& dims, std::size_t dim);

struct RearrangementTally {
  StreamTally all;
  std::uint64_t outside = 0;       // of actual, where golden has nothing for it
  std::uint64_t outside_zero = 0;  // of these, actual is 0
};

// Can golden be read in any order? A COO tensor only while it is small.
bool rearrangeable(const Inquiry& inquiry);

// Over all elements of actual. Bounded memory: a few pieces of golden are kept at a time.
Result<RearrangementTally> compare_rearranged(const Inquiry& inquiry, const Rearrangement& rule);

// How alike all elements of actual are to what golden has for them.
Result<Likeness> likeness_of_rearranged(const Inquiry& inquiry, const Rearrangement& rule,
                                        const Yardstick& yardstick);

struct RearrangedAs {
  Cause cause{};
  std::string words;  // "actual is golden mirrored along dim 3 (W)"
  Rearrangement rule;
  bool changes_most = false;  // asked: what is not 0 is mostly another number elsewhere in golden
};

// The first of these that explains everything, or the one that explains the most. They are asked
// as so many hypotheses.
SearchResult find_rearranged(const Inquiry& inquiry, const std::vector<RearrangedAs>& candidates);

}  // namespace btf::hints
