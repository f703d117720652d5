// The effect on a node's result of rounding its inputs, by the formula of its operator.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "btf/error.h"
#include "fit/measure/dump.h"
#include "fit/measure/narrow_type.h"
#include "fit/measure/tensor_measure.h"
#include "network/network.h"
#include "network/operators/operator.h"

namespace btf {

// A value as a narrow device has it.
struct ValueNoise {
  TensorMeasure measure;
  LossyRuns lossy{};      // of what was measured by this process
  bool known = false;     // it was measured
  std::string trouble{};  // an error of reading it
  bool floating = false;  // it holds floats
  double noise = 0;       // its own rounding error: root mean square
  // Its numbers are of the type by chance, while those that it is computed from are not.
  bool by_luck = false;
  // Magnitudes above it become Inf, since those that they are computed from do.
  double infinite_from = HUGE_VAL;

  // Relative to the value; a value of zeros that has an error: Inf.
  double relative() const {
    const double rms = measure.rms();
    return rms > 0 ? noise / rms : noise > 0 ? HUGE_VAL : 0;
  }
};

// The part of u that rounding any numbers costs, relative: errors are spread over a step.
inline constexpr double kTypicalNoise = 0.4;

struct InputEffect {
  std::size_t input = 0;            // among the node's
  double noise = 0;                 // of the input: root mean square
  double error = 0;                 // of the result, likewise
  std::uint64_t nonfinite = 0;      // results that become Inf or NaN
  std::uint64_t nan = 0;            // of these
  double infinite_from = HUGE_VAL;  // results above it, within the type's limit, become Inf
  std::uint64_t zeroed = 0;         // results that become 0
  double rms = 0;                   // of the results that were computed twice for it
  // The gain of a small error of the input. Rounding is none where numbers vanish or overflow.
  double gain = 1;
  // The same of an error that the input has from before: those of elements that are added up are
  // alike, as rounded weights make them, and do not shrink as independent ones do.
  double carried = 1;
  // The input as it is goes into the result, so that it is the same error there.
  bool passes_on = false;
};

struct NodeMeasure {
  network::Passing passing = network::Passing::unknown;
  std::string trouble;              // why it cannot be judged; empty: it can be
  std::vector<InputEffect> inputs;  // those that hold floats
  // The same if they have Inf from before; nothing: they have none.
  std::vector<InputEffect> with_infinite;
  bool averages = false;      // a result is of many numbers of the input
  double terms = 0;           // products in a sum of the result; 0: it is of no such sums
  double rms = 0;             // of the result; of places: the largest of the effects'
  double inside = 0;          // largest magnitude on the way to a result
  double variance_error = 0;  // relative
};

struct NodeContext {
  const network::Network& network;
  const Dump& dump;
  const NarrowType& type;
  const std::vector<ValueNoise>& values;
};

// Whether the input is a factor of the products that the node sums up: both operands, or all of
// Einsum's, of which there may be one or many. The others are biases and the like.
bool multiplies(const network::Node& node, std::size_t input);

// The root mean square of what an input of such a node is multiplied by; 1 where nothing is.
double other_factors(const std::vector<ValueNoise>& values, const network::Node& node,
                     std::size_t input);

// The numbers of a value: dumped, stored in the model, or computed from these where that is little.
// Nothing: there are none.
Result<std::optional<Numbers>> open_numbers(const network::Network& network, const Dump& dump,
                                            std::uint32_t value);

// Adds those effects that follow from the others, and from the values.
void finish_effects(const NodeContext& context, std::uint32_t node, NodeMeasure& measure);

// `infinite`: with the Inf that its inputs have from before.
NodeMeasure measure_node(const NodeContext& context, std::uint32_t node, bool infinite = false);

}  // namespace btf
