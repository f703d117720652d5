// Which layers of a network may be computed in a narrow type (float16, bfloat16, or codes with a
// scale), which must stay in float32, and why: estimated from the numbers of a float32 run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layout.h"
#include "btf/share.h"
#include "btf/tensor_set.h"

namespace btf {

// Types with a scale: the scale of each tensor of a network, and the error that it costs. The
// measurements for float16 and bfloat16 follow below.

// Returns true for the types that fit() gives a scale: signed ones of 8 bits or fewer. The code of
// a number x is x / scale, rounded to nearest even and clamped; there is no zero point.
BTF_API bool needs_scale(DType dtype);

// Which magnitude the largest code stands for.
enum class FitScaleMethod : std::uint8_t {
  maximum,  // the largest magnitude
  p99_999,  // the percentiles of the magnitudes
  p99_99,
  p99_9,
  least_squares,  // the one with the least sum of squared errors
};

BTF_API std::span<const Named<FitScaleMethod>> fit_scale_methods();
BTF_API std::string_view fit_scale_method_name(FitScaleMethod method);

// Signal-to-noise ratios are 10 log10(sum x^2 / sum error^2), in dB. Inf if there is no error; -Inf
// if the sums exceed a double.
struct FitScale {
  FitScaleMethod method{};
  double scale = 0;  // a float32: number = code * scale
  double snr = 0;
  std::uint64_t clipped = 0;  // numbers beyond the largest code
  std::uint64_t lost = 0;     // numbers that become 0
};

// A channel that is far larger than the others.
struct FitOutlier {
  std::uint64_t channel = 0;
  double largest = 0;  // magnitude in it
  double median = 0;   // of all channels' largest magnitudes
  double snr = 0;      // with one scale for this channel and another for all others
};

// The result of a scale for each channel, by its largest magnitude.
struct FitChannels {
  std::uint32_t axis = 0;
  std::uint64_t count = 0;
  double snr = 0;
  double gain = 0;                      // in dB, compared to one scale by the maximum
  std::optional<FitOutlier> outlier{};  // the channel that most of the gain is due to
};

enum class FitScaling : std::uint8_t {
  held,  // the best scale represents it well enough
  poor,  // with the best scale the SNR is below kFitLeastSnr, or more than kFitMostLost is lost
  nonfinite,  // has NaN or Inf, for which there is no code
  nothing,    // all zeros: any scale will do
};

// Least signal-to-noise ratio that is good enough, in dB: an error of 10 %.
inline constexpr double kFitLeastSnr = 20;
// Largest fraction of the nonzero numbers that may become zero. A ratio of sums of squares alone
// says little about small numbers next to a few large ones.
inline constexpr double kFitMostLost = .5;

struct FitScaledTensor {
  std::string name;
  bool weight = false;         // a constant of the model
  std::uint64_t elements = 0;  // of all dumps
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  std::uint64_t zeros = 0;
  double largest = 0;  // finite magnitude
  double rms = 0;
  FitScaling state = FitScaling::nothing;
  std::vector<FitScale> scales;  // by method; empty if the tensor is all zeros or not finite
  std::size_t best = 0;          // index into `scales`
  std::optional<FitChannels> channels{};
};

// A layer's errors, estimated by first-order propagation.
struct FitScaledLayer {
  std::string name;  // the node's name; if it has none, that of its first output
  std::string op;
  double error = 0;  // relative error of an output if only this layer has the type
  double share = 0;  // fraction of the sum of squared errors of all layers
};

struct FitScaledOutput {
  std::string name;
  double error = 0;  // relative error if all layers have the type
};

struct FitOfScales {
  DType dtype{};
  std::vector<FitScaledTensor> tensors;
  std::vector<FitScaledLayer> layers;  // the largest error first; empty without a graph
  std::uint64_t unjudged = 0;          // layers whose errors are not known
  std::vector<FitScaledOutput> outputs;
};

BTF_API std::span<const Named<FitScaling>> fit_scalings();
BTF_API std::string_view fit_scaling_name(FitScaling state);

struct FitOptions {
  // Types to judge: float16, bfloat16, and those of needs_scale().
  std::vector<DType> dtypes{DType::float16};
  // Path of an ONNX model with its weights. Unset: tensors are measured and no layer is judged.
  std::optional<std::string> graph{};
  Execution execution{};
};

// In the structs below numbers are magnitudes, and relative errors are root mean squares over a
// tensor.

// What rounding to the type does to a tensor, over all dumps.
struct FitTensor {
  std::string name;
  bool weight = false;  // a constant of the model
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t infinite = 0;
  double largest = 0;   // finite
  double smallest = 0;  // above zero; 0 if all are zero
  double rms = 0;
  double margin = 0;         // the type's largest number / `largest`; Inf if all are zero
  double error = 0;          // relative error of rounding to the type
  std::uint64_t beyond = 0;  // finite numbers that become Inf
  std::uint64_t lost = 0;    // numbers that become 0
};

enum class FitReason : std::uint8_t {
  overflow_output,  // its results come near the type's largest number, or exceed it
  overflow_input,   // its inputs do
  overflow_inside,  // an intermediate sum does
  variance,         // the variance that it computes from rounded squares is wrong
  nonfinite,        // rounded inputs give Inf or NaN
  lost,             // numbers are below the type's smallest and become zero
  rounding,         // rounding its inputs changes the result too much
  feeds,            // another layer does not tolerate the rounding of its result
};

// Why a layer must stay in float32: the measured value and the limit that it exceeds.
struct FitFinding {
  FitReason reason{};
  std::string tensor;  // the tensor that was measured
  std::string layer;   // for FitReason::feeds: the layer that does not tolerate it
  double number = 0;
  double limit = 0;
  std::uint64_t dumps = 0;  // how many dumps show it
};

enum class FitState : std::uint8_t {
  narrow,    // may be computed in the type
  wide,      // must stay in float32
  unjudged,  // not known
};

struct FitLayer {
  std::string name;    // the node's name; if it has none, that of its first output
  bool named = false;  // `name` is the node's
  std::string op;
  std::vector<std::string> outputs;
  FitState state = FitState::narrow;
  std::vector<FitFinding> findings{};  // the main one first
  std::string why{};                   // why it could not be judged
};

// Relative error of an output of the network, estimated by first-order propagation: it gives the
// order of magnitude.
struct FitOutput {
  std::string name;
  double narrow = 0;  // with all layers in the type; Inf if the output overflows
  double kept = 0;    // with the layers in float32 that must be
};

struct FitOfType {
  DType dtype{};
  double largest = 0;        // the type's largest number
  double smallest = 0;       // the type's smallest number above zero
  double unit_roundoff = 0;  // half a step, relative
  std::vector<FitTensor> tensors;
  std::vector<FitLayer> layers;  // in the order of execution; empty without a graph
  std::uint64_t wide = 0;        // number of layers in this state
  std::uint64_t unjudged = 0;    // number of layers in this state
  std::vector<FitOutput> outputs;
};

struct FitReport {
  std::vector<std::string> dumps;  // paths
  std::optional<std::string> graph;
  std::uint64_t integers = 0;       // dumped tensors that were left out since they hold no floats
  std::vector<std::string> unused;  // dumped tensors of floats that the graph does not have
  std::vector<FitOfType> types;     // float16, bfloat16
  std::vector<FitOfScales> scaled;  // types with a scale
  std::vector<std::string> warnings;
  std::vector<std::string> troubles;  // what could not be read
};

// Judges the layers of a network for each type. Each set is the dump of one run; several runs on
// different inputs make the result more certain. An error if nothing can be measured.
BTF_API Result<FitReport> fit(std::span<TensorSet> dumps, const FitOptions& options);

// Returns true if every layer may be computed in every type: without a graph if every number fits,
// and for types with a scale if every tensor is held or all zeros.
BTF_API bool fits(const FitReport& report);

BTF_API std::string_view fit_reason_name(FitReason reason);
BTF_API std::string_view fit_state_name(FitState state);

// --- Several processes that measure the items of one run of fit() (docs/scaling.md) ---

struct FitMeasures;  // private to the library

// An item to be measured. With a graph: a layer and its outputs, or an input or weight of the
// network. Without one: the tensors of one name in all dumps.
struct PlannedFit {
  std::string name;
  // For a layer also its operator and inputs, so that the layer of another graph is another item.
  std::string signature{};
  std::uint64_t bytes = 0;       // of the item's own tensors, in all dumps
  std::uint64_t read_bytes = 0;  // of the tensors that it reads
};

struct MeasuredFit {
  std::shared_ptr<const FitMeasures> measures{};
  std::string trouble{};  // why some of it could not be read
  // The files that were read, and their states.
  std::vector<std::pair<std::string, std::optional<FileState>>> files{};
};

using FitShare = ItemShare<PlannedFit, MeasuredFit>;

// Measures this process's share of what fit() would measure with the same arguments, and judges
// nothing.
BTF_API Status measure_fit(std::span<TensorSet> dumps, const FitOptions& options, FitShare& share);

// Does what fit() does, with the measurements of `share`. Dumps are read only for layers after an
// overflow, or after an error in numbers that are zero.
BTF_API Result<FitReport> judge_measured(std::span<TensorSet> dumps, const FitOptions& options,
                                         FitShare& share);

}  // namespace btf
