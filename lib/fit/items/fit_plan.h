// The plan of what is measured, item by item.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/fit/share.h"
#include "fit/measure/dump.h"
#include "fit/scales/scaled_types.h"
#include "network/network.h"

namespace btf {

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

}  // namespace btf
