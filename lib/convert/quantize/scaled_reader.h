// Readers of elements that are computed while reading: quantised codes, dequantised numbers, block
// scales.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "convert/quantize/scales.h"
#include "convert/tensor/target.h"
#include "elements/slabs.h"
#include "kernels/scale/scale.h"

namespace btf {

// Reads boxes of codes of cast.to. With block scales, boxes must begin at a block boundary of the
// last dim and end at one or at the dim's end. Losses are added to `losses`. The scales must
// outlive the readers.
std::unique_ptr<SlabReader> quantizing_reader(std::unique_ptr<SlabReader> numbers,
                                              const ScaledCast& cast, const Scales& scales,
                                              Losses& losses);

// Reads boxes of the record of block scales; `numbers` reads the scaled tensor, which has dims
// `dims`.
std::unique_ptr<SlabReader> block_scale_reader(std::unique_ptr<SlabReader> numbers,
                                               const ScaledCast& cast, const Dims& dims,
                                               const Scales& scales);

// Reads boxes of numbers of cast.to. `scale_codes` reads the record of block scales; null if
// scales.blocks is null.
std::unique_ptr<SlabReader> dequantizing_reader(std::unique_ptr<SlabReader> codes,
                                                std::unique_ptr<SlabReader> scale_codes,
                                                const ScaledCast& cast, const Scales& scales,
                                                Losses& losses);

// Reads codes that are in memory, each in buffer_bytes().
std::unique_ptr<SlabReader> value_reader(std::vector<std::byte> codes, DType dtype,
                                         const StridedLayout& storage);

}  // namespace btf
