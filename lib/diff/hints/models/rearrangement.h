// Elements that are right but at other indices, by a rule on the digits of their row-major numbers:
// mirrored, shuffled, repeated, read with another pitch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diff/hints/models/reordering.h"

namespace btf::hints {

// An order of the elements along which they may have shifted.
struct ShiftSpace {
  Streams streams;
  std::uint64_t count = 0;
  Dims dims{};  // if not empty, the dims along one of which elements shift
  const StridedLayout* stored = nullptr;  // nullptr: row-major order
  Lookup* golden = nullptr;               // reads by the number in this order
};

struct Shift {
  std::int64_t by = 0;  // towards higher numbers
  std::optional<std::uint32_t> dim{};
  Alignment alignment;
};

// Where golden has the element that the shift moves to the point; unset if outside of golden.
std::optional<std::uint64_t> place_of(const ShiftSpace& space, const Shift& shift,
                                      const Point& point);

struct ShiftCandidates {
  std::vector<Shift> shifts;  // that explain a few mismatches, the shorter ones first
  double tried = 1;           // number of shifts that were tried
};

Result<ShiftCandidates> shift_candidates(const SearchContext& context, const ShiftSpace& space);

inline constexpr std::uint32_t kNoIndex = UINT32_MAX;  // in an order: golden has nothing for it

// One digit of actual's number, and how far golden's number moves with it.
struct Digit {
  std::uint64_t size = 1;
  std::int64_t step = 0;
  std::uint64_t begin = 0;  // of the digits for which golden has an element
  std::uint64_t end = UINT64_MAX;
  std::vector<std::uint32_t> order{};  // if not empty, golden's number moves by order[digit] steps
};

struct Rearrangement {
  std::vector<Digit> digits;  // the most significant first; it never overflows
  std::int64_t base = 0;
  std::uint64_t count = 0;  // elements of golden

  // The number of golden's element that is at actual's `number`; unset if there is none.
  std::optional<std::uint64_t> source_of(std::uint64_t number) const;
};

// One digit per dim, with golden's own strides.
Rearrangement unchanged(const Dims& dims);
std::int64_t stride_of(const Dims& dims, std::size_t dim);

struct RearrangementTally {
  StreamTally all;
  std::uint64_t outside = 0;       // of actual, where golden has nothing for it
  std::uint64_t outside_zero = 0;  // of these, elements whose actual is 0
};

// Whether golden can be read in any order; a COO tensor can only while it is small.
bool rearrangeable(const SearchContext& context);

// Compares all elements of actual. Bounded memory: keeps a few pieces of golden at a time.
Result<RearrangementTally> compare_rearranged(const SearchContext& context,
                                              const Rearrangement& rule);

// The likeness of all elements of actual to golden's at the places that the rule gives.
Result<PairStatistics> rearranged_statistics(const SearchContext& context,
                                             const Rearrangement& rule,
                                             const Normalisation& normalisation);

struct NamedRearrangement {
  Cause cause{};
  std::string words;  // "actual is golden mirrored along dim 3 (W)"
  Rearrangement rule;
  bool changes_most = false;  // requires that most elements that are not 0 would be another number
};

// The first candidate that explains everything, or else the one that explains the most. All of them
// count as hypotheses.
SearchResult find_rearranged(const SearchContext& context,
                             const std::vector<NamedRearrangement>& candidates);

}  // namespace btf::hints
