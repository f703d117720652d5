// How codes become numbers: with which scales of the file, and which zero points.
#pragma once

#include "convert/quantize/plan.h"

namespace btf {

// Fills in a plan whose cast is set. Leaves it as it is for a dtype that needs no scales.
Status plan_dequantize(const TensorFile& file, const TensorConversion& work,
                       const ScaleOrigin& origin, QuantizePlan& plan);

// A plan with a scale for each block, for whoever reads elements one by one: the scales are read.
Status blocks_to_grid(const TensorFile& file, const TensorInfo& codes, const QuantizedBy* link,
                      const Execution& execution, QuantizePlan& plan);

}  // namespace btf
