// The dumped tensors of one side, by the values of a network that they are.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/layers/layers.h"
#include "btf/tensor_set.h"
#include "diff/layers/pairs/measured_pairs.h"
#include "network/network.h"
#include "network/stored.h"

namespace btf {

struct DumpedValue {
  SetTensor tensor;
  std::optional<std::uint64_t> layer{};  // its place among the report's layers
  // Those of the network, where the dump has all elements in a row, or a row for each run.
  std::optional<Dims> dims{};
  bool dims_known = true;
};

// For several threads at once.
class SpotDumps {
 public:
  // All of them outlive it. `places`: where a layer is in the report, by its number; kNowhere: it
  // is not. `fitted`: codes without a scale are no numbers of the network; else the network computes
  // with codes itself.
  SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
            const LayerOptions& options, bool of_actual, const std::vector<std::uint64_t>& places,
            const LayerReport& report, bool fitted);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

  // nullptr: the value was not dumped.
  const DumpedValue* find(std::uint32_t value) const;
  // The value that a layer of the report is; kNoValue: none.
  std::uint32_t value_of(std::uint64_t layer) const;
  // The dims by which the network tells the layer's elements.
  const Dims& dims_of(std::uint64_t layer) const;
  // Has any dump other dims than these?
  bool has_flat() const;
  TensorSet& set() const { return set_; }
  // An error: why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedValue& dumped) const;
  // Errors of reading, whatever was made of the numbers.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }

 private:
  void find_dims(const network::Network& network);
  std::optional<Dims> own_dims(const DumpedValue& dumped) const;
  Result<network::StoredNumbers> open_locked(const DumpedValue& dumped) const;
  Status read_once(const DumpedValue& dumped, network::StoredNumbers& numbers) const;
  std::string name_of(const DumpedValue& dumped) const;

  TensorSet& set_;
  const PairedLayers& paired_;
  const LayerOptions& options_;
  bool of_actual_;
  const LayerReport& report_;
  bool fitted_;
  std::unordered_map<std::uint32_t, DumpedValue> dumped_;
  std::unordered_map<std::uint64_t, std::uint32_t> values_;  // of layers
  // Dumps of no layer that were read to their ends.
  mutable std::set<std::pair<std::uint64_t, std::uint64_t>> read_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  mutable std::mutex mutex_;
};

}  // namespace btf
