// The first spot checks of all layers: which elements, the same ones whatever the number of
// threads, and which shard does them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/layers/layers.h"
#include "btf/layers/share.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"
#include "diff/layers/spot_check.h"
#include "network/network.h"

namespace btf {

// Which elements of a layer are recomputed: the same ones whatever the number of threads.

inline constexpr std::size_t kSpotElements = 256;

// Numbers of elements in row-major order, each once: `worst` first, then some at random and of
// every channel, side by side where that saves reading. All of a small tensor. `name` is what the
// choice follows from.
std::vector<std::uint64_t> spot_sample(const Dims& dims, std::string_view name,
                                       const std::vector<std::uint64_t>& worst);

// Some elements of the same channel, of the same row and so on: is all of it as this element is?
std::vector<std::uint64_t> spot_around(std::uint64_t number, const Dims& dims,
                                       std::string_view name);

// Elements of a tensor that may be computed from this element of another: at the same relative
// place, in a few channels.
std::vector<std::uint64_t> spot_shadow(std::uint64_t number, const Dims& from, const Dims& to);

// The first check of every layer of a comparison: which elements of a sample do not follow from its
// inputs? It depends on the layer and its inputs alone, so that a shard can ask it.

// The models of a comparison.
struct SpotGraphs {
  network::Network golden;
  std::optional<network::Network> own{};  // actual's, if that is a run of another model
  std::uint64_t actual_bytes = 0;         // of the file of actual's
  bool golden_is_other = false;           // the graph is not the model of golden's run
  bool actual_is_other = false;           // nor of actual's
  bool actual_is_quantised =
      false;  // actual's tensors are those of a quantised model, golden's not

  static Result<SpotGraphs> read(const LayerOptions& options, const LayerReport& report);
  const network::Network& actual() const { return own ? *own : golden; }
};

// For several threads at once. Layers are told by their places in the report.
class InitialSpotChecks {
 public:
  // All of them outlive it. `report`: in the order of the layers; it need not have figures.
  InitialSpotChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
                    const PairedLayers& paired, const LayerOptions& options,
                    const LayerReport& report);

  const SpotDumps& actual_dumps() const { return actual_dumps_; }
  const SpotDumps& golden_dumps() const { return golden_dumps_; }
  const SpotDumps& golden_as_inputs() const { return golden_as_inputs_; }

  // What the checks of a side have in common.
  SpotSide actual_side(std::size_t least_level) const;
  SpotSide golden_side() const;

  // The dims by which its elements are told.
  const Dims& dims(std::uint64_t i) const { return actual_dumps_.dims_of(i); }
  // Why a layer is not asked; empty: it is.
  std::string why_not(std::uint64_t i) const;
  // The elements that are asked about. `figures`: of this layer.
  std::vector<std::uint64_t> sample(std::uint64_t i, const LayerFigures& figures) const;
  SideCheck check(std::uint64_t i, const LayerFigures& figures,
                  std::span<const std::uint64_t> sample, std::size_t least_level,
                  std::uint64_t most_terms) const;
  // Errors of reading models and dumps so far, each once.
  std::vector<std::string> read_troubles() const;

 private:
  std::vector<std::uint64_t> worst(std::uint64_t i, const LayerFigures& figures) const;

  const SpotGraphs& graphs_;
  const LayerReport& report_;
  bool isolated_;
  std::span<const PrecisionLevel> levels_;
  std::vector<std::uint64_t> places_;
  SpotDumps actual_dumps_;
  SpotDumps golden_dumps_;
  SpotDumps golden_as_inputs_;  // golden's, by the values of actual's model
};

// What a shard measures, with what its elements say: each layer is checked when it was measured.

class SpotCheckingPartition final : public LayerShare {
 public:
  // `planned`: the report of `checks`. All of them outlive it.
  SpotCheckingPartition(const InitialSpotChecks& checks, const LayerReport& planned,
                        const LayerOptions& options, LayerShare& share);

  Status plan(std::span<const PlannedLayer> layers) override;
  bool is_own(std::uint64_t number) const override { return share_.is_own(number); }
  const MeasuredLayer* known(std::uint64_t number) const override { return share_.known(number); }
  // A few are checked together, on threads.
  void take(std::uint64_t number, const MeasuredLayer& layer) override;
  // Gives what is left. An error: a file was changed while it was read, or the caller has asked to
  // stop.
  Status finish();

 private:
  struct Taken {
    std::uint64_t number = 0;
    MeasuredLayer layer;
  };

  void check(Taken& taken, std::uint64_t most_terms) const;
  Status add_inputs(Taken& taken) const;
  Status give();

  const InitialSpotChecks& checks_;
  const LayerReport& planned_;
  const LayerOptions& options_;
  LayerShare& share_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // in the report, by number
  std::vector<Taken> taken_;
  // Terms that the shard's checks may take, as those of a run; and layers that may come.
  std::uint64_t left_ = kSpotTermsOfRun;
  std::uint64_t to_come_ = 0;
  Status status_{};
};

}  // namespace btf
