// Which layers of a network fit a narrow floating type, which must stay wide, and why: from the
// numbers of its tensors as they are in float32.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit/scales.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"

namespace btf {

struct FitOptions {
  std::vector<DType> dtypes{DType::float16};  // float16, bfloat16, and those of fits_by_scale()
  // An ONNX model, with its weights. Nothing: tensors are measured, and no layer is judged.
  std::optional<std::string> graph{};
  Execution execution{};
};

// Numbers are magnitudes; relative ones are root mean squares over a tensor.

// A dumped tensor, or a weight, over all dumps; and what the type does to it.
struct FitTensor {
  std::string name;
  bool weight = false;  // a constant of the model
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  double largest = 0;   // finite
  double smallest = 0;  // above zero; 0: all are zero
  double rms = 0;
  double margin = 0;         // the type's largest number / largest; Inf: all are zero
  double error = 0;          // of rounding to the type, relative
  std::uint64_t beyond = 0;  // finite numbers that become Inf
  std::uint64_t lost = 0;    // numbers that become 0
};

enum class FitReason : std::uint8_t {
  overflow_output,  // numbers that it gives are near the type's largest, or beyond
  overflow_input,   // numbers that it reads are
  overflow_inside,  // a sum on the way to its result is
  variance,         // the variance inside, of squares that are rounded, is off
  nonfinite,        // rounded inputs give Inf or NaN
  lost,             // numbers vanish below the type's smallest
  rounding,         // rounding its input takes the result too far
  feeds,            // another layer cannot bear what it rounds
};

// A reason to stay wide. The number is what was found, the limit what would do.
struct FitFinding {
  FitReason reason{};
  std::string tensor;  // that it is about
  std::string layer;   // `feeds`: which layer cannot bear it
  double number = 0;
  double limit = 0;
  std::uint64_t dumps = 0;  // that say so
};

enum class FitState : std::uint8_t {
  narrow,    // nothing speaks against the type
  wide,      // it must stay wide
  unjudged,  // it cannot be said
};

struct FitLayer {
  std::string name;    // the node's; without one, that of its first output
  bool named = false;  // is it the node's?
  std::string op;
  std::vector<std::string> outputs;
  FitState state = FitState::narrow;
  std::vector<FitFinding> findings{};  // the first is the main one
  std::string why{};                   // `unjudged`: what is in the way
};

// The error of an output of the network, by first-order propagation: an order of magnitude.
struct FitOutput {
  std::string name;
  double narrow = 0;  // relative error with all layers narrow; Inf: it overflows
  double kept = 0;    // with those wide that must be
};

struct FitOfType {
  DType dtype{};
  double largest = 0;        // the type's largest number
  double smallest = 0;       // its smallest above zero
  double unit_roundoff = 0;  // half a step, relative
  std::vector<FitTensor> tensors;
  std::vector<FitLayer> layers;  // in the order of execution; none without a graph
  std::uint64_t wide = 0;        // how many of them
  std::uint64_t unjudged = 0;
  std::vector<FitOutput> outputs;
};

struct FitReport {
  std::vector<std::string> dumps;  // their paths
  std::optional<std::string> graph;
  std::uint64_t integers = 0;       // dumped tensors that hold no floats, and are left out
  std::vector<std::string> unused;  // dumped floats that the graph does not have
  std::vector<FitOfType> types;     // float16, bfloat16
  std::vector<FitOfScales> scaled;  // the others
  std::vector<std::string> warnings;
  std::vector<std::string> troubles;  // what could not be read
};

// Each set is one dump: all tensors of one run. An error: nothing can be measured.
BTF_API Result<FitReport> fit(std::span<TensorSet> dumps, const FitOptions& options);

// Does all fit? Without a graph, where no layer is judged: do all numbers? With a scale, is every
// tensor held or nothing?
BTF_API bool fits(const FitReport& report);

BTF_API std::string_view fit_reason_name(FitReason reason);
BTF_API std::string_view fit_state_name(FitState state);

}  // namespace btf
