// Weighs the elements that a spot check finds off: rounding, a coarser type, or a fault; and
// whether the layers that read a value confirm its dump.
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

// Own errors of the layers of a run by kind of operator and type, to know what is usual.
class Peers {
 public:
  struct Kind {
    std::string narrow;  // "Conv of products float32 3 x 3"
    std::string wide;    // "Conv of products float32"
    std::string window;  // "3 x 3", of a convolution
  };

  // `product`: sums of products are involved in computing it.
  static Kind kind_of(const network::Network& network, const network::Node& node, DType stored,
                      bool product);

  void add(std::uint64_t layer, const Kind& kind, double own_error);
  void sort();
  // The error that four in five of the other layers of its kind do not exceed; unset if there are
  // too few of them.
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

// The facts about a layer by which its own error is weighed.
struct OwnErrorContext {
  const Dims& dims;
  double half_step = 0;  // relative, of the arithmetic
  bool product = false;
  std::optional<double> usual{};  // own error of its peers
};

struct OwnErrorAssessment {
  enum class Outcome : std::uint8_t {
    follows,  // explained by the arithmetic, or too small to matter
    coarser,  // larger than that, but spread evenly and small
    matters,  // a fault: structured, or large by itself
  };
  Outcome outcome = Outcome::follows;
  double own_error = 0;
  std::string where{};  // where the elements are that are off
};

// `points`: the whole sample, including elements that follow from their inputs.
OwnErrorAssessment assess_own_error(std::span<const SpotPoint> points, const OwnErrorContext& own);

// The part of the own error that the arithmetic of the type and the layer's peers explain.
double explained_own(const OwnErrorContext& own);

// norm(dumped - recomputed) / norm(recomputed)
double own_error_of(const SideCheck& check);

// Votes on whether a layer computed wrong numbers or only its dump is wrong: elements of a consumer
// that follow from one version of the numbers and not from the other.
struct DumpVotes {
  std::uint64_t dump = 0;   // from what was dumped
  std::uint64_t other = 0;  // from what it should have been
  std::uint64_t both = 0;   // from either, since the two are too close together
  std::uint64_t neither = 0;
  // Sums of squares: the distance of the consumer's elements from what each version gives.
  double to_dump = 0;
  double to_other = 0;
};

// The numbers that the device had if the dump is wrong.
enum class Replacement : std::uint8_t {
  recomputed,  // recomputed from the value's own inputs
  golden,      // golden's, which are close to those of a device that is right but not equal
};

// The precision levels at which the consumer, and the numbers in place of the dump, are recomputed.
struct VoteLevels {
  std::size_t consumer = 0;
  std::size_t other = 0;
};

// Recomputes elements (`sample`) of a consumer from both versions of a value. `golden`: the dumps
// with golden's numbers.
DumpVotes consumer_votes(const SpotSide& side, const SpotDumps& golden, std::uint32_t value,
                         std::uint32_t consumer, Replacement replacement, VoteLevels levels,
                         std::span<const std::uint64_t> sample);

}  // namespace btf
