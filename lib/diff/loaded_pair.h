// Two tensors of two files with all that is read before their elements: scales, and what would make
// different dims equal.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "btf/edit.h"
#include "convert/quantize/scale_links.h"
#include "convert/quantize/scales.h"
#include "diff/pairs/side.h"

namespace btf {

// One side of the pair as edits leave it.
using MakeSide = std::function<Result<std::unique_ptr<DiffSide>>(std::span<const Edit> edits)>;

struct ShapeEdits {
  std::vector<Edit> actual;
  std::vector<Edit> golden;
};

// The edits that the options request for tensors with these dims.
Result<ShapeEdits> shape_edits(const Dims& actual, const Dims& golden, const DiffOptions& options);

// Edits that would make tensors of different dims equal within the tolerance given: reported only
// if every element was compared. At most one hint. `edits` were made already, and `diff` says the
// dims that they leave. A few passes over the tensors at most.
Result<std::vector<Hint>> find_shape_hints(const MakeSide& actual, const MakeSide& golden,
                                           const ShapeEdits& edits, const Tolerance& asked,
                                           const TensorDiff& diff, const Execution& execution);

// Codes compared as the numbers that they stand for.

// What is asked for of the scales of a file.
struct ScaleChoice {
  bool dequantize = false;
  std::optional<GivenScale> given{};
  std::vector<std::uint64_t> blocks{};  // see Quantization
};

// Which tensors of a file are codes, and what their scales are, as far as that is asked for.
class FileScales {
 public:
  static Result<FileScales> of(const TensorFile& file, const ScaleChoice& choice,
                               const Execution& execution);

  bool is_companion(std::uint64_t index) const { return companions_.contains(index); }

  // Scales and zero points are no tensors to compare, unless they are selected; those of
  // activations are where `other` has them too.
  void leave_out(const TensorFile& file, const TensorFile& other,
                 std::optional<std::vector<std::uint64_t>>& tensors) const;

  // The tensor, or the numbers of one whose scales stand among its codes.
  Result<TensorInfo> record(const TensorFile& file, std::uint64_t index) const;

  // Scaling::none: it is compared as it is.
  Result<QuantizePlan> plan(const TensorFile& file, const TensorInfo& record,
                            const Execution& execution) const;

  // An error if `codes` have scales that were looked for and not found. Integers of more than 8
  // bits are codes only where what they are compared with are numbers.
  Status check_found(const TensorFile& file, const TensorInfo& codes, const QuantizePlan& plan,
                     const TensorInfo& other, const QuantizePlan& other_plan) const;

  // A scale was given, and no tensor has had use for it.
  bool unused() const { return choice_.given && !used_; }

 private:
  ScaleChoice choice_;
  mutable bool used_ = false;
  bool dequantize_ = false;     // nothing is given
  bool scales_inside_ = false;  // the format keeps them among the codes
  ScaleLinks links_;
  std::set<std::uint64_t> companions_;  // scales and zero points
};

// Do the scales of both sides belong to different dims?
std::optional<Hint> other_axes(const QuantizePlan& actual, const QuantizePlan& golden);

// `side` as the plan makes numbers of it: float64, so that nothing is rounded twice.
Result<std::unique_ptr<DiffSide>> scaled_side(Result<std::unique_ptr<DiffSide>> side,
                                              const QuantizePlan& plan,
                                              std::span<const Edit> edits);

// Two tensors of two files with all that is read before their elements: scales, and what is known
// of each side.

// Two tensors of two files with all that is read before their elements: scales, and what is known
// of each side.

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
