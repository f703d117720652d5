// Which layer of a network broke first? Two sets of dumped tensors are paired, put into the order
// of execution, measured pair by pair, and judged: each layer by its error beyond what its inputs
// explain (docs/layers.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/diff/set_diff.h"
#include "btf/diff/tensor_diff.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/layers/figures.h"
#include "btf/layers/pair_names.h"
#include "btf/layers/spot_check.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"

namespace btf {

// Where the order comes from, from the surest on.
enum class OrderSource : std::uint8_t {
  file,      // a list of names
  graph,     // an ONNX model
  recorded,  // the set says it: a summary, a manifest, a name table
  numbered,  // names begin with numbers
  stored,    // tensors of a file whose format keeps the order
  natural,   // names, fc2 before fc10: a guess
};

enum class LayerState : std::uint8_t {
  healthy,    // its inputs and its dtype explain its error
  root,       // broke here
  dump,       // the dump is wrong: its consumers agree
  unjudged,   // after a layer that broke, or nothing to judge by
  missing,    // only one side has it
  unmeasured  // its elements cannot be compared
};

// The fault of a layer.
enum class LayerFault : std::uint8_t {
  none,
  born,    // NaN or Inf that no input has
  shape,   // another number of elements
  error,   // more error than its inputs explain
  local,   // likewise, in one slice
  gain,    // a scale is off
  offset,  // an offset is
};

enum class VerdictKind : std::uint8_t {
  clean,
  broke,
  inputs,      // the inputs of the network differ already
  dump_wrong,  // tensors are dumped wrongly, the computation is right
  drift,       // nothing broke, but the outputs are too far off
  amplified,   // an error grew where a signal cancels; not proved to be a fault
  missing,  // what is paired is right, but an output, or with require_all anything, is not paired
  cannot_tell,
};

BTF_API std::span<const Named<OrderSource>> order_source_names();
BTF_API std::span<const Named<LayerState>> layer_state_names();
BTF_API std::span<const Named<LayerFault>> layer_fault_names();
BTF_API std::span<const Named<VerdictKind>> verdict_kind_names();
BTF_API std::span<const Named<SpotState>> spot_state_names();

struct Layer {
  std::uint64_t number = 0;  // in the order in which pairs were found
  std::string actual;        // names; empty: that side has none
  std::string golden;
  PairTier tier = PairTier::exact;
  std::optional<DType> actual_dtype{};
  std::optional<DType> golden_dtype{};
  Dims actual_dims{};
  Dims golden_dims{};
  std::string op{};    // of the graph's node, where there is one
  std::string role{};  // "input", "output": as the graph or the set says
  // By an engine's layer list: the layer that computes it, the ONNX nodes fused into that, and the
  // coarsest type among what it reads, computes with and makes.
  std::string fused{};
  std::vector<std::string> fused_nodes{};
  std::optional<DType> compute{};
  std::optional<LayerFigures> figures{};
  std::optional<double> baseline{};  // relative error of a correct run in the device's precision
  std::string trouble{};             // why there are no figures
  // Where its inputs are among the layers, by the graph; without one all that is before it.
  std::vector<std::uint64_t> inputs{};
  std::vector<std::string> unseen{};  // tensors between its inputs and it that were not dumped
  bool placed = true;                 // the order has a position for it
  std::optional<SpotCheck> spot{};    // with a model, of what can be measured

  // Set by judge_layers().
  LayerState state = LayerState::healthy;
  LayerFault fault = LayerFault::none;
  // Half a step of the coarsest dtype in play, relative: 2^-p for p bits of significand. JSON: u.
  double unit_roundoff = 0;
  double input_error = 0;           // relative error of the inputs. JSON: e_in.
  double noise = 0;                 // relative error that inputs and dtype explain
  double error_to_noise = 0;        // relative error / noise. JSON: b.
  double slice_error_to_noise = 0;  // likewise for the worst slice. JSON: bw.
  std::string note{};               // text: why it is not judged, anomalies
  std::vector<Hint> hints{};

  const std::string& name() const { return golden.empty() ? actual : golden; }
  // By which its elements are told: golden's, unless these are flat beside actual's.
  const Dims& dims() const { return is_flat(golden_dims, actual_dims) ? actual_dims : golden_dims; }
  // Are these all elements in a row, or a row for each run, beside those with dims?
  static bool is_flat(const Dims& dims, const Dims& others) {
    return dims.size() < 3 && dims.size() < others.size() && others.size() > 2;
  }
};

struct LayerVerdict {
  VerdictKind kind = VerdictKind::clean;
  std::optional<std::uint64_t> layer{};  // its place among the report's
  std::vector<std::string> between{};    // not dumped: it broke in one of these or in `layer`
  std::string words{};                   // a sentence
  std::string detail{};                  // the rest, without the kind and the layer
  // Where the elements of `layer` are; a number where the file has several tensors.
  std::string actual_path{};
  std::string golden_path{};
  std::optional<std::uint64_t> actual_tensor{};
  std::optional<std::uint64_t> golden_tensor{};
  // Where they were measured by scales that are files of their own: those.
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
  std::string order_path{};  // of the list, of the model, or of what recorded it
  // The model that the inputs of layers are from, where a list gives the order.
  std::string graph_path{};
  std::string engine_path{};        // the layer list of the engine
  std::string actual_graph_path{};  // the model that actual is said to be a run of
  // Source of the positions of layers that a list of names leaves out; lines that name nothing.
  std::vector<std::string> order_left_out{};
  OrderSource order_left_out_by = OrderSource::natural;
  std::vector<std::string> order_unknown{};
  bool order_doubtful = false;  // the errors do not fit it
  std::string noise_source{};   // "float16" or another source of unit_roundoff
  double unit_roundoff = 0;     // of most layers. JSON: u.
  // What actual was computed in, as its layers' own errors show: "products in bfloat16, the rest in
  // float32 (from 61 layers)". Empty: no layer was recomputed.
  std::string arithmetic{};
  LayerVerdict verdict{};
  std::vector<std::uint64_t> roots{};  // the most important one first
  std::vector<SanityFinding> sanity{};
  std::vector<Ambiguity> ambiguous{};
  std::uint64_t paired = 0;
  // The dumps hold statistics alone: no element was compared, and errors are the least that the
  // statistics allow (btf/layers/statistics.h).
  bool statistics_only = false;
  std::vector<std::string> actual_only{};
  std::vector<std::string> golden_only{};
  // Tensors of a quantised side that are not compared, as another form of them is.
  std::vector<BesideName> actual_beside{};
  std::vector<BesideName> golden_beside{};
  // All elements of its dumps stand in a row, or in a row for each run: they are compared in their
  // order.
  bool actual_flat = false;
  bool golden_flat = false;
  // Outputs of the graph, or by their place or name of the network, that one side alone has.
  std::vector<std::string> missing_outputs{};
  std::vector<std::string> troubles{};  // files that cannot be read, and the like
  std::vector<std::string> warnings{};  // lines of the map that pair nothing
  // The output of the unwatched run, if there is one: how far the watched run's is from it.
  std::optional<double> watched_error{};
  bool watched_nonfinite = false;  // NaN or Inf of one of the two runs only
  bool watching_changed_result = false;

  // True if the inputs of each layer are known.
  bool linked() const { return order == OrderSource::graph || !graph_path.empty(); }
};

// The limit for outputs unless the options give one.
inline constexpr double kMaxError = 0.5;

// The dtype that layers whose names match compute in.
struct ComputeRule {
  std::string glob;
  DType dtype{};
};

struct JudgeLayers {
  std::optional<DType> compute{};          // the dtype that the device computes in
  std::vector<ComputeRule> computes{};     // of single layers; the last match counts
  double growth = 2;                       // largest growth of an error in one layer. JSON: a.
  double limit = 2;                        // times the noise: more is a fault
  double baseline_limit = 1.5;             // times the baseline's error, where there is one
  bool isolated = false;                   // each layer was given golden inputs
  std::optional<double> most_error{};      // of outputs, relative; nothing: kMaxError
  std::optional<double> most_own_error{};  // of any layer; nothing: it is no reason to refuse
  bool require_all = false;
};

struct LayerOptions {
  NameMap map{};                       // its pairs take precedence over all other names
  std::string map_path{};              // for messages
  std::optional<std::string> order{};  // text of a list of names
  std::string order_path{};
  std::optional<std::string> graph{};  // path of a model
  // Path of a TensorRT engine's layer list: with a model its order, types and what is fused;
  // without one links too.
  std::optional<std::string> engine{};
  // With a model, elements of each layer are recomputed from its inputs and the model's weights.
  bool spot_checks = true;
  std::optional<std::string> actual_graph{};  // a model that actual is a run of; else `graph` is
  std::optional<DType> accumulate{};          // that products are summed up in; nothing: float32
  JudgeLayers judge{};
  bool hints = true;  // why: of roots and wrong dumps
  // As for diff(): codes are measured as the numbers that they stand for.
  bool dequantize = false;
  std::vector<std::uint64_t> scale_blocks{};
  std::optional<GivenScale> actual_scale{};
  std::optional<GivenScale> golden_scale{};
  // Specs of files that do not describe themselves; dims that they leave out are those of the
  // partner.
  SetDiffSide actual{};
  SetDiffSide golden{};
  Execution execution{};
};

// Pairs, order, figures, verdict. `baseline` and `expected` (outputs of a run that was not watched)
// may be nullptr. An error: nothing is paired, or something cannot be read.
BTF_API Result<LayerReport> compare_layers(TensorSet& actual, TensorSet& golden,
                                           TensorSet* baseline, TensorSet* expected,
                                           const LayerOptions& options);

// Puts the layers of a report into the order of a list of names; `path` is for errors. The inputs
// that a graph gives them stay, except those that would come after them.
BTF_API Status order_by_list(LayerReport& report, std::string_view text, const std::string& path);

// The verdict out of figures and order alone: sets all that it finds in `report`.
BTF_API void judge_layers(LayerReport& report, const JudgeLayers& options);

// "5.2 %", "0.00031 %": as verdicts say parts.
BTF_API std::string percent_text(double part);

// Does the report say that all is well?
BTF_API bool all_well(const LayerReport& report, const JudgeLayers& options);

}  // namespace btf
