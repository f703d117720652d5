// Which quantisations mean nothing for a pair of dtypes, and what is said of them.
#pragma once

#include <cstdint>
#include <string>

#include "btf/error.h"
#include "btf/file.h"
#include "btf/quantize.h"
#include "kernels/scale/scaled_cast.h"

namespace btf {

std::unexpected<Error> refuse_scaling(std::string message);

// Dense, and of a dtype that a scale can make numbers of?
bool holds_codes(const TensorInfo& record);

// Why these codes of the file cannot be scaled.
std::string no_scales_text(const TensorFile& file, const TensorInfo& codes);

bool is_integer(DType dtype);

// Is it one of this integer dtype's?
bool is_code(std::int64_t number, DType integer);

// The zero point that is given or to be found, as a code of the dtype `codes`.
Status check_zero_point(const Quantization& wanted, DType codes);

// Overflow and rounding of a cast with a scale.
Status check_scaled_policy(const ScaledCast& cast);

// Dtypes that quantising with a scale to be found, and dequantising, may give.
Status check_quantized_dtype(DType dtype);
Status check_dequantized_dtype(DType dtype);

}  // namespace btf
