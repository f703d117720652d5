// The effect of rounding a value on a result by functions of elements at the same place, all of
// which are computed twice: a few of the largest numbers may be what matters, or come to nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "fit/measure/node_measure.h"
#include "fit/rule/ways.h"

namespace btf {

// Root mean square of the result's error. Nothing: another operator is on the ways, dims change,
// numbers are missing, or something becomes Inf or NaN.
std::optional<double> chain_error(const NodeContext& context, std::uint32_t value,
                                  const Ways& ways);

}  // namespace btf
