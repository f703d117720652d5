// The items that processes measure, a layer or a tensor each: what they are, one measured, and all
// together.
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
  // In one type.
  struct OfType {
    std::vector<ValueNoise> values;      // of the item, in their order
    std::optional<NodeVariants> node{};  // of a layer
    std::string trouble{};               // without a network: why it cannot be read
  };
  // The measures of one dump; without a network those of one tensor of the name.
  struct OfRun {
    std::vector<OfType> types;
    std::vector<UniformGains> gains{};  // of a layer: by type with scales
  };
  std::vector<OfRun> runs;
  std::vector<ScaledMeasure> scales{};  // by value; of those without scales empty
};

// The plan of what is measured, item by item.

struct FitItem {
  std::uint32_t node = network::kNoNode;
  std::vector<std::uint32_t> values{};  // of the network
  std::vector<std::size_t> wanted{};    // the same among wanted_scales(); kNotWanted: it has none
};

inline constexpr std::size_t kNotWanted = std::numeric_limits<std::size_t>::max();

class FitPlan {
 public:
  // `network`: nullptr, where there is none. All of them outlive the plan.
  FitPlan(const network::Network* network, const std::vector<Dump>& dumps,
          std::span<const DType> dtypes);

  const network::Network* network() const { return network_; }
  const std::vector<Dump>& dumps() const { return dumps_; }
  // That are measured without a scale; the last may be that by which layers are ranked.
  const std::vector<DType>& narrow() const { return narrow_; }
  const std::vector<DType>& scaled() const { return scaled_; }
  // Which of narrow() is the one by which layers are ranked.
  std::size_t ranked_by() const;

  const std::vector<FitItem>& items() const { return items_; }
  const std::vector<ScaledWanted>& wanted() const { return wanted_; }
  std::size_t wanted_of(std::uint32_t value) const { return wanted_of_[value]; }
  // The number of an item's dumps, or of the tensors of its name.
  std::size_t runs(const FitItem& item) const;

  std::vector<PlannedFit> planned() const;

  // Members of dumps, by the number of the dump, that are read for an item.
  std::set<std::pair<std::size_t, std::uint64_t>> members(const FitItem& item) const;

 private:
  void take_network();
  void find_members();
  std::uint64_t bytes_of(std::uint32_t value) const;

  const network::Network* network_;
  const std::vector<Dump>& dumps_;
  std::vector<DType> narrow_;
  std::vector<DType> scaled_;
  std::vector<ScaledWanted> wanted_;
  std::vector<std::size_t> wanted_of_;  // by value of the network
  std::vector<FitItem> items_;
  // By dump and by value of the network: which members its numbers come from. None: weights alone.
  std::vector<std::vector<std::shared_ptr<const std::set<std::uint64_t>>>> members_;
};

// The measures of all items, as the rule takes them.

class ItemPieces {
 public:
  // An error: an item is not known, or what is known of it is not of the plan's.
  static Result<ItemPieces> gather(const FitPlan& plan, const FitShare& share);

  ItemPieces(ItemPieces&&) = default;
  ItemPieces& operator=(ItemPieces&&) = default;

  // With a network: of one dump in plan.narrow()[type].
  const DumpPieces& dump(std::size_t type, std::size_t dump) const { return dumps_[type][dump]; }
  // Without one.
  Result<std::optional<TensorMeasure>> tensor(std::size_t type, const DumpedTensor& tensor) const;
  const ScaledPieces& scaled() const { return scaled_; }

 private:
  explicit ItemPieces(const FitPlan& plan);
  void take(const FitPlan& plan, const FitItem& item, const FitMeasures& measures);
  void take_by_name(const FitPlan& plan, const FitItem& item, const FitMeasures& measures);

  std::vector<std::vector<DumpPieces>> dumps_;  // by type and dump
  std::unordered_map<const DumpedTensor*, FitMeasures::OfRun> tensors_;
  ScaledPieces scaled_;
};

// Measures items, some at a time. What several of them read is read once.

class ItemMeasuring {
 public:
  // Both outlive it.
  ItemMeasuring(const FitPlan& plan, const Execution& execution);

  // In the order of `items`. An error: the caller has asked to stop.
  Result<std::vector<FitMeasures>> run(std::span<const FitItem* const> items);

 private:
  struct Values {
    std::vector<ValueNoise> plain;
    std::vector<ValueNoise> lucky;  // by lucky_if_it_may()
  };

  Status measure_values(std::span<const FitItem* const> items);
  Status measure_scales(std::span<const FitItem* const> items);
  FitMeasures of_network(const FitItem& item) const;
  FitMeasures of_name(const FitItem& item) const;
  bool reads_scales(const FitItem& item) const;

  const FitPlan& plan_;
  const Execution& execution_;
  std::vector<NarrowType> types_;
  std::vector<std::vector<Values>> values_;    // by dump and type
  std::vector<bool> measured_;                 // by value
  std::vector<ScaledMeasure> scales_;          // by wanted_scales()
  std::vector<bool> scaled_;                   // likewise: are they known?
  std::vector<std::vector<double>> relative_;  // by type with scales and value: relative_error()
};

}  // namespace btf
