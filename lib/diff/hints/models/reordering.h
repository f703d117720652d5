// Hypotheses that elements are right but at other indices.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "diff/hints/evidence/significance.h"
#include "diff/hints/models/flat_stream.h"
#include "diff/hints/models/likeness.h"

namespace btf::hints {

// A view to stream a side through: by it element i of the one is element i of the other.
struct Streams {
  StridedLayout actual;
  StridedLayout golden;
};

// Elements side by side, `lag` apart: number i of actual with number i - lag of golden. Only where
// the position i / inner % extent is in [begin, end).
struct Alignment {
  std::int64_t lag = 0;
  std::uint64_t inner = 1;
  std::uint64_t extent = UINT64_MAX;
  std::uint64_t begin = 0;
  std::uint64_t end = UINT64_MAX;
  bool exchange = false;  // golden's elements 2k and 2k + 1 exchanged; lag is 0
};

struct StreamTally {
  std::uint64_t compared = 0;
  std::uint64_t agreed = 0;
  std::uint64_t lenient = 0;  // of these, what the user would not accept

  void add(const StreamTally& other) {
    compared += other.compared;
    agreed += other.agreed;
    lenient += other.lenient;
  }
  std::uint64_t exceptions() const { return compared - agreed; }
};

// "1000 of 1000 elements, 12 of them within float16's rounding"
std::string agreed_text(const Inquiry& inquiry, const StreamTally& tally);

Result<StreamTally> compare_streams(const Inquiry& inquiry, const Streams& streams,
                                    std::uint64_t count, const Alignment& alignment);

// How alike all elements are that stand side by side so.
Result<Likeness> likeness_of_streams(const Inquiry& inquiry, const Streams& streams,
                                     const Alignment& alignment, const Yardstick& yardstick);

// The numbers, in a look-up's view, of the elements that replace points; nothing: outside.
using Places = std::function<std::optional<std::uint64_t>(const Point& point)>;

Result<Moved> look_up_moved(Lookup& lookup, std::span<const Point> points, const Places& places);

// promising() on a few and then convincing().
Result<bool> worth_a_walk(const Inquiry& inquiry, MovedSide side, Lookup& lookup,
                          const Places& places, double hypotheses);

// Can the tensors be streamed as if they were dense?
bool streamable(const Inquiry& inquiry);

}  // namespace btf::hints
