// What a layer adds to what its own inputs give, as arithmetic or a fault, and what the layers that
// read it say of its dump.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/layout.h"
#include "diff/layers/spot_check.h"
#include "network/network.h"

namespace btf {

// What a layer adds to what its own inputs give: is that arithmetic, or a fault?

// Own errors of the layers of a run, by kind of operator and type: what is usual there.
class Peers {
 public:
  struct Kind {
    std::string narrow;  // "Conv of products float32 3 x 3"
    std::string wide;    // "Conv of products float32"
    std::string window;  // "3 x 3", of a convolution
  };

  // `product`: products of sums are on the way to it.
  static Kind kind_of(const network::Network& network, const network::Node& node, DType stored,
                      bool product);

  void add(std::uint64_t layer, const Kind& kind, double own_error);
  void sort();
  // Of four in five of the others it is no larger. Nothing: there are too few others.
  std::optional<double> usual(std::uint64_t layer, const Kind& kind) const;

 private:
  struct One {
    double error = 0;
    std::uint64_t layer = 0;
    auto operator<=>(const One&) const = default;
  };
  static std::optional<double> usual_of(const std::vector<One>& all, std::uint64_t layer,
                                        std::size_t least);

  std::map<std::string, std::vector<One>> kinds_;
};

// What is known of a layer when its own error is weighed.
struct OwnCase {
  const Dims& dims;
  double half_step = 0;  // of the arithmetic, relative
  bool product = false;
  std::optional<double> usual{};  // of its peers
};

struct OwnWeight {
  enum class Says : std::uint8_t {
    follows,  // the arithmetic explains it, or it is too little to matter
    coarser,  // more than that, spread and small
    matters,  // a fault: structured, or large by itself
  };
  Says says = Says::follows;
  double own_error = 0;
  std::string where{};  // of what is off
};

// All points of a sample, those that are off and those that are not.
OwnWeight weigh(std::span<const SpotPoint> points, const OwnCase& own);

// The part of a layer's own error that the arithmetic of a type and of its peers explains.
double explained_own(const OwnCase& own);

// norm(dumped - recomputed) / norm(recomputed)
double own_error_of(const SideCheck& check);

// Is it the layer that is off, or its dump? What was computed from it tells which numbers the
// device had.

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
