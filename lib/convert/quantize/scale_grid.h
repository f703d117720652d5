// Scales of boxes: which elements share one.
#pragma once

#include <optional>

#include "btf/attributes.h"
#include "btf/file.h"
#include "convert/quantize/scales.h"

namespace btf {

// Scales that `link` names and that have as many dims as the codes, in each of which they are as
// many as the indices or fewer. How many indices share one: what the link says, else the usual
// number of that kind of scales if it fits, else the ratio of the dims. Nothing: they are no scales
// of these codes. An error where several numbers fit.
Result<std::optional<ScaleGrid>> fit_grid(const TensorInfo& scales, const TensorInfo& codes,
                                          const QuantizedBy& link);

}  // namespace btf
