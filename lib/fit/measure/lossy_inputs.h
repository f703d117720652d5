// Where in a node's result an input has numbers that rounding changes by more than a step.
#pragma once

#include "btf/error.h"
#include "fit/measure/narrow_type.h"
#include "fit/measure/node_measure.h"
#include "fit/measure/numbers.h"
#include "fit/measure/run_plan.h"

namespace btf {

struct LossyInput {
  const ValueNoise& value;
  Numbers& numbers;  // its own
  const NarrowType& type;
  bool infinite = false;  // with the Inf that it has from before
};

// The runs of an input that goes into the result number by number. `input.value` outlives what is
// returned.
Result<RunPlan::IsLossy> lossy_runs(const LossyInput& input);

// Those of one that is broadcast; `placed` outlives what is returned.
Result<RunPlan::IsLossy> lossy_places(const LossyInput& input, const PlacedNumbers& placed);

}  // namespace btf
