#include "network/operators/products/products.h"

#include <array>

#include "network/operators/families.h"
#include "network/operators/products/product_makers.h"

namespace btf::network {
namespace {

constexpr auto kProductRows = std::to_array<OperatorRow>({
    {"MatMul", 1, make_matmul, Passing::products},
    {"Gemm", 1, make_gemm, Passing::products},
    {"Conv", 1, make_conv, Passing::products},
    {"ConvTranspose", 1, make_conv_transpose, Passing::products},
    {"Einsum", 12, make_einsum, Passing::products},
});

}  // namespace

std::span<const OperatorRow> product_rows() { return kProductRows; }

}  // namespace btf::network
