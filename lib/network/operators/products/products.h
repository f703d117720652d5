// Sums of products of two tensors' elements.
#pragma once

#include <cmath>

#include "network/node/arithmetic.h"
#include "network/node/tensor.h"

namespace btf::network {

inline void add_product(Sum& sum, const Tensor::Operand& a, const Tensor::Operand& b) {
  sum.add(a.value * b.value, std::hypot(a.own * b.value, b.own * a.value),
          a.error * std::abs(b.value) + b.error * std::abs(a.value));
}

inline void add_term(Sum& sum, const Tensor::Operand& a) { sum.add(a.value, a.own, a.error); }

}  // namespace btf::network
