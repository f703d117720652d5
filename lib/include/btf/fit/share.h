// A network's tensors and layers that several processes measure: each some of them, and one of them
// judges (docs/scaling.md).
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
#include "btf/fit.h"
#include "btf/shards/file_state.h"
#include "btf/shards/item_share.h"
#include "btf/tensor_set.h"

namespace btf {

struct FitMeasures;  // lib/fit/items

// With a graph a layer and what it gives, or a tensor that no layer gives: an input, a weight.
// Without one the tensors of one name in all dumps.
struct PlannedFit {
  std::string name;
  // With, of a layer, its operator and the tensors that it reads: in another graph it is another.
  std::string signature{};
  std::uint64_t bytes = 0;       // of its own tensors, in all dumps
  std::uint64_t read_bytes = 0;  // of those that it reads
};

struct MeasuredFit {
  std::shared_ptr<const FitMeasures> measures{};
  std::string trouble{};  // why some of it could not be read
  // That these were computed from.
  std::vector<std::pair<std::string, std::optional<FileState>>> files{};
};

using FitShare = ItemShare<PlannedFit, MeasuredFit>;

// Measures this share of what fit() with the same arguments would measure, and judges nothing.
BTF_API Status measure_fit(std::span<TensorSet> dumps, const FitOptions& options, FitShare& share);

// As fit(), with what `share` knows of all items in place of measuring them. Dumps are read for
// layers behind numbers that overflow, or behind zeros that are off by something.
BTF_API Result<FitReport> judge_measured(std::span<TensorSet> dumps, const FitOptions& options,
                                         FitShare& share);

}  // namespace btf
