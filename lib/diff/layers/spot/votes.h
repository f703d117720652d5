// Is it the layer that is off, or its dump? What was computed from it tells which numbers the
// device had.
#pragma once

#include <cstdint>
#include <span>

#include "diff/layers/spot/check.h"

namespace btf {

// Elements of a consumer that follow from one of two and not from the other.
struct DumpVotes {
  std::uint64_t dump = 0;   // from what was dumped
  std::uint64_t other = 0;  // from what it should have been
  std::uint64_t both = 0;   // from either: where the two are too near to tell
  std::uint64_t neither = 0;
  // Sums of squares: how far the consumer's elements are from what either gives.
  double to_dump = 0;
  double to_other = 0;
};

// What stands for the numbers that the device would have had if the dump is wrong.
enum class InPlace : std::uint8_t {
  recomputed,  // from the value's own inputs
  golden,      // golden's numbers: near those of a device that is right, and not equal to them
};

// The levels of a question: the consumer's, and that of what stands in place of the dump.
struct AskedLevels {
  std::size_t consumer = 0;
  std::size_t other = 0;
};

// Asks a consumer about a value that it was computed from. `sample`: elements of the consumer.
// `golden`: where golden's numbers are.
DumpVotes ask_consumer(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
                       std::uint32_t consumer, InPlace in_place, AskedLevels levels,
                       std::span<const std::uint64_t> sample);

}  // namespace btf
