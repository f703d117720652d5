// Measures items, some at a time. What several of them read is read once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "fit/items/fit_measures.h"
#include "fit/items/fit_plan.h"

namespace btf {

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
