// Casts any pair of dtypes by the rules of number.h, element by element.
#pragma once

#include "kernels/move/move.h"
#include "kernels/number/number.h"

namespace btf {

using DecodeFn = void (*)(const std::byte* source, std::uint64_t stride, std::uint64_t count,
                          Number* out);
using EncodeFn = void (*)(const Number* numbers, std::uint64_t count, std::byte* target,
                          std::uint64_t stride, const CastPolicy& policy, LossAccount& account);

DecodeFn decoder(DType dtype);
EncodeFn encoder(DType dtype);

// The number of a code, which is in the lowest bytes.
Number decode_one(DType dtype, std::uint64_t code);

bool cast_reference_applies(const CastJob& job);
void cast_reference_tile(const CastJob& job, const Tile& tile, LossAccount& account);

}  // namespace btf
