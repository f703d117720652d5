// A tensor of a network as operators see it: its elements one by one, whether stored or computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/dtype.h"
#include "btf/layout.h"
#include "network/node/arithmetic.h"

namespace btf::network {

class Tensor {
 public:
  Tensor(Dims dims, DType dtype);
  virtual ~Tensor() = default;
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  const Dims& dims() const { return dims_; }
  std::uint64_t rank() const { return dims_.size(); }
  std::uint64_t elements() const { return elements_; }
  DType dtype() const { return dtype_; }
  bool floating() const { return info(dtype_).floating(); }

  // By its number in row-major order, below elements(). What cannot be had is NaN, and the
  // evaluation says why.
  virtual Estimate at(std::uint64_t number) = 0;
  double value(std::uint64_t number) { return at(number).value; }

  // As an operand of a product: `own` is the half step of what it is rounded to there.
  struct Operand {
    double value = 0;
    double own = 0;
    double error = 0;
  };
  virtual Operand operand(std::uint64_t number) = 0;
  // As many as `into` has, from `first` on: a row of weights.
  virtual void operands(std::uint64_t first, std::span<Operand> into) {
    for (std::size_t i = 0; i < into.size(); ++i) into[i] = operand(first + i);
  }

 private:
  Dims dims_;
  std::uint64_t elements_;
  DType dtype_;
};

}  // namespace btf::network
