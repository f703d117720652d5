// How codes become numbers: with which scales of the file, and which zero points.
#pragma once

#include "convert/quantize/plan.h"

namespace btf {

// Fills in a plan whose cast is set. Leaves it as it is for a dtype that needs no scales.
Status plan_dequantize(const TensorFile& file, const TensorConversion& work,
                       const ScaleOrigin& origin, QuantizePlan& plan);

}  // namespace btf
