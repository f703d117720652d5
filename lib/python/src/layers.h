// Sets of layers and their options out of a dict.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <string>

#include "btf/error.h"
#include "btf/layers.h"
#include "btf/report.h"
#include "btf/tensor_set.h"

namespace btf::python {

LayerOptions layer_options(const nanobind::dict& given, std::optional<std::string>& baseline);

struct LayerSets {
  TwoSets two;
  std::optional<TensorSet> baseline{};

  static Result<LayerSets> open(const std::string& actual, const std::string& golden,
                                const std::optional<std::string>& baseline,
                                const Execution& execution);
  TensorSet* healthy() { return baseline ? &*baseline : nullptr; }
};

// Opens the sets and calls `judge` without the GIL.
LayerRun judged(const std::string& actual, const std::string& golden, const nanobind::dict& given,
                const std::function<Result<LayerReport>(LayerSets&, const LayerOptions&)>& judge);

}  // namespace btf::python
