// Operators that sum products: Conv, MatMul, Gemm, Einsum.
#pragma once

#include "network/operators/table.h"

namespace btf::network {

OperatorResult make_matmul(const Call& call);
OperatorResult make_gemm(const Call& call);
OperatorResult make_conv(const Call& call);
OperatorResult make_conv_transpose(const Call& call);
OperatorResult make_einsum(const Call& call);

}  // namespace btf::network
