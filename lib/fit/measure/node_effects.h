// Results computed twice, from a node's inputs as they are and as a narrow device reads them.
#pragma once

#include "btf/error.h"
#include "fit/measure/node_measure.h"
#include "fit/measure/node_values.h"
#include "network/operators/operator.h"

namespace btf {

// For an operator whose results come from the numbers at their places (Passing::places).
Status measure_places(NodeValues& values, const network::Operator& op, NodeMeasure& measure);

// For one whose results come from groups of numbers (Passing::groups), such as Softmax.
Status measure_groups(NodeValues& values, const network::Operator& op, NodeMeasure& measure);

}  // namespace btf
