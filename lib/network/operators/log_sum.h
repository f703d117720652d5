// Sums of exponentials: of Softmax and ReduceLogSumExp.
#pragma once

#include "network/operators/rows.h"

namespace btf::network {

// The sum of exp(x - most) in a group; bounds are those of the elements' errors.
struct ExponentialSum {
  double most = 0;
  double sum = 0;  // NaN: an element is
  double low = 0;
  double high = 0;
  double rounding = 0;  // relative, of the sum as a device has it

  double log_error() const;
};

// The rounding error of an exponential, relative: a few steps, and its argument's.
double exponential_rounding(double argument);

ExponentialSum exponential_sum(Tensor& x, const Groups& groups, std::uint64_t group);

}  // namespace btf::network
