// What explains the error of a layer without a fault: its inputs, its dtype, and what its operator
// does to an error.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/layers/layers.h"

namespace btf {

// Effects of ONNX operators on an error; operators guessed from names where there is no graph.

// Whose error is at most the sum of those of its inputs: nothing is multiplied.
inline constexpr auto kAdding = std::to_array<std::string_view>(
    {"Add", "Sub", "Sum", "Concat", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze",
     "Identity", "Slice", "Split", "Pad", "Dropout"});

// Which move numbers: their slices are others than those of their input.
inline constexpr auto kMoving = std::to_array<std::string_view>(
    {"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Identity", "Pad", "Reshape", "Slice",
     "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
inline constexpr auto kMovingWords =
    std::to_array<std::string_view>({"concat", "expand", "flatten", "gather", "reshape", "slice",
                                     "split", "squeeze", "transpose", "view", "permute"});

// Where a signal may cancel and leave its error, by operators and by what names say.
inline constexpr auto kSubtracting = std::to_array<std::string_view>({"Sub", "Add", "Sum"});
inline constexpr auto kSubtractingWords = std::to_array<std::string_view>({"sub", "diff"});
inline constexpr auto kNormalising = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization", "BatchNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization", "Div"});
inline constexpr auto kNormWords = std::to_array<std::string_view>(
    {"norm", "ln", "bn", "rsqrt", "div", "reciprocal", "var", "variance"});

// Which take a scale of their input out again; a batch's is that of the training.
inline constexpr auto kScaleFree = std::to_array<std::string_view>(
    {"LayerNormalization", "InstanceNormalization", "GroupNormalization",
     "SimplifiedLayerNormalization", "RMSNormalization", "LpNormalization"});
inline constexpr auto kScaleFreeWords = std::to_array<std::string_view>(
    {"layernorm", "layer_norm", "ln", "rmsnorm", "rms_norm", "groupnorm", "instancenorm"});
inline constexpr auto kExponentials =
    std::to_array<std::string_view>({"Softmax", "LogSoftmax", "Exp", "Sigmoid"});
inline constexpr auto kExponentialWords =
    std::to_array<std::string_view>({"softmax", "exp", "sigmoid"});

// Which make NaN, or Inf, of NaN and Inf wherever they are in an input; a convolution does where it
// leaves none of it out.
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

// "Add" among kAdding.
bool is_one_of(std::string_view op, std::span<const std::string_view> ops);

// Is one of the words in the name? Short ones only between what is no letter: "ln" within "kiln" is
// none.
bool has_word(std::string_view name, std::span<const std::string_view> words);

// Producers and consumers of a layer, among the layers that can be judged.

class Neighbours {
 public:
  explicit Neighbours(const LayerReport& report);

  // With a graph, the layer's; else nothing, for all that is before it counts.
  bool by_graph() const { return by_graph_; }
  const std::vector<std::uint64_t>& consumers(std::uint64_t layer) const {
    return consumers_[layer];
  }
  // How many of the layers that are computed from it fulfil `counts`.
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

// Is it there before the run: a weight? No layer computes it.
bool is_weight(const Layer& layer);

// Or does it come from outside of what the dumps are of? By order alone neither is a consumer of
// the layer in front of it.
bool is_given(const Layer& layer);

// Is its error a figure: of numbers, and with a signal in golden?
bool can_measure(const Layer& layer);

// And has the order a place for it?
bool can_judge(const Layer& layer);

// Was it found out whether its numbers follow from its own inputs?
bool is_recomputed(const Layer& layer);

// Does it add more by itself than is allowed?
bool adds_too_much(const Layer& layer, const JudgeLayers& options);

// Is what it found no fault: rounding, of whatever size?
bool is_arithmetic(SpotState state);

// Was something said of it, and nothing bad?
bool was_judged(const Layer& layer);

// The inputs of a layer and their errors.

// The size of two independent errors together. std::hypot has other last digits on other machines.
inline double joined(double one, double other) { return std::sqrt(one * one + other * other); }

inline constexpr std::uint64_t kNoLeftOut = UINT64_MAX;

// Errors and properties of the inputs of a layer.
struct Inputs {
  double relative_error = 0;
  double slice_error = 0;
  double gain_share = 0;
  double offset_share = 0;
  bool special = false;      // NaN or Inf that golden has not
  bool exact = true;         // equal to the bit, all of them
  double adding = 0;         // the norms of what an addition carries over: errors
  double adding_slices = 0;  // and the worst slices
  bool direct = true;        // nothing lies between
  // The error after a normalisation: relative to the signal without its mean.
  double spread_error = 0;
  double unit_roundoff = 0;  // of their dtype, of the nearest
  double rms_error = 0;      // as it is, for an exponential
  double peak = 0;           // golden's largest magnitude

  // `add`: errors of several inputs add up; else the largest stands for all.
  void take(const Layer& layer, bool add);
};

// Inputs that are so far off explain anything.
inline constexpr double kTooFar = 0.5;

// By order alone: `before` covers all layers before i, of which the last ones show scales.
Inputs order_inputs(const std::vector<Layer>& all, std::uint64_t i, const Inputs& before);

// By the graph. What is not to be used, a wrong dump above all and the layer `without`, is replaced
// by its own inputs.
Inputs graph_inputs(const std::vector<Layer>& all, std::uint64_t i,
                    std::uint64_t without = kNoLeftOut);

// Relative errors of half a step that the arithmetic of a dtype explains.

// The precision that the run computes in, as far as it can be inferred.
struct RunPrecision {
  double unit_roundoff = 0;   // of floats
  bool grid = false;          // numbers lie on grids of a few hundred values: quantised
  std::string source;         // "float16", "`judge.compute` int8", "bits of float16 in float32"
  bool guessed_grid = false;  // by the size of errors alone
};

// Of a run whose tensors are what codes stand for: "8-bit codes of a quantised model (7 layers)".
std::string codes_text(const LayerReport& report);

RunPrecision run_precision(const LayerReport& report, const JudgeLayers& options);

// The dtype that a layer is computed in, as it is said: by a rule, for all, or by the engine's
// list.
std::optional<DType> computed_in(const Layer& layer, const JudgeLayers& options);

// The next coarser one that a half step of `u`, seen in this layer, fits to. Nothing: none does, or
// it is said what the run computes in.
std::optional<RunPrecision> coarser_than(const RunPrecision& run, const Layer& layer, double u,
                                         const JudgeLayers& options);

// The unit roundoff of one layer.
double layer_u(const Layer& layer, const RunPrecision& run, const JudgeLayers& options);

// Is the grid of actual's numbers coarser than a float's own steps of 2u at a number like `peak`?
bool is_coarser(const LayerFigures& figures, double peak, double u);

// Do its numbers have no distances, as those of masks and indices?
bool is_counted(const Layer& layer);

// Do the errors of a baseline say what is usual, of every layer that was measured?
bool is_by_baseline(const LayerReport& report);

// The error of a layer that its inputs and its dtype explain.

// From this value on a layer is broken; below, down to the limit, suspect.
inline constexpr double kSurely = 8;

// A scale or an offset is detected from this value on.
inline constexpr double kMinAlong = 0.5;  // error to noise

// With fewer numbers the figures are chance.
inline constexpr std::uint64_t kFewNumbers = 64;

// error / noise
double times_noise(double error, double noise);

// Does the error go along with the signal, or is it the same everywhere?
LayerFault along_of(const LayerFigures& figures, const Inputs& in);

// Is it plainly off, and not judged as the order has no place for it?
bool is_off_unplaced(const Layer& layer);

// By the graph's operator; else by what the name says.
bool is_op(const Layer& layer, std::span<const std::string_view> ops,
           std::span<const std::string_view> words);

double floor_of(const Layer& layer);

class Explained {
 public:
  // All of them outlive it.
  Explained(const JudgeLayers& options, const RunPrecision& precision, const Neighbours& neighbours)
      : options_(options), precision_(precision), neighbours_(neighbours) {}

  double noise(const Layer& layer, const Inputs& in) const;
  double slice_noise(const Layer& layer, const Inputs& in) const;
  // How much worse the worst slice may be.
  double slice_limit(const Layer& layer) const;

 private:
  bool adds(const Layer& layer, const Inputs& in) const;
  double u_of(const Layer& layer, const Inputs& in) const;

  const JudgeLayers& options_;
  const RunPrecision& precision_;
  const Neighbours& neighbours_;
};

}  // namespace btf
