// Layers that several processes measure: each some of the pairs, and one of them judges
// (docs/scaling.md).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/layers/figures.h"
#include "btf/layers/layers.h"
#include "btf/shards/file_state.h"
#include "btf/shards/item_share.h"

namespace btf {

struct SideCheck;  // lib/diff/layers/spot

// A pair before it is measured: of the comparison itself, of the baseline with golden, of actual
// with the outputs of an unwatched run.
struct PlannedLayer {
  std::string name;  // golden's
  std::string actual_path;
  std::string golden_path;
  std::uint64_t actual_bytes = 0;  // of elements; 0: there is nothing to measure
  std::uint64_t golden_bytes = 0;
};

// The result of a pair. Neither: its shapes do not fit.
struct MeasuredLayer {
  std::optional<LayerFigures> figures{};
  std::string trouble{};  // why there are none
  bool unread = false;    // that is an error of reading
  // Which of its elements do not follow from its inputs, where a graph says what these are. It is
  // asked again where that was asked of a precision that the run does not have.
  std::shared_ptr<const SideCheck> check{};
  // Other files that these elements were computed from.
  std::vector<std::pair<std::string, std::optional<FileState>>> inputs{};
};

using LayerShare = ItemShare<PlannedLayer, MeasuredLayer>;

// Measures this share of what compare_layers() with the same arguments would measure, and judges
// nothing.
BTF_API Status measure_layers(TensorSet& actual, TensorSet& golden, TensorSet* baseline,
                              TensorSet* expected, const LayerOptions& options, LayerShare& share);

// As compare_layers(), with what `share` knows in place of measuring it. The files are read where
// elements do not follow from their inputs, and for causes.
BTF_API Result<LayerReport> judge_measured(TensorSet& actual, TensorSet& golden,
                                           TensorSet* baseline, TensorSet* expected,
                                           const LayerOptions& options, LayerShare& share);

}  // namespace btf
