// Which shifts are worth a closer look.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "diff/hints/models/reordering.h"

namespace btf::hints {

// An order of the elements in which they may have moved.
struct ShiftSpace {
  Streams streams;
  std::uint64_t count = 0;
  Dims dims{};                       // to shift along one of them
  const StridedLayout* stored = nullptr;  // nothing: row-major order
  Lookup* golden = nullptr;          // by the number in this order
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

}  // namespace btf::hints
