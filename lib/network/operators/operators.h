// Operators that several files of the table need.
#pragma once

#include "network/node.h"
#include "network/operators/table.h"

namespace btf::network {

// Operators that choose elements.

// ArgMax, ArgMin and TopK.

OperatorResult make_arg_max(const Call& call);
OperatorResult make_arg_min(const Call& call);
OperatorResult make_top_k(const Call& call);

// Operators that sum products: Conv, MatMul, Gemm, Einsum.

OperatorResult make_matmul(const Call& call);
OperatorResult make_gemm(const Call& call);
OperatorResult make_conv(const Call& call);
OperatorResult make_conv_transpose(const Call& call);
OperatorResult make_einsum(const Call& call);

// Normalisations and softmaxes, and how their scales are indexed.

// A normalisation by mean and variance of a group.
struct NormalForm {
  Tensor* scale = nullptr;
  Tensor* bias = nullptr;
  double epsilon = 0;       // added to the variance
  double beside_root = 0;   // added to its root
  bool about_zero = false;  // without a mean
  // With a scale for each place of the last dims: the number of their elements.
  std::uint64_t inner = 0;
  Broadcast places{};
  // Otherwise with one scale for each channel, or for several channels.
  std::uint64_t channels = 1;
  std::uint64_t image = 1;        // elements of a channel
  std::uint64_t per_channel = 1;  // scales

  std::uint64_t place_of(std::uint64_t number) const {
    if (inner > 0) return places.number(number % inner);
    return number / image % channels * per_channel / channels;
  }
};

OperatorResult make_lp_normalised(const Call& call);
OperatorResult make_lrn(const Call& call);
OperatorResult make_softmax(const Call& call);
OperatorResult make_log_softmax(const Call& call);
OperatorResult make_hardmax(const Call& call);

}  // namespace btf::network
