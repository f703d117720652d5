// What of a network matters to its outputs: who reads a value, by which ways an error comes to a
// node, and how much of it is left there.
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

// Who reads a value, and what of a network matters to its outputs.

struct FlowReader {
  std::uint32_t node = 0;
  std::size_t input = 0;  // which of its inputs
};

class Flow {
 public:
  explicit Flow(const network::Network& network);

  const std::vector<FlowReader>& readers(std::uint32_t value) const { return readers_[value]; }
  bool is_output(std::uint32_t value) const { return output_[value]; }
  // Does an output of the network depend on the node?
  bool is_live(std::uint32_t node) const { return live_[node]; }

 private:
  std::vector<std::vector<FlowReader>> readers_;  // of values
  std::vector<bool> output_;                      // of values
  std::vector<bool> live_;                        // of nodes
};

// The effect of rounding a value on a result farther on, computed anew from there on. Each answer
// is kept for the next time.

class Replay {
 public:
  Replay(const network::Network& network, const Flow& flow, const Dump& dump,
         const DumpMeasures& measures, const NarrowType& type)
      : network_(network), flow_(flow), dump_(dump), measures_(measures), type_(type) {}

  // The error of the node's first result where the value alone is rounded, root mean square over
  // some elements, since errors of one number may cancel where several ways meet. Nothing: it comes
  // there by one way only, what is in between cannot be computed, takes too long, or becomes Inf or
  // NaN.
  std::optional<double> error(std::uint32_t value, std::uint32_t node);
  // The same by chain_error(), by one way or several.
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
  std::uint64_t terms_ = 0;  // of all that was computed so far
};

// How an error within a network comes to its outputs, by first-order propagation.

// Errors of a result, relative and in u, above which what rounds an input amplifies its error.
inline constexpr double kAmplified = 2;

class Sensitivity {
 public:
  // `wide`: by node.
  Sensitivity(const network::Network& network, const Flow& flow, const DumpMeasures& measures,
              const NarrowType& type, std::vector<bool> wide);

  // Is an input of the node rounded: by it, or by what makes it?
  bool is_rounded(std::uint32_t node, std::uint32_t input) const;

  // The size of an error of the node's result at the output that it shows most at, as a part of
  // what ordinary rounding of the whole network is there. Both root mean squares. Nothing: it is
  // not seen how errors come to an output from there.
  std::optional<double> share(std::uint32_t node, double error) const;
  // The error of the result of which share() is this.
  std::optional<double> error_of_share(std::uint32_t node, double share) const;
  // The error that ordinary rounding of all that is before it brings to the node's result.
  double before(std::uint32_t node) const;
  // The part of it that arises in the last few nodes, and what the node itself reads rounded.
  double nearby(std::uint32_t node) const;

 private:
  struct Output {
    std::vector<double>
        gains;         // by value: the square of the output's error over that of the value's
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
  std::vector<double> nearby_;  // likewise
  std::vector<bool> unseen_;    // by value: whether errors of it come to an output is not followed
};

struct AssumedNodes {
  std::vector<bool> wide;
  std::vector<bool> infinite;  // their results are Inf or NaN, where they are not wide
};

// The relative error of each output of the network, by first-order propagation.
std::vector<double> output_errors(const network::Network& network, const DumpMeasures& measures,
                                  const NarrowType& type, const AssumedNodes& nodes);

}  // namespace btf
