// Tensors that exist only as they are read: quantised codes, dequantised numbers, block scales.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "convert/quantize/scales.h"
#include "convert/tensor/target.h"
#include "elements/slabs.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

// Boxes of codes of cast.to. Block scales need boxes whose last dim begins at a whole block and
// ends at one or at the dim's end. Losses go to `losses`. The scales outlive the readers.
std::unique_ptr<SlabReader> quantizing_reader(std::unique_ptr<SlabReader> numbers,
                                              const ScaledCast& cast, const Scales& scales,
                                              Losses& losses);

// The scale records' own boxes: `numbers` is the tensor that they scale, with dims `dims`.
std::unique_ptr<SlabReader> block_scale_reader(std::unique_ptr<SlabReader> numbers,
                                               const ScaledCast& cast, const Dims& dims,
                                               const Scales& scales);

// Boxes of numbers of cast.to from `codes`. `scale_codes` reads the block scales' record and is
// null when scales.blocks is.
std::unique_ptr<SlabReader> dequantizing_reader(std::unique_ptr<SlabReader> codes,
                                                std::unique_ptr<SlabReader> scale_codes,
                                                const ScaledCast& cast, const Scales& scales,
                                                Losses& losses);

// Codes that are in memory already, each in buffer_bytes().
std::unique_ptr<SlabReader> value_reader(std::vector<std::byte> codes, DType dtype,
                                         const StridedLayout& storage);

}  // namespace btf
