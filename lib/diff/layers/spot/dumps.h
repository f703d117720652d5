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
};

// For several threads at once.
class SpotDumps {
 public:
  // All of them outlive it. `places`: where a layer is in the report, by its number; kNowhere: it
  // is not. `fitted`: the report, where codes without a scale are no numbers of the network;
  // nullptr: the network computes with codes itself.
  SpotDumps(const network::Network& network, TensorSet& set, const PairedLayers& paired,
            const LayerOptions& options, bool of_actual, const std::vector<std::uint64_t>& places,
            const LayerReport* fitted);

  static constexpr std::uint64_t kNowhere = UINT64_MAX;

  // nullptr: the value was not dumped.
  const DumpedValue* find(std::uint32_t value) const;
  // The value that a layer of the report is; kNoValue: none.
  std::uint32_t value_of(std::uint64_t layer) const;
  TensorSet& set() const { return set_; }
  // An error: why its numbers cannot be used.
  Result<network::StoredNumbers> open(const DumpedValue& dumped) const;
  // Errors of reading, whatever was made of the numbers.
  std::vector<std::string> read_troubles() const { return troubles_->texts(); }

 private:
  Result<network::StoredNumbers> open_locked(const DumpedValue& dumped) const;
  Status read_once(const DumpedValue& dumped, network::StoredNumbers& numbers) const;
  std::string name_of(const DumpedValue& dumped) const;

  TensorSet& set_;
  const PairedLayers& paired_;
  const LayerOptions& options_;
  bool of_actual_;
  const LayerReport* fitted_;
  std::unordered_map<std::uint32_t, DumpedValue> dumped_;
  std::unordered_map<std::uint64_t, std::uint32_t> values_;  // of layers
  // Dumps of no layer that were read to their ends.
  mutable std::set<std::pair<std::uint64_t, std::uint64_t>> read_;
  std::shared_ptr<ReadTroubles> troubles_ = std::make_shared<ReadTroubles>();
  mutable std::mutex mutex_;
};

}  // namespace btf
