#include "network/operators/log_sum.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace btf::network {

double exponential_rounding(double argument) { return kFloat32 * (4 + 2 * std::abs(argument)); }

double ExponentialSum::log_error() const {
  return std::max(std::log(high / sum), std::log(sum / low)) + rounding;
}

ExponentialSum exponential_sum(Tensor& x, const Groups& groups, std::uint64_t group) {
  ExponentialSum found{.most = -std::numeric_limits<double>::infinity()};
  for (std::uint64_t which = 0; which < groups.size(); ++which) {
    const double value = x.value(groups.element(group, which));
    if (std::isnan(value)) {
      found.sum = value;
      return found;
    }
    found.most = std::max(found.most, value);
  }
  if (std::isinf(found.most)) return found;
  double rounding = 0;
  for (std::uint64_t which = 0; which < groups.size(); ++which) {
    const Estimate element = element_of(x, groups.element(group, which));
    const double shifted = element.value - found.most;
    const double term = std::exp(shifted);
    found.sum += term;
    found.low += std::exp(shifted - element.error);
    found.high += std::exp(shifted + element.error);
    // What is masked out is far away, and 0.
    if (term > 0) rounding += term * exponential_rounding(shifted);
  }
  const auto n = static_cast<double>(groups.size());
  found.rounding = rounding / found.sum + kFloat32 * std::min(n, 4 + std::sqrt(n));
  return found;
}

}  // namespace btf::network
