// Two tensors of two files with everything that is read before their elements: scales, and edits
// that would make different dims equal.
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
#include "diff/sides/side.h"

namespace btf {

// Makes one side of the pair as the edits leave it.
using MakeSide = std::function<Result<std::unique_ptr<DiffSide>>(std::span<const Edit> edits)>;

struct ShapeEdits {
  std::vector<Edit> actual;
  std::vector<Edit> golden;
};

// The edits that the options request for tensors with these dims.
Result<ShapeEdits> shape_edits(const Dims& actual, const Dims& golden, const DiffOptions& options);

// Finds edits that would make tensors of different dims equal within the given tolerance. Returns
// at most one hint, and only if every element was compared. `edits` were applied before, and `diff`
// has the resulting dims. Takes a few passes over the tensors at most.
Result<std::vector<Hint>> find_shape_hints(const MakeSide& actual, const MakeSide& golden,
                                           const ShapeEdits& edits, const Tolerance& asked,
                                           const TensorDiff& diff, const Execution& execution);

// How the scales of a file are used.
struct ScaleChoice {
  bool dequantize = false;
  std::optional<GivenScale> given{};
  std::vector<std::uint64_t> blocks{};  // see Quantization
};

// The tensors of a file that are codes, and their scales, as far as they are used.
class FileScales {
 public:
  static Result<FileScales> of(const TensorFile& file, const ScaleChoice& choice,
                               const Execution& execution);

  bool is_companion(std::uint64_t index) const { return companions_.contains(index); }

  // Leaves out scales and zero points, which are not compared unless they are selected; those of
  // activations are compared if `other` has them too.
  void leave_out(const TensorFile& file, const TensorFile& other,
                 std::optional<std::vector<std::uint64_t>>& tensors) const;

  // The tensor itself, or its dequantised numbers if its format keeps scales among the codes.
  Result<TensorInfo> record(const TensorFile& file, std::uint64_t index) const;

  // Scaling::none: the tensor is compared as it is.
  Result<QuantizePlan> plan(const TensorFile& file, const TensorInfo& record,
                            const Execution& execution) const;

  // Fails if `codes` have scales that were looked for but not found. Integers of more than 8 bits
  // count as codes only if they are compared with numbers.
  Status check_found(const TensorFile& file, const TensorInfo& codes, const QuantizePlan& plan,
                     const TensorInfo& other, const QuantizePlan& other_plan) const;

  // True if the options give a scale and no tensor used it.
  bool unused() const { return choice_.given && !used_; }

 private:
  ScaleChoice choice_;
  mutable bool used_ = false;
  bool dequantize_ = false;     // dequantise by the scales of the file
  bool scales_inside_ = false;  // the format keeps scales among the codes
  ScaleLinks links_;
  std::set<std::uint64_t> companions_;  // scales and zero points
};

// A hint if the scales of both sides belong to different dims.
std::optional<Hint> other_axes(const QuantizePlan& actual, const QuantizePlan& golden);

// `side` dequantised by the plan, as float64 so that nothing is rounded twice.
Result<std::unique_ptr<DiffSide>> scaled_side(Result<std::unique_ptr<DiffSide>> side,
                                              const QuantizePlan& plan,
                                              std::span<const Edit> edits);

// Two tensors of two files with everything that is read before their elements.

struct LoadedPair {
  TensorInfo a{};
  TensorInfo b{};
  QuantizePlan left{};
  QuantizePlan right{};
  TensorDiff diff{};  // what is known of both sides

  std::uint64_t bytes() const { return std::max(a.data_bytes, b.data_bytes); }
};

// Loads pairs of two files. The files and the options must outlive it.
class PairLoader {
 public:
  static Result<PairLoader> of(const TensorFile& actual, const TensorFile& golden,
                               const DiffOptions& options);

  const FileScales& actual_scales() const { return actual_scales_; }
  const FileScales& golden_scales() const { return golden_scales_; }

  Result<LoadedPair> load(const TensorPair& tensors) const;

  // A side as the edits leave it. The pair must outlive it.
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
