// Two tensors of two files with all that is read before their elements: scales, and what is known
// of each side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "btf/diff.h"
#include "convert/quantize/plan.h"
#include "diff/pairs/side.h"
#include "diff/scaled_side.h"

namespace btf {

struct LoadedPair {
  TensorInfo a{};
  TensorInfo b{};
  QuantizePlan left{};
  QuantizePlan right{};
  TensorDiff diff{};  // what is known of both

  std::uint64_t bytes() const { return std::max(a.data_bytes, b.data_bytes); }
};

// The files and the options outlive it.
class PairLoader {
 public:
  static Result<PairLoader> of(const TensorFile& actual, const TensorFile& golden,
                               const DiffOptions& options);

  const FileScales& actual_scales() const { return actual_scales_; }
  const FileScales& golden_scales() const { return golden_scales_; }

  Result<LoadedPair> load(const TensorPair& tensors) const;

  // A side as edits leave it. The pair outlives it.
  Result<std::unique_ptr<DiffSide>> actual(const LoadedPair& pair, std::span<const Edit> edits,
                                           const Execution& execution) const;
  Result<std::unique_ptr<DiffSide>> golden(const LoadedPair& pair, std::span<const Edit> edits,
                                           const Execution& execution) const;

 private:
  PairLoader(const TensorFile& actual, const TensorFile& golden, const DiffOptions& options)
      : actual_(&actual), golden_(&golden), options_(&options) {}

  Status load_blocks(LoadedPair& pair) const;

  const TensorFile* actual_;
  const TensorFile* golden_;
  const DiffOptions* options_;
  FileScales actual_scales_;
  FileScales golden_scales_;
};

}  // namespace btf
