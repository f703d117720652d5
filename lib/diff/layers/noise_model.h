// The error that a layer may have without a fault: from its inputs, its dtype, and what its
// operator does to an error.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layers.h"

namespace btf {

// Effects of ONNX operators on an error. Without a graph, words in names are used to guess them.

// Operators whose error is at most the sum of those of the inputs: nothing is multiplied.
inline constexpr auto kAdding = std::to_array<std::string_view>(
    {"Add", "Sub", "Sum", "Concat", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",
     "Identity", "Slice", "Split", "Pad", "Dropout"});

// Operators that move numbers: their slices differ from those of the input.
inline constexpr auto kMoving = std::to_array<std::string_view>(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Slice",
     "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
inline constexpr auto kMovingWords =
    std::to_array<std::string_view>({"concat", "expand", "flatten", "gather", "reshape", "slice",
                                     "split", "squeeze", "transpose", "view", "permute"});

// Operators in which a signal may cancel while its error remains, and words in names for them.
inline constexpr auto kSubtracting = std::to_array<std::string_view>({"Sub", "Add", "Sum"});
inline constexpr auto kSubtractingWords = std::to_array<std::string_view>({"sub", "diff"});
inline constexpr auto kNormalising = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization", "Div"});
inline constexpr auto kNormWords = std::to_array<std::string_view>(
    {"norm", "ln", "bn", "rsqrt", "div", "reciprocal", "var", "variance"});

// Operators that remove a scale of their input. BatchNormalization is not one: it uses training
// statistics.
inline constexpr auto kScaleFree = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization"});
inline constexpr auto kScaleFreeWords = std::to_array<std::string_view>(
    {"layernorm", "layer_norm", "ln", "rmsnorm", "rms_norm", "groupnorm", "instancenorm"});
inline constexpr auto kExponentials =
    std::to_array<std::string_view>({"Softmax", "LogSoftmax", "Exp", "Sigmoid"});
inline constexpr auto kExponentialWords =
    std::to_array<std::string_view>({"softmax", "exp", "sigmoid"});

// Operators that turn NaN and Inf anywhere in an input into NaN or Inf. A convolution does if it
// uses every element.
inline constexpr auto kCarryingSpecials = std::to_array<std::string_view>({"Add",
                                                                           "BatchNormalization",
                                                                           "Concat",
                                                                           "ConvTranspose",
                                                                           "Flatten",
                                                                           "Gemm",
                                                                           "GlobalAveragePool",
                                                                           "Identity",
                                                                           "InstanceNormalization",
                                                                           "LayerNormalization",
                                                                           "MatMul",
                                                                           "Mul",
                                                                           "ReduceMean",
                                                                           "ReduceSum",
                                                                           "Reshape",
                                                                           "Squeeze",
                                                                           "Sub",
                                                                           "Sum",
                                                                           "Transpose",
                                                                           "Unsqueeze"});

// Operators that sum many products.
inline constexpr auto kProducts =
    std::to_array<std::string_view>({"Conv", "ConvTranspose", "Gemm", "MatMul"});

// "Add" is in kAdding, for example.
bool is_one_of(std::string_view op, std::span<const std::string_view> ops);

// Whether the name contains one of the words. Short words must be separated by non-letters: "ln" is
// not in "kiln".
bool has_word(std::string_view name, std::span<const std::string_view> words);

// Producers and consumers of a layer, among the layers that can be judged.
class Neighbours {
 public:
  explicit Neighbours(const LayerReport& report);

  // True if links come from a graph; otherwise all layers before a layer count as its inputs.
  bool by_graph() const { return by_graph_; }
  const std::vector<std::uint64_t>& consumers(std::uint64_t layer) const {
    return consumers_[layer];
  }
  // The number of layers computed from it for which counts() is true.
  template <typename Counts>
  std::uint64_t reached(std::uint64_t layer, Counts&& counts) const {
    std::vector<bool> seen(consumers_.size(), false);
    std::vector<std::uint64_t> open = consumers_[layer];
    std::uint64_t found = 0;
    while (!open.empty()) {
      const std::uint64_t at = open.back();
      open.pop_back();
      if (seen[at]) continue;
      seen[at] = true;
      found += counts(at) ? 1U : 0U;
      open.insert(open.end(), consumers_[at].begin(), consumers_[at].end());
    }
    return found;
  }

 private:
  bool by_graph_;
  std::vector<std::vector<std::uint64_t>> consumers_;
};

// A weight, which exists before the run: no layer computes it.
bool is_weight(const Layer& layer);

// A weight, or a tensor from outside of what was dumped. By order alone neither is a consumer of
// the layer before it.
bool is_given(const Layer& layer);

// Whether its error is defined: it has numbers, and golden has a signal.
bool can_measure(const Layer& layer);

// can_measure(), and it has a place in the order.
bool can_judge(const Layer& layer);

// Whether it was recomputed from its own inputs.
bool is_recomputed(const Layer& layer);

// Whether its own error exceeds the option's limit.
bool adds_too_much(const Layer& layer, const LayerLimits& options);

// Whether the spot check found only rounding, of any size.
bool is_arithmetic(SpotState state);

// Whether it has a result, and that is not bad.
bool was_judged(const Layer& layer);

// The size of two independent errors together. Not std::hypot, whose last digits differ between
// machines.
inline double root_sum_of_squares(double one, double other) {
  return std::sqrt(one * one + other * other);
}

inline constexpr std::uint64_t kNoLeftOut = UINT64_MAX;

// Errors and properties of the inputs of a layer.
struct Inputs {
  double relative_error = 0;
  double slice_error = 0;
  double gain_share = 0;
  double offset_share = 0;
  bool special = false;      // NaN or Inf that golden does not have
  bool exact = true;         // all inputs are equal bit for bit
  double adding = 0;         // norms of the errors that an addition passes on
  double adding_slices = 0;  // the same for the worst slices
  bool direct = true;        // no tensor in between was left out of the dump
  // The error after a normalisation: relative to the signal without its mean.
  double spread_error = 0;
  double unit_roundoff = 0;  // of the dtype of the nearest input
  double rms_error = 0;      // absolute, for an exponential
  double peak = 0;           // golden's largest magnitude

  // `add`: errors of several inputs add up; otherwise the largest one counts.
  void take(const Layer& layer, bool add);
};

// Inputs this far off explain any error.
inline constexpr double kMaxInputError = 0.5;

// By order alone. `before` covers all layers before i; only the last of them are used for scales.
Inputs order_inputs(const std::vector<Layer>& all, std::uint64_t i, const Inputs& before);

// By the graph. An input that must not be used, mainly a wrong dump or the layer `without`, is
// replaced by its own inputs.
Inputs graph_inputs(const std::vector<Layer>& all, std::uint64_t i,
                    std::uint64_t without = kNoLeftOut);

// The precision in which a run computes, as far as it can be inferred.
struct RunPrecision {
  double unit_roundoff = 0;   // of floats
  bool grid = false;          // quantised: numbers are on grids of a few hundred values
  std::string source;         // "float16", "`judge.compute` int8", "bits of float16 in float32"
  bool guessed_grid = false;  // inferred from the size of errors alone
};

// For a run with dequantised tensors: "8-bit codes of a quantised model (7 layers)".
std::string codes_text(const LayerReport& report);

RunPrecision run_precision(const LayerReport& report, const LayerLimits& options);

// The dtype that the options or the engine's list give for computing a layer, if any.
std::optional<DType> computed_in(const Layer& layer, const LayerLimits& options);

// The next coarser precision that a unit roundoff of `u`, seen in this layer, fits. Unset if none
// does, or if the options state the precision.
std::optional<RunPrecision> coarser_than(const RunPrecision& run, const Layer& layer, double u,
                                         const LayerLimits& options);

// The unit roundoff of one layer.
double layer_u(const Layer& layer, const RunPrecision& run, const LayerLimits& options);

// Whether the grid of actual's numbers is coarser than a float's own steps of 2u at a number of
// size `peak`.
bool is_coarser(const LayerFigures& figures, double peak, double u);

// True for masks and indices, whose values have no distances.
bool is_counted(const Layer& layer);

// Whether a baseline gives the usual error of every layer that was measured.
bool is_by_baseline(const LayerReport& report);

// A layer with at least this many times its noise is broken; below, down to the limit, suspect.
inline constexpr double kBrokenLimit = 8;

// ratio of error to noise from which a scale or an offset is detected
inline constexpr double kMinSystematic = 0.5;

// With fewer numbers the figures depend on chance.
inline constexpr std::uint64_t kFewNumbers = 64;

// error / noise
double times_noise(double error, double noise);

// LayerFault::gain if the error is proportional to the signal, offset if it is constant, else none.
LayerFault systematic_fault(const LayerFigures& figures, const Inputs& in);

// Whether it is clearly off but was not judged, because it has no place in the order.
bool is_off_unplaced(const Layer& layer);

// By the operator of the graph, or else by words in the name.
bool is_op(const Layer& layer, std::span<const std::string_view> ops,
           std::span<const std::string_view> words);

double floor_of(const Layer& layer);

class NoiseModel {
 public:
  // All of them must outlive it.
  NoiseModel(const LayerLimits& options, const RunPrecision& precision,
             const Neighbours& neighbours)
      : options_(options), precision_(precision), neighbours_(neighbours) {}

  double noise(const Layer& layer, const Inputs& in) const;
  double slice_noise(const Layer& layer, const Inputs& in) const;
  // How many times its noise the error of the worst slice may be.
  double slice_limit(const Layer& layer) const;

 private:
  bool adds(const Layer& layer, const Inputs& in) const;
  double u_of(const Layer& layer, const Inputs& in) const;

  const LayerLimits& options_;
  const RunPrecision& precision_;
  const Neighbours& neighbours_;
};

}  // namespace btf
