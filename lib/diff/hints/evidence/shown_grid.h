// The grid that the bits of one side show, where its dtype is finer: of float16 kept in float32, of
// int8 codes times their scale.
#pragma once

#include <optional>
#include <string>

#include "btf/dtype.h"
#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

struct ShownGrid {
  std::string name;              // "float16", "multiples of 0.03"
  std::optional<DType> dtype{};  // whose numbers they are
  StepGrid grid{};               // of floats; else that of the two dtypes
  double half_step_of_actual = 0;  // of multiples, on which both may stand
  double half_step_of_golden = 0;
};

// Nothing where rounding to it would change next to nothing of the other side, or where it is
// hardly coarser than the dtypes.
std::optional<ShownGrid> shown_grid(const HintInput& input, const Sample& sample);

}  // namespace btf::hints
