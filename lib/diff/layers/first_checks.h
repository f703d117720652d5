// The first spot check of each layer: which elements are recomputed, which does not depend on the
// number of threads, and the checks that one shard does. spots.h uses their results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "btf/layers.h"
#include "btf/layout.h"
#include "btf/tensor_set.h"
#include "diff/layers/measured_pairs.h"
#include "diff/layers/spot_check.h"
#include "network/network.h"

namespace btf {

inline constexpr std::size_t kSpotElements = 256;

// The elements of a layer to recompute, as distinct row-major numbers: `worst` first, then random
// ones of every channel, adjacent ones where that saves reading. All elements of a small tensor.
// The choice depends on `name`, not on the number of threads.
std::vector<std::uint64_t> spot_sample(const Dims& dims, std::string_view name,
                                       const std::vector<std::uint64_t>& worst);

// Some elements of the same channel, the same row and so on, to see whether all of it is like this
// element.
std::vector<std::uint64_t> spot_around(std::uint64_t number, const Dims& dims,
                                       std::string_view name);

// Elements of a tensor that may be computed from this element of another: those at the same
// relative position, in a few channels.
std::vector<std::uint64_t> spot_shadow(std::uint64_t number, const Dims& from, const Dims& to);

// The models of a comparison.
struct SpotGraphs {
  network::Network golden;
  std::optional<network::Network> own{};  // actual's model, if it is another one
  std::uint64_t actual_bytes = 0;         // size of the file of actual's model
  bool golden_is_other = false;           // the graph is not the model of golden's run
  bool actual_is_other = false;           // the graph is not the model of actual's run
  bool actual_is_quantised = false;       // actual is a run of a quantised model, golden is not

  static Result<SpotGraphs> read(const LayerOptions& options, const LayerReport& report);
  const network::Network& actual() const { return own ? *own : golden; }
  Status check_unchanged() const;
};

// Recomputes the sampled elements of each layer from its inputs. A check depends on the layer and
// its inputs alone, so a shard can do it. May be used from several threads. Layers are identified
// by their positions in the report.
class InitialSpotChecks {
 public:
  // All of them must outlive it. `report` has the layers in their order; figures are not needed.
  InitialSpotChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
                    const PairedLayers& paired, const LayerOptions& options,
                    const LayerReport& report);

  Status check_graphs_unchanged() const { return graphs_.check_unchanged(); }
  const SpotDumps& actual_dumps() const { return actual_dumps_; }
  const SpotDumps& golden_dumps() const { return golden_dumps_; }
  const SpotDumps& golden_as_inputs() const { return golden_as_inputs_; }

  // What the checks of a side have in common.
  SpotSide actual_side(std::size_t least_level) const;
  SpotSide golden_side() const;

  // The dims that element numbers refer to.
  const Dims& dims(std::uint64_t i) const { return actual_dumps_.dims_of(i); }
  // Why a layer cannot be checked; empty if it can.
  std::string obstacle(std::uint64_t i) const;
  // The elements to check. `figures` are of this layer.
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
  SpotDumps golden_as_inputs_;  // golden's dumps, by the values of actual's model
};

// Passes on what a shard measures together with the check of each layer, which is done as soon as
// the layer is measured.
class SpotCheckingPartition final : public LayerShare {
 public:
  // `planned`: the report of `checks`. All of them must outlive it.
  SpotCheckingPartition(const InitialSpotChecks& checks, const LayerReport& planned,
                        const LayerOptions& options, LayerShare& share);

  Status plan(std::span<const PlannedLayer> layers) override;
  bool is_own(std::uint64_t number) const override { return share_.is_own(number); }
  const MeasuredLayer* known(std::uint64_t number) const override { return share_.known(number); }
  // Checks several layers together, on threads.
  void take(std::uint64_t number, const MeasuredLayer& layer) override;
  // Passes on the remaining layers. Fails if a file was changed while it was read, or the caller
  // has cancelled.
  Status finish();

 private:
  struct PendingLayer {
    std::uint64_t number = 0;
    MeasuredLayer layer;
  };

  void check(PendingLayer& pending, std::uint64_t most_terms) const;
  Status add_inputs(PendingLayer& pending) const;
  Status give();

  const InitialSpotChecks& checks_;
  const LayerReport& planned_;
  const LayerOptions& options_;
  LayerShare& share_;
  std::unordered_map<std::uint64_t, std::uint64_t> places_;  // position in the report, by number
  std::vector<PendingLayer> pending_;
  // Terms that the checks of this shard may still take (the limit is that of a run), and layers
  // that may still come.
  std::uint64_t left_ = kSpotTermsOfRun;
  std::uint64_t to_come_ = 0;
  Status status_{};
};

}  // namespace btf
