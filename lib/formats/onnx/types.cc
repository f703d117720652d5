#include "formats/onnx/types.h"

#include <algorithm>
#include <array>

#include "formats/onnx/messages.h"

namespace btf {
namespace {

using namespace onnx::tensor;

// In the order of their numbers, from 1.
constexpr auto kTypes = std::to_array<OnnxType>({
    {1, "FLOAT", kFloats, DType::float32},
    {2, "UINT8", kInt32s, DType::uint8},
    {3, "INT8", kInt32s, DType::int8},
    {4, "UINT16", kInt32s, DType::uint16},
    {5, "INT16", kInt32s, DType::int16},
    {6, "INT32", kInt32s, DType::int32},
    {7, "INT64", kInt64s, DType::int64},
    {8, "STRING", kStrings},
    {9, "BOOL", kInt32s, DType::boolean},
    {10, "FLOAT16", kInt32s, DType::float16},
    {11, "DOUBLE", kDoubles, DType::float64},
    {12, "UINT32", kUint64s, DType::uint32},
    {13, "UINT64", kUint64s, DType::uint64},
    {14, "COMPLEX64", kFloats},
    {15, "COMPLEX128", kDoubles},
    {16, "BFLOAT16", kInt32s, DType::bfloat16},
    {17, "FLOAT8E4M3FN", kInt32s, DType::float8_e4m3fn},
    {18, "FLOAT8E4M3FNUZ", kInt32s, DType::float8_e4m3fnuz},
    {19, "FLOAT8E5M2", kInt32s, DType::float8_e5m2},
    {20, "FLOAT8E5M2FNUZ", kInt32s, DType::float8_e5m2fnuz},
    {21, "UINT4", kInt32s, DType::uint4},
    {22, "INT4", kInt32s, DType::int4},
    {23, "FLOAT4E2M1", kInt32s, DType::float4_e2m1fn},
    {24, "FLOAT8E8M0", kInt32s, DType::float8_e8m0fnu},
    {25, "UINT2", kInt32s},
    {26, "INT2", kInt32s},
    {27, "FLOAT6E2M3", kInt32s},
    {28, "FLOAT6E3M2", kInt32s},
});

}  // namespace

const OnnxType* find_onnx_type(std::uint64_t number) {
  return number >= 1 && number <= kTypes.size() ? &kTypes[number - 1] : nullptr;
}

const OnnxType* onnx_type_of(DType dtype) {
  const auto* const row = std::ranges::find(kTypes, std::optional(dtype), &OnnxType::dtype);
  return row == kTypes.end() ? nullptr : row;
}

}  // namespace btf
