// Elements relative to the mean and the variance of their group.
#pragma once

#include <memory>
#include <vector>

#include "network/operators/normalising_makers.h"
#include "network/operators/operator.h"
#include "network/operators/rows.h"

namespace btf::network {

// Scale and bias of an element: one of them may be missing.
struct Affine {
  Tensor* scale = nullptr;
  Tensor* bias = nullptr;

  // The product is rounded before the bias is added.
  Estimate of(Estimate x, std::uint64_t at, double half_step) const;
};

// A divisor that is a root of a variance, with what is added to either.
struct Deviation {
  double value = 0;
  double low = 0;
  double high = 0;
};

// `spread`: how far the elements' errors take the deviation; `error`: how far rounding takes the
// variance, which may even be below 0 where the square of a mean was taken off.
Deviation deviation_of(double variance, double spread, double error, double epsilon);
// (x - mean) / deviation, where the difference is off by up to `off`. The error is infinite if the
// deviation may be 0.
Estimate over_deviation(double difference, double off, const Deviation& deviation);

struct Moments {
  double mean = 0;
  double mean_error = 0;
  Deviation deviation{};
};

// Instance, group, layer and RMS normalisations differ in their groups, and in where scale and bias
// stand. Outputs 1 and 2, if there are any, are the mean and the inverse deviation of each group.
class Normalised final : public Operator {
 public:
  Normalised(std::vector<Output> outputs, Tensor& x, Groups groups, const NormalForm& form,
             const Arithmetic& arithmetic);

  Estimate element(std::size_t output, std::uint64_t number) override;

  // Before scale and bias.
  const Groups* groups() const override { return &groups_; }
  void of_group(std::span<const double> x, std::span<double> into) const override;
  GroupInside inside(std::span<const double> x, const RoundNumber& round) const override;

 private:
  double mean_of(std::span<const double> x) const;
  const Moments& moments_of(std::uint64_t group);
  Moments find(std::uint64_t group);

  Tensor& x_;
  Groups groups_;
  NormalForm form_;
  const Arithmetic& arithmetic_;
  KeptByGroup<Moments> kept_;
};

}  // namespace btf::network
