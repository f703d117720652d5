#include "formats/gguf/types.h"

#include <algorithm>
#include <array>

#include "formats/gguf/blocks.h"

namespace btf {
namespace {

using namespace ggml_blocks;

// Codes 4, 5, 31 to 33 and 36 to 38 are of types that were removed.
// clang-format off
constexpr auto kGgmlTypes = std::to_array<GgmlType>({
    { 0, "F32",       1,   4, DType::float32},
    { 1, "F16",       1,   2, DType::float16},
    { 2, "Q4_0",     32,  18, {}, q4_0},
    { 3, "Q4_1",     32,  20, {}, q4_1},
    { 6, "Q5_0",     32,  22, {}, q5_0},
    { 7, "Q5_1",     32,  24, {}, q5_1},
    { 8, "Q8_0",     32,  34, {}, q8_0},
    { 9, "Q8_1",     32,  36},
    {10, "Q2_K",    256,  84, {}, q2_k},
    {11, "Q3_K",    256, 110, {}, q3_k},
    {12, "Q4_K",    256, 144, {}, q4_k},
    {13, "Q5_K",    256, 176, {}, q5_k},
    {14, "Q6_K",    256, 210, {}, q6_k},
    {15, "Q8_K",    256, 292},
    {16, "IQ2_XXS", 256,  66, {}, iq2_xxs},
    {17, "IQ2_XS",  256,  74, {}, iq2_xs},
    {18, "IQ3_XXS", 256,  98, {}, iq3_xxs},
    {19, "IQ1_S",   256,  50, {}, iq1_s},
    {20, "IQ4_NL",   32,  18, {}, iq4_nl},
    {21, "IQ3_S",   256, 110, {}, iq3_s},
    {22, "IQ2_S",   256,  82, {}, iq2_s},
    {23, "IQ4_XS",  256, 136, {}, iq4_xs},
    {24, "I8",        1,   1, DType::int8},
    {25, "I16",       1,   2, DType::int16},
    {26, "I32",       1,   4, DType::int32},
    {27, "I64",       1,   8, DType::int64},
    {28, "F64",       1,   8, DType::float64},
    {29, "IQ1_M",   256,  56, {}, iq1_m},
    {30, "BF16",      1,   2, DType::bfloat16},
    {34, "TQ1_0",   256,  54, {}, tq1_0},
    {35, "TQ2_0",   256,  66, {}, tq2_0},
    {39, "MXFP4",    32,  17, {}, mxfp4, true},
    {40, "NVFP4",    64,  36, {}, nvfp4, true},
    {41, "Q1_0",    128,  18},
    {42, "Q2_0",     64,  18},
});
// clang-format on

static_assert(std::ranges::all_of(kGgmlTypes, [](const GgmlType& type) {
  return type.elements <= kMostBlockElements && type.dtype.has_value() == (type.elements == 1);
}));

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t code) {
  const auto* const found = std::ranges::find(kGgmlTypes, code, &GgmlType::code);
  return found == kGgmlTypes.end() ? nullptr : found;
}

}  // namespace btf
