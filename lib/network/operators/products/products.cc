#include "network/operators/products/products.h"

#include <array>

#include "network/operators/families.h"
#include "network/operators/products/product_makers.h"

namespace btf::network {
namespace {

constexpr auto kProductRows = std::to_array<OperatorRow>({
    {"MatMul", 1, make_matmul},
    {"Gemm", 1, make_gemm},
    {"Conv", 1, make_conv},
    {"ConvTranspose", 1, make_conv_transpose},
    {"Einsum", 12, make_einsum},
});

}  // namespace

std::span<const OperatorRow> product_rows() { return kProductRows; }

}  // namespace btf::network
