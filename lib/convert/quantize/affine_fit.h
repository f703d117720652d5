// A scale, and a zero point if it is to be found too, with which the least and the largest element
// get codes of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "core/edit_chain.h"
#include "kernels/number/number.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

// Range of the finite elements and 0, which always has a code: least <= 0 <= largest.
struct ValueRange {
  Number least;
  Number largest;
};

// The range of the tensor, or of each index of `axis`, after the edits. Reads the tensor once.
Result<std::vector<ValueRange>> value_ranges(const ByteSource& source, const TensorInfo& record,
                                             const EditChain& edits,
                                             std::optional<std::uint32_t> axis,
                                             const Execution& execution);

struct AffineFit {
  float scale = 1;
  std::int64_t zero_point = 0;
};

// For codes of an integer dtype. The scale is the least with which the range fits between the
// codes, rounded to the nearest float32, or to the next one above if with that an end would be
// clamped; 1 for nothing but zeros. A zero point that is found is the code that puts the least
// element on the least code. Refuses what cannot fit.
Result<AffineFit> fit_affine(const ValueRange& range, const ScaledCast& cast, bool find_zero_point);

}  // namespace btf
