// The rows of each family of operators.
#pragma once

#include <span>

#include "network/operators/operator.h"

namespace btf::network {

std::span<const OperatorRow> unary_rows();        // a function of one element
std::span<const OperatorRow> binary_rows();       // of elements at the same place: Add, Where, Clip
std::span<const OperatorRow> product_rows();      // Conv, MatMul, Gemm, Einsum
std::span<const OperatorRow> recurrent_rows();    // LSTM, GRU, RNN
std::span<const OperatorRow> normalising_rows();  // BatchNormalization, Softmax
std::span<const OperatorRow> reducing_rows();     // ReduceSum, ArgMax, TopK, CumSum
std::span<const OperatorRow> pooling_rows();      // MaxPool, GlobalAveragePool
std::span<const OperatorRow> moving_rows();       // Concat, Slice, Transpose, Gather
std::span<const OperatorRow> making_rows();       // Shape, Range, ConstantOfShape
std::span<const OperatorRow> resizing_rows();     // Resize, Upsample
std::span<const OperatorRow> coding_rows();       // Cast, QuantizeLinear, QLinearConv

}  // namespace btf::network
