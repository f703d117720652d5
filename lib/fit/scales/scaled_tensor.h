// A tensor's scales in types of few codes, and what each costs: two passes over its numbers.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "btf/error.h"
#include "btf/execution.h"
#include "btf/fit/scales.h"
#include "fit/measure/numbers.h"
#include "fit/scales/channel_axis.h"

namespace btf {

// One tensor as it is in all dumps together.
struct ScaledSource {
  std::size_t dumps = 1;
  std::function<Result<Numbers>(std::size_t dump)> open;
  ChannelAxis axis{};
};

// For each type, without names. An error: a dump's numbers cannot be read. None: they are no
// floats.
Result<std::vector<FitScaledTensor>> measure_scales(const ScaledSource& source,
                                                    std::span<const DType> dtypes,
                                                    const Execution& execution);

}  // namespace btf
