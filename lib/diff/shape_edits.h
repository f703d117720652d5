// Dims that differ only by how they are written down: edited when asked for, and found out when
// not.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "btf/edit.h"
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

}  // namespace btf
