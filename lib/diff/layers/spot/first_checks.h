// The first check of every layer of a comparison: which elements of a sample do not follow from its
// inputs? It depends on the layer and its inputs alone, so that a shard can ask it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "btf/layers/layers.h"
#include "btf/tensor_set.h"
#include "diff/layers/pairs/measured_pairs.h"
#include "diff/layers/spot/check.h"
#include "diff/layers/spot/dumps.h"
#include "network/network.h"

namespace btf {

// The models of a comparison.
struct SpotGraphs {
  network::Network golden;
  std::optional<network::Network> own{};  // actual's, if that is a run of another model
  std::uint64_t actual_bytes = 0;         // of the file of actual's
  bool golden_is_other = false;      // the graph is not the model of golden's run
  bool actual_is_other = false;      // nor of actual's
  bool actual_is_quantised = false;  // actual's tensors are those of a quantised model, golden's not

  static Result<SpotGraphs> read(const LayerOptions& options, const LayerReport& report);
  const network::Network& actual() const { return own ? *own : golden; }
};

// For several threads at once. Layers are told by their places in the report.
class FirstChecks {
 public:
  // All of them outlive it. `report`: in the order of the layers; it need not have figures.
  FirstChecks(const SpotGraphs& graphs, TensorSet& actual, TensorSet& golden,
              const PairedLayers& paired, const LayerOptions& options, const LayerReport& report);

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
  std::span<const SpotLevel> levels_;
  std::vector<std::uint64_t> places_;
  SpotDumps actual_dumps_;
  SpotDumps golden_dumps_;
  SpotDumps golden_as_inputs_;  // golden's, by the values of actual's model
};

}  // namespace btf
