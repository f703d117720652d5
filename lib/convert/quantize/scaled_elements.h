// Quantised and dequantised tensors, and their scales, as sources of elements to write or compare.
#pragma once

#include "convert/quantize/plan.h"
#include "convert/tensor/tensor.h"

namespace btf {

// The elements of the data record, and of each record of scales. The arguments must outlive them.
// `block_scales`: where those of the plan are read from.
ElementSource scaled_elements(const TensorConversion& work, const QuantizePlan& plan,
                              const ByteSource* block_scales);
ElementSource scale_elements(const TensorConversion& work, const QuantizePlan& plan,
                             const ScaleRecord& record);

}  // namespace btf
