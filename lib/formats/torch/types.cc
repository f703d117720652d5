#include "formats/torch/types.h"

#include <algorithm>
#include <array>

namespace btf {
namespace {

// clang-format off
constexpr auto kTypes = std::to_array<TorchType>({
    {"torch DoubleStorage",        DType::float64, 8},
    {"torch FloatStorage",         DType::float32, 4},
    {"torch HalfStorage",          DType::float16, 2},
    {"torch BFloat16Storage",      DType::bfloat16, 2},
    {"torch LongStorage",          DType::int64, 8},
    {"torch IntStorage",           DType::int32, 4},
    {"torch ShortStorage",         DType::int16, 2},
    {"torch CharStorage",          DType::int8, 1},
    {"torch ByteStorage",          DType::uint8, 1},
    {"torch BoolStorage",          DType::boolean, 1},
    {"torch ComplexFloatStorage",  std::nullopt, 8, 1, "complex64"},
    {"torch ComplexDoubleStorage", std::nullopt, 16, 1, "complex128"},
    {"torch QInt8Storage",         std::nullopt, 1, 1, "qint8"},
    {"torch QUInt8Storage",        std::nullopt, 1, 1, "quint8"},
    {"torch QInt32Storage",        std::nullopt, 4, 1, "qint32"},
    {"torch QUInt4x2Storage",      std::nullopt, 1, 1, "quint4x2"},
    {"torch QUInt2x4Storage",      std::nullopt, 1, 1, "quint2x4"},
    {"torch float64",              DType::float64, 8},
    {"torch float32",              DType::float32, 4},
    {"torch float16",              DType::float16, 2},
    {"torch bfloat16",             DType::bfloat16, 2},
    {"torch float8_e4m3fn",        DType::float8_e4m3fn, 1},
    {"torch float8_e5m2",          DType::float8_e5m2, 1},
    {"torch float8_e4m3fnuz",      DType::float8_e4m3fnuz, 1},
    {"torch float8_e5m2fnuz",      DType::float8_e5m2fnuz, 1},
    {"torch float8_e8m0fnu",       DType::float8_e8m0fnu, 1},
    {"torch float4_e2m1fn_x2",     DType::float4_e2m1fn, 1, 2},
    {"torch int64",                DType::int64, 8},
    {"torch int32",                DType::int32, 4},
    {"torch int16",                DType::int16, 2},
    {"torch int8",                 DType::int8, 1},
    {"torch uint64",               DType::uint64, 8},
    {"torch uint32",               DType::uint32, 4},
    {"torch uint16",               DType::uint16, 2},
    {"torch uint8",                DType::uint8, 1},
    {"torch bool",                 DType::boolean, 1},
    {"numpy f8",                   DType::float64, 8},
    {"numpy f4",                   DType::float32, 4},
    {"numpy f2",                   DType::float16, 2},
    {"numpy i8",                   DType::int64, 8},
    {"numpy i4",                   DType::int32, 4},
    {"numpy i2",                   DType::int16, 2},
    {"numpy i1",                   DType::int8, 1},
    {"numpy u8",                   DType::uint64, 8},
    {"numpy u4",                   DType::uint32, 4},
    {"numpy u2",                   DType::uint16, 2},
    {"numpy u1",                   DType::uint8, 1},
    {"numpy b1",                   DType::boolean, 1},
    {"torch complex32",            std::nullopt, 4, 1, "complex32"},
    {"torch complex64",            std::nullopt, 8, 1, "complex64"},
    {"torch complex128",           std::nullopt, 16, 1, "complex128"},
});
// clang-format on

}  // namespace

const TorchType* find_torch_type(std::string_view name) {
  const auto* row = std::ranges::find(kTypes, name, &TorchType::name);
  return row == kTypes.end() ? nullptr : row;
}

}  // namespace btf
