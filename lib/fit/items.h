// The items that processes share out, a layer or a tensor each: their plan, their measures, and all
// measures together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit.h"
#include "fit/dump_measures.h"
#include "fit/node_measure.h"
#include "fit/scaled_tensor.h"
#include "network/network.h"

namespace btf {

// The measures of an item by one process.

struct FitMeasures {
  struct TypeMeasures {
    std::vector<ValueNoise> values;      // in the order of FitItem::values
    std::optional<NodeVariants> node{};  // if the item is a layer
    std::string trouble{};               // without a network: why the tensor cannot be read
  };
  // The measures of one dump; without a network those of one tensor of the item's name.
  struct RunMeasures {
    std::vector<TypeMeasures> types;
    std::vector<UniformGains> gains{};  // of a layer, by type with scales
  };
  std::vector<RunMeasures> runs;
  std::vector<ScaledMeasure> scales{};  // by value; empty for one without scales
};

inline constexpr std::size_t kNoCandidate = std::numeric_limits<std::size_t>::max();

struct FitItem {
  std::uint32_t node = network::kNoNode;
  std::vector<std::uint32_t> values{};  // of the network
  // The index of each value in scale_candidates(), or kNoCandidate.
  std::vector<std::size_t> candidates{};
};

class FitPlan {
 public:
  // `network`: nullptr without a graph. All arguments must outlive the plan.
  FitPlan(const network::Network* network, const std::vector<Dump>& dumps,
          std::span<const DType> dtypes);

  const network::Network* network() const { return network_; }
  const std::vector<Dump>& dumps() const { return dumps_; }
  // The types that are measured without a scale. The last may be kGainDType, added for ranking.
  const std::vector<DType>& narrow() const { return narrow_; }
  const std::vector<DType>& scaled() const { return scaled_; }
  // The index of kGainDType in narrow().
  std::size_t ranked_by() const;

  const std::vector<FitItem>& items() const { return items_; }
  const std::vector<ScaleCandidate>& candidates() const { return candidates_; }
  std::size_t candidate_of(std::uint32_t value) const { return candidate_of_[value]; }
  // The number of dumps or, without a network, of the tensors of the item's name.
  std::size_t runs(const FitItem& item) const;

  std::vector<PlannedFit> planned() const;

  // The members of dumps that are read for an item, as pairs of dump and member.
  std::set<std::pair<std::size_t, std::uint64_t>> members(const FitItem& item) const;

 private:
  void take_network();
  void find_members();
  std::uint64_t bytes_of(std::uint32_t value) const;

  const network::Network* network_;
  const std::vector<Dump>& dumps_;
  std::vector<DType> narrow_;
  std::vector<DType> scaled_;
  std::vector<ScaleCandidate> candidates_;
  std::vector<std::size_t> candidate_of_;  // by value of the network
  std::vector<FitItem> items_;
  // By dump and value: the members that its numbers come from; nullptr if from weights alone.
  std::vector<std::vector<std::shared_ptr<const std::set<std::uint64_t>>>> members_;
};

// The measures of all items, as input to the judgement.
class ItemPieces {
 public:
  // Fails if the measures of an item are missing or do not belong to the plan.
  static Result<ItemPieces> gather(const FitPlan& plan, const FitShare& share);

  ItemPieces(ItemPieces&&) = default;
  ItemPieces& operator=(ItemPieces&&) = default;

  // The measures of one dump in plan.narrow()[type]; requires a network.
  const DumpPieces& dump(std::size_t type, std::size_t dump) const { return dumps_[type][dump]; }
  // The measure of a tensor, without a network.
  Result<std::optional<TensorMeasure>> tensor(std::size_t type, const DumpedTensor& tensor) const;
  const ScaledPieces& scaled() const { return scaled_; }

 private:
  explicit ItemPieces(const FitPlan& plan);
  void take(const FitPlan& plan, const FitItem& item, const FitMeasures& measures);
  void take_by_name(const FitPlan& plan, const FitItem& item, const FitMeasures& measures);

  std::vector<std::vector<DumpPieces>> dumps_;  // by type and dump
  std::unordered_map<const DumpedTensor*, FitMeasures::RunMeasures> tensors_;
  ScaledPieces scaled_;
};

// Measures items, some at a time. What several of them read is read once.
class ItemMeasuring {
 public:
  // Both arguments must outlive the object.
  ItemMeasuring(const FitPlan& plan, const Execution& execution);

  // Returns measures in the order of `items`. Fails only if the caller cancels.
  Result<std::vector<FitMeasures>> run(std::span<const FitItem* const> items);

 private:
  struct Values {
    std::vector<ValueNoise> plain;
    std::vector<ValueNoise> typical;  // by with_typical_noise()
  };

  Status measure_values(std::span<const FitItem* const> items);
  Status measure_scales(std::span<const FitItem* const> items);
  FitMeasures measures_by_graph(const FitItem& item) const;
  FitMeasures measures_by_name(const FitItem& item) const;
  bool reads_scales(const FitItem& item) const;

  const FitPlan& plan_;
  const Execution& execution_;
  std::vector<NarrowType> types_;
  std::vector<std::vector<Values>> values_;    // by dump and type
  std::vector<std::vector<NodeWork>> work_;    // by dump and type: for the items so far
  std::vector<bool> measured_;                 // by value
  std::vector<ScaledMeasure> scales_;          // by scale candidate
  std::vector<bool> scaled_;                   // by scale candidate: whether `scales_` is known
  std::vector<std::vector<double>> relative_;  // relative_error() by type with scales and value
};

}  // namespace btf
