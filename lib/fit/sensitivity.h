// How errors within a network reach its outputs: the readers of a value, the paths from a value to
// a node, and how much of an error arrives there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fit/dump_measures.h"
#include "fit/node_measure.h"
#include "network/network.h"

namespace btf {

struct FlowReader {
  std::uint32_t node = 0;
  std::size_t input = 0;  // index among its inputs
};

// The readers of each value, and which nodes matter to the network's outputs.
class Flow {
 public:
  explicit Flow(const network::Network& network);

  const std::vector<FlowReader>& readers(std::uint32_t value) const { return readers_[value]; }
  bool is_output(std::uint32_t value) const { return output_[value]; }
  // Returns true if an output of the network depends on the node.
  bool is_live(std::uint32_t node) const { return live_[node]; }

 private:
  std::vector<std::vector<FlowReader>> readers_;  // by value
  std::vector<bool> output_;                      // by value
  std::vector<bool> live_;                        // by node
};

// The effect of rounding a value on a later result, by computing the nodes between them again.
// Answers are cached.
class ForwardRecompute {
 public:
  ForwardRecompute(const network::Network& network, const Flow& flow, const Dump& dump,
                   const DumpMeasures& measures, const NarrowType& type)
      : network_(network), flow_(flow), dump_(dump), measures_(measures), type_(type) {}

  // The error of the node's first result if only the value is rounded: root mean square over some
  // elements. Errors of one number may cancel where several paths meet, so it is unset if there is
  // a single path, and if the nodes between cannot be computed, take too long or give Inf or NaN.
  std::optional<double> error(std::uint32_t value, std::uint32_t node);
  // The same for elementwise operators only, over many elements, by one path or several.
  std::optional<double> error_at_places(std::uint32_t value, std::uint32_t node);

 private:
  using Known = std::map<std::pair<std::uint32_t, std::uint32_t>, std::optional<double>>;

  std::optional<double> computed(std::uint32_t value, std::uint32_t node);

  const network::Network& network_;
  const Flow& flow_;
  const Dump& dump_;
  const DumpMeasures& measures_;
  const NarrowType& type_;
  Known known_;
  Known at_places_;
  std::uint64_t terms_ = 0;  // that were computed so far
};

// If rounding an input gives a larger relative error of the result than this, in u, the node
// amplifies it.
inline constexpr double kAmplified = 2;

// How errors within a network reach its outputs, by first-order propagation.
class Sensitivity {
 public:
  // `wide`: by node.
  Sensitivity(const network::Network& network, const Flow& flow, const DumpMeasures& measures,
              const NarrowType& type, std::vector<bool> wide);

  // Returns true if an input is rounded, by the node itself or by the one that makes it.
  bool is_rounded(std::uint32_t node, std::uint32_t input) const;

  // An error of the node's result as it appears in the output that it affects most, relative to the
  // error there by ordinary rounding of the whole network; both are root mean squares. Unset if it
  // is not known how errors reach an output from there.
  std::optional<double> share(std::uint32_t node, double error) const;
  // The error of the result for which share() is `share`.
  std::optional<double> error_of_share(std::uint32_t node, double share) const;
  // The error of the node's result by ordinary rounding of everything before it.
  double before(std::uint32_t node) const;
  // The part of it that arises in the last few nodes, including the rounding of the node's inputs.
  double nearby(std::uint32_t node) const;

 private:
  struct Output {
    // By value: the square of the output's error relative to that of the value's.
    std::vector<double> gains;
    double noise = 0;  // square of the output's error by ordinary rounding
  };

  Output follow_back(std::uint32_t end) const;
  void find_unseen();
  void follow_on();
  void follow_nearby();
  bool is_ordinary(std::uint32_t node, const InputEffect& effect) const;
  double gain_of(std::uint32_t node, const InputEffect& effect) const;
  bool is_float(std::uint32_t value) const;
  double share_of_one(std::uint32_t node) const;

  const network::Network& network_;
  const DumpMeasures& measures_;
  double amplified_;
  std::vector<bool> wide_;
  std::vector<Output> outputs_;
  std::vector<double> before_;  // by node: squares
  std::vector<double> nearby_;  // by node: squares
  std::vector<bool> unseen_;    // by value: its errors cannot be followed to an output
};

// What output_errors() assumes about each node: whether it is kept in float32, and whether its
// results are finite.
struct AssumedNodes {
  std::vector<bool> wide;
  std::vector<bool> infinite;  // its results are Inf or NaN unless it is wide
};

// The relative error of each output of the network, by first-order propagation.
std::vector<double> output_errors(const network::Network& network, const DumpMeasures& measures,
                                  const NarrowType& type, const AssumedNodes& nodes);

}  // namespace btf
