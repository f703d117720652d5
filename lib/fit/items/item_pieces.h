// The measures of all items, as the rule takes them.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "btf/error.h"
#include "btf/fit/share.h"
#include "fit/items/fit_measures.h"
#include "fit/items/fit_plan.h"

namespace btf {

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

}  // namespace btf
