// Sums of products of two tensors' elements.
#pragma once

#include <cmath>

#include "network/node/arithmetic.h"
#include "network/node/tensor.h"

namespace btf::network {

inline void add_product(Sum& sum, const Tensor::Operand& a, const Tensor::Operand& b) {
  const double left = a.own * b.value;
  const double right = b.own * a.value;
  sum.add_square(a.value * b.value, left * left + right * right,
                 a.error * std::abs(b.value) + b.error * std::abs(a.value));
}

inline void add_term(Sum& sum, const Tensor::Operand& a) { sum.add(a.value, a.own, a.error); }

}  // namespace btf::network
