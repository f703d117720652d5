// Which layer of a network broke first? Two sets of dumped tensors are paired by name, put into the
// order of execution, measured pair by pair, and judged: each layer by how much of its error its
// inputs do not explain (docs/layers.md).
//
// compare_layers() does all of it. judge_layers() judges a report again by other limits.
// measure_layers() and judge_measured() divide the work among processes (btf/part.h).
// read_statistics() and compare_statistics() are for dumps without elements.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layout.h"
#include "btf/pair_names.h"
#include "btf/set_diff.h"
#include "btf/share.h"
#include "btf/tensor_set.h"

namespace btf {

// With at least this many elements, a small number of distinct values is no coincidence.
inline constexpr std::uint64_t kManyElements = 2048;

// Figures of one side of a pair, over the pairs of finite numbers.
struct LayerSide {
  double norm = 0;  // square root of the sum of squares
  double sum = 0;
  double peak = 0;         // largest magnitude
  std::uint32_t bits = 0;  // bits of the significand in use: 11 for float16, whatever stores it
  // Rms distance between neighbouring values if there are 17 to 256 distinct ones, else 0. With
  // fewer than kManyElements numbers they must also be multiples of one step.
  double step = 0;
  // Scale by which integer codes were dequantised, or the rms of several scales; 0 if none was
  // used.
  double scale = 0;
  std::uint64_t fingerprint = 0;    // hash of the numbers in order: equal tensors have equal ones
  std::array<double, 4> samples{};  // the first number, those at one and two thirds, and the last
};

// Consecutive elements in row-major order.
struct ElementRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// Figures of a pair of layers. They depend on that pair alone. Sums are over pairs of finite
// numbers; e is actual - golden.
struct LayerFigures {
  std::uint64_t elements = 0;
  std::uint64_t pairs = 0;  // of finite numbers
  std::uint64_t equal = 0;  // equal pairs of finite numbers
  NanCount nan{};
  InfCount inf{};
  // Elements of actual at the largest number of its dtype while golden is smaller.
  std::uint64_t at_limit = 0;
  // Pairs of attention masks: both sides are -9000 or less, or -Inf, while all other numbers are
  // small. They are not counted anywhere else.
  std::uint64_t masked = 0;
  LayerSide actual{};
  LayerSide golden{};
  double error = 0;      // norm of e
  double max_error = 0;  // largest |e|

  // error / golden.norm; Inf if golden is all zero and actual is not. JSON: e.
  double relative_error = 0;
  // Largest norm(e) / norm(golden) of a slice (a channel, or a part of the tensor). A golden norm
  // below that of the mean slice is replaced by it. JSON: w.
  double slice_error = 0;
  // |sum(e * golden)| / (error * golden.norm): 1 if the error is a wrong scale alone. JSON: rho.
  double gain_share = 0;
  // |mean(e)| / rms(e): 1 if the error is a wrong offset alone. JSON: mu.
  double offset_share = 0;
  double gain = 1;            // of the best fit actual = gain * golden
  bool scale_fitted = false;  // actual holds codes and golden numbers: e is after the best scale
  std::vector<ElementRun> worst_runs{};  // runs that hold the largest |e|; not part of reports

  std::uint64_t new_nan() const { return nan.actual; }
  std::uint64_t new_inf() const { return inf.actual + inf.opposite; }
  // NaN and Inf that only one of the two sides has.
  std::uint64_t one_sided() const { return new_nan() + new_inf() + nan.golden + inf.golden; }
};

// The result of recomputing elements of a layer from the inputs that the same run dumped, by the
// model and its weights.
enum class SpotState : std::uint8_t {
  unchecked,  // not recomputed; `why` has the reason
  follows,    // every element follows from the inputs: the layer is right, whatever they are
  coarser,    // a small error, spread as rounding is: computed with fewer bits than its peers
  rounded,    // the layers that read it used finer numbers than were dumped
  off,        // elements do not follow: the layer computed something else, or its dump is wrong
  used,       // off, and the layers that read it computed with the dumped numbers
  unused,     // off, and the layers that read it computed with other numbers: its dump is wrong
};

// An element that does not follow from its inputs.
struct SpotElement {
  Dims index{};
  double actual = 0;
  double golden = 0;
  double recomputed = 0;  // from actual's inputs
  double explained = 0;   // largest distance from it that rounding explains
};

struct SpotCheck {
  SpotState state = SpotState::unchecked;
  std::uint64_t checked = 0;     // elements of actual that were recomputed
  std::uint64_t off = 0;         // those that do not follow from the inputs
  std::uint64_t overflowed = 0;  // those that are Inf although the inputs give a finite number
  std::uint64_t golden_checked = 0;
  std::uint64_t golden_off = 0;
  std::string precision{};  // the arithmetic that the elements are judged by: "float16"
  // The error that the layer itself adds: norm(actual - recomputed) / norm(recomputed), over the
  // elements of the sample.
  std::optional<double> own_error{};
  // The own error that four in five peers of the layer do not exceed (peers: layers of this run
  // with the same kind of operator and dtype). Unset if it has none.
  std::optional<double> usual_error{};
  // For a coarser layer: what it adds to the error of the outputs, if errors are independent.
  std::optional<double> adds{};
  std::string where{};  // which elements are off: "dim 1 = 5", "spread"; empty if none is
  std::string holds{};  // the layer whose numbers were dumped in place of its own
  std::optional<SpotElement> element{};  // the one that is furthest off
  std::string why{};
};

// Where the order of execution comes from, from the most to the least certain.
enum class OrderSource : std::uint8_t {
  file,      // a list of names
  graph,     // an ONNX model
  recorded,  // the set itself: a summary, a manifest, a name table
  numbered,  // names that begin with numbers
  stored,    // the order of tensors in a file whose format keeps it
  natural,   // a guess: names sorted, fc2 before fc10
};

enum class LayerState : std::uint8_t {
  healthy,    // its inputs and its dtype explain its error
  root,       // the fault is here
  dump,       // the dump is wrong, not the layer: the layers that read it agree
  unjudged,   // after a layer that broke, or there is nothing to judge it by
  missing,    // only one side has it
  unmeasured  // its elements cannot be compared
};

// What is wrong with a layer.
enum class LayerFault : std::uint8_t {
  none,
  born,    // NaN or Inf that no input has
  shape,   // a different number of elements
  error,   // more error than its inputs explain
  local,   // more error than its inputs explain, in one slice
  gain,    // a wrong scale
  offset,  // a wrong offset
};

enum class VerdictKind : std::uint8_t {
  clean,
  broke,
  inputs,       // the inputs of the network differ already
  dump_wrong,   // tensors were dumped wrongly, the computation is right
  drift,        // nothing broke, but the outputs are too far off
  amplified,    // an error grew where a signal cancels; no proof of a fault
  missing,      // all pairs are right, but an output (with `require_all` anything) is not paired
  cannot_tell,  // too little is known for a verdict
};

BTF_API std::span<const Named<OrderSource>> order_source_names();
BTF_API std::span<const Named<LayerState>> layer_state_names();
BTF_API std::span<const Named<LayerFault>> layer_fault_names();
BTF_API std::span<const Named<VerdictKind>> verdict_kind_names();
BTF_API std::span<const Named<SpotState>> spot_state_names();

struct Layer {
  std::uint64_t number = 0;  // in the order in which pairs were found
  std::string actual;        // names; empty if that side lacks the layer
  std::string golden;
  PairTier tier = PairTier::exact;
  std::optional<DType> actual_dtype{};
  std::optional<DType> golden_dtype{};
  Dims actual_dims{};
  Dims golden_dims{};
  std::string op{};    // operator of the graph's node, if there is one
  std::string role{};  // "input" or "output", by the graph or the set
  // From an engine's layer list: the engine's layer that computes this one, the ONNX nodes fused
  // into it, and the coarsest dtype that it reads, computes with or writes.
  std::string fused{};
  std::vector<std::string> fused_nodes{};
  std::optional<DType> compute{};
  std::optional<LayerFigures> figures{};
  std::optional<double> baseline{};  // relative error of a correct run in the device's precision
  std::string trouble{};             // why there are no figures
  // Positions of its inputs among the layers, by the graph; without a graph all layers before it.
  std::vector<std::uint64_t> inputs{};
  std::vector<std::string> unseen{};  // tensors between its inputs and itself that were not dumped
  bool placed = true;                 // false if the order does not have it
  std::optional<SpotCheck> spot{};    // set with a model, if the layer can be recomputed

  // Set by judge_layers().
  LayerState state = LayerState::healthy;
  LayerFault fault = LayerFault::none;
  // Unit roundoff of the coarsest dtype involved: 2^-p for p bits of significand. JSON: u.
  double unit_roundoff = 0;
  double input_error = 0;           // relative error of the inputs. JSON: e_in.
  double noise = 0;                 // relative error that inputs and dtype explain
  double error_to_noise = 0;        // relative_error / noise. JSON: b.
  double slice_error_to_noise = 0;  // slice_error / noise. JSON: bw.
  std::string note{};               // why it is not judged, and anomalies, as text
  std::vector<Hint> hints{};

  const std::string& name() const { return golden.empty() ? actual : golden; }
  // The dims by which elements are named: golden's, unless golden was dumped flat and actual was
  // not.
  const Dims& dims() const { return is_flat(golden_dims, actual_dims) ? actual_dims : golden_dims; }
  // Returns true if `dims` are those of a flat dump (all elements in one row, or in a row for each
  // run) of a tensor whose dims are `others`.
  static bool is_flat(const Dims& dims, const Dims& others) {
    return dims.size() < 3 && dims.size() < others.size() && others.size() > 2;
  }
};

struct LayerVerdict {
  VerdictKind kind = VerdictKind::clean;
  std::optional<std::uint64_t> layer{};  // position in LayerReport::layers
  std::vector<std::string> between{};    // not dumped; the fault is in one of these or in `layer`
  std::string words{};                   // the verdict as a sentence
  std::string detail{};                  // the same without the kind and the layer
  // Where the elements of `layer` are. The number is set if the file has several tensors.
  std::string actual_path{};
  std::string golden_path{};
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // The scales by which they were measured, if these are files of their own.
  std::optional<GivenScale> actual_scale{};
  std::optional<GivenScale> golden_scale{};
};

struct SanityFinding {
  std::string code;  // "reused-buffer", "all-zero", "shifted", "no-signal", "quantised"
  std::vector<std::uint64_t> layers;
  std::string message;
};

struct LayerReport {
  std::vector<Layer> layers;  // in order of execution; those without a position last
  OrderSource order = OrderSource::natural;
  std::string order_path{};         // the list, the model, or the file that recorded the order
  std::string graph_path{};         // the model that gives the inputs, if a list gives the order
  std::string engine_path{};        // the layer list of the engine
  std::string actual_graph_path{};  // the model that actual is said to be a run of
  // Layers that the list of names leaves out, what gave them their positions, and lines of the list
  // that name no layer.
  std::vector<std::string> order_left_out{};
  OrderSource order_left_out_by = OrderSource::natural;
  std::vector<std::string> order_unknown{};
  bool order_doubtful = false;  // the errors contradict the order
  std::string noise_source{};   // where unit_roundoff comes from: "float16"
  double unit_roundoff = 0;     // of most layers. JSON: u.
  // The arithmetic of actual, as its layers' own errors show it: "products in bfloat16, the rest in
  // float32 (from 61 layers)". Empty if no layer was recomputed.
  std::string arithmetic{};
  LayerVerdict verdict{};
  std::vector<std::uint64_t> roots{};  // positions of layers, the most important one first
  std::vector<SanityFinding> sanity{};
  std::vector<Ambiguity> ambiguous{};
  std::uint64_t paired = 0;
  // The dumps hold statistics alone (compare_statistics()): no element was compared, and errors are
  // lower bounds.
  bool statistics_only = false;
  std::vector<std::string> actual_only{};
  std::vector<std::string> golden_only{};
  // Tensors of a quantised side that are not compared, because another form of them is.
  std::vector<BesideName> actual_beside{};
  std::vector<BesideName> golden_beside{};
  // The side's tensors were dumped flat, and are compared element by element in row-major order.
  bool actual_flat = false;
  bool golden_flat = false;
  // Outputs of the network, by the graph or by name and position, that only one side has.
  std::vector<std::string> missing_outputs{};
  std::vector<std::string> troubles{};  // files that cannot be read, and the like
  std::vector<std::string> warnings{};  // lines of the map that paired nothing
  // With `expected`: relative error of the dumped run's outputs against those of a run without
  // dumps.
  std::optional<double> watched_error{};
  bool watched_nonfinite = false;  // NaN or Inf in only one of these two runs
  bool watching_changed_result = false;

  // True if the inputs of each layer are known.
  bool linked() const { return order == OrderSource::graph || !graph_path.empty(); }
};

// Default limit for the relative error of outputs.
inline constexpr double kMaxError = 0.5;

// The dtype in which the layers whose names match a glob compute.
struct ComputeRule {
  std::string glob;
  DType dtype{};
};

// Limits by which layers are judged. The defaults suit healthy runs of real engines in any
// precision (docs/layers.md, section 8); change them for a network that you know.
struct LayerLimits {
  // The dtype that the device computes in. Unset: the one that an engine's layer list, or the
  // dumped numbers themselves, show.
  std::optional<DType> compute{};
  std::vector<ComputeRule> computes{};  // for single layers; if several match, the last one applies
  // By how much a healthy layer may amplify the error of its inputs. JSON: a.
  double growth = 2;
  // A layer whose error exceeds its noise by more than this factor is at fault.
  double limit = 2;
  // With a baseline: a layer whose error exceeds the baseline's by more than this factor is at
  // fault.
  double baseline_limit = 1.5;
  // Set if each layer of actual was run on golden inputs, so that no error is inherited.
  bool isolated = false;
  // Largest relative error of an output. Unset: kMaxError.
  std::optional<double> most_error{};
  // Largest own error of any layer (SpotCheck::own_error). Unset: no limit.
  std::optional<double> most_own_error{};
  // Refuses a run of which any tensor is not paired.
  bool require_all = false;
};

struct LayerOptions {
  // Pairs of names. They take precedence over all other ways to match names.
  NameMap map{};
  std::string map_path{};  // for messages
  // Text of a list of names in the order of execution. It takes precedence over the graph's order.
  std::optional<std::string> order{};
  std::string order_path{};  // for messages
  // Path of the ONNX model: gives the order and each layer's inputs. The verdict is much more
  // certain with it than without.
  std::optional<std::string> graph{};
  // Path of a TensorRT engine's layer list. Together with a model it gives order, dtypes and fused
  // layers; without a model also the inputs of each layer.
  std::optional<std::string> engine{};
  // With a model: recomputes elements of each layer from its inputs and the model's weights. This
  // costs little for large tensors, and is what tells a wrong layer from a wrong dump.
  bool spot_checks = true;
  // Path of the model that actual is a run of, if it differs from `graph`.
  std::optional<std::string> actual_graph{};
  // The dtype in which the device sums products. Unset: float32.
  std::optional<DType> accumulate{};
  LayerLimits judge{};
  // Looks for the cause of each root and of each wrong dump.
  bool hints = true;
  // The next four are those of DiffOptions: codes are measured as the numbers that they stand for.
  bool dequantize = false;
  std::vector<std::uint64_t> scale_blocks{};
  std::optional<GivenScale> actual_scale{};
  std::optional<GivenScale> golden_scale{};
  // Specs of files that do not describe themselves. Dims that they leave out are taken from the
  // other side.
  SetDiffSide actual{};
  SetDiffSide golden{};
  Execution execution{};
};

// Compares two runs layer by layer. `baseline` is a correct run in the device's precision,
// `expected` the outputs of a run without dumps; both may be nullptr. The sets open and close their
// files as they are read, and members get the options' specs (TensorSet::open_as()). An error if
// nothing is paired, or if an input as a whole cannot be read.
BTF_API Result<LayerReport> compare_layers(TensorSet& actual, TensorSet& golden,
                                           TensorSet* baseline, TensorSet* expected,
                                           const LayerOptions& options);

// Puts the layers of a report into the order of a list of names; `path` is used in errors. Layers
// keep the inputs that a graph gave them, except inputs that would come after them.
BTF_API Status order_by_list(LayerReport& report, std::string_view text, const std::string& path);

// Judges a report by its figures and its order alone, and sets the verdict and the members of each
// layer that depend on it.
BTF_API void judge_layers(LayerReport& report, const LayerLimits& options);

// A fraction as verdicts write it: "5.2 %", "0.00031 %".
BTF_API std::string percent_text(double part);

// Returns true if a program that uses the report as a gate should pass.
BTF_API bool all_well(const LayerReport& report, const LayerLimits& options);

// --- Several processes that measure the layers of one comparison (docs/scaling.md) ---

struct SideCheck;  // private to the library

// A pair before it is measured: actual with golden, the baseline with golden, or actual with
// `expected`.
struct PlannedLayer {
  std::string name;  // golden's
  std::string actual_path;
  std::string golden_path;
  std::uint64_t actual_bytes = 0;  // of the elements; 0 if there is nothing to measure
  std::uint64_t golden_bytes = 0;
};

// The measurement of a pair. If neither figures nor trouble are set, the shapes differ.
struct MeasuredLayer {
  std::optional<LayerFigures> figures{};
  std::string trouble{};  // why there are no figures
  bool unread = false;    // the trouble is an error of reading
  // Which elements do not follow from the inputs, if a graph gives these. The judging process
  // repeats the check if it assumed a precision that the run does not have.
  std::shared_ptr<const SideCheck> check{};
  // Input files of that check, and their states.
  std::vector<std::pair<std::string, std::optional<FileState>>> inputs{};
};

using LayerShare = ItemShare<PlannedLayer, MeasuredLayer>;

// Measures this process's share of what compare_layers() would measure with the same arguments, and
// judges nothing.
BTF_API Status measure_layers(TensorSet& actual, TensorSet& golden, TensorSet* baseline,
                              TensorSet* expected, const LayerOptions& options, LayerShare& share);

// Does what compare_layers() does, with the measurements of `share`. Files are read only to look
// for causes, and where elements do not follow from their inputs.
BTF_API Result<LayerReport> judge_measured(TensorSet& actual, TensorSet& golden,
                                           TensorSet* baseline, TensorSet* expected,
                                           const LayerOptions& options, LayerShare& share);

// --- Dumps that hold statistics instead of elements, as msprobe's dump.json ---
// They give a lower bound of an error, and can never show that there is none (docs/layers.md).

struct TensorStatistics {
  std::string name{};
  std::optional<DType> dtype{};
  Dims dims{};
  // Unset if the dump does not hold it.
  std::optional<double> max{};
  std::optional<double> min{};
  std::optional<double> mean{};
  std::optional<double> norm{};
  std::string checksum{};  // of the tensor's bits
  std::string role{};      // "weight", "outside" or empty
};

struct StatisticsDump {
  std::string path{};                       // of the file
  bool has_elements = false;                // there are files with elements next to it
  std::vector<TensorStatistics> tensors{};  // in the order of execution
  std::vector<std::string> warnings{};
};

// Reads the dump.json at `path`, or in the directory `path`. Unset if there is none.
BTF_API Result<std::optional<StatisticsDump>> read_statistics(const std::string& path);

// Returns true if a statistic that both have differs. Checksums decide if the dtypes are equal.
BTF_API bool statistics_differ(const TensorStatistics& actual, const TensorStatistics& golden);

// Compares two dumps of statistics. Options that concern elements are not used.
BTF_API Result<LayerReport> compare_statistics(const StatisticsDump& actual,
                                               const StatisticsDump& golden,
                                               const LayerOptions& options);

}  // namespace btf
