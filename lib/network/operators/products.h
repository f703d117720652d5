// The operators that sum products: Conv, MatMul, Gemm, Einsum.
#pragma once

#include "network/operators/table.h"

namespace btf::network {

// The operators that sum products, a file for each kind.

MadeOperator make_matmul(const Call& call);
MadeOperator make_gemm(const Call& call);
MadeOperator make_conv(const Call& call);
MadeOperator make_conv_transpose(const Call& call);
MadeOperator make_einsum(const Call& call);

}  // namespace btf::network
