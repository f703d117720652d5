// Squares of errors and of golden, slice by slice: of the dims that may be channels, and of parts
// of the whole. A dead channel or tile is large in its slice and small in the whole.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/layout.h"
#include "kernels/compare/error_runs.h"

namespace btf {

class Slices {
 public:
  // `inner`: elements of an index of the dim, side by side; `count`: indices. More than kMostSlices
  // are folded. Nothing is kept of fewer than two.
  Slices(std::uint64_t inner, std::uint64_t count);

  // Pairs of finite numbers from the row-major number `first` on. Real is float or double.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  // The same where the sums of their squares are known, which is enough where all are in one slice.
  template <typename Real>
  void add(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n,
           double error2, double golden2);

  // `other` is of a tensor with the same dims.
  void add(const Slices& other);

  // The largest error of a slice: to its norm, or that of the mean slice if that is larger.
  double worst() const;

  static constexpr std::uint64_t kMostSlices = 4096;

 private:
  template <typename Real>
  void add_places(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);
  template <typename Real>
  void add_slices(const Real* actual, const Real* golden, std::uint64_t first, std::uint64_t n);

  std::uint64_t inner_;
  std::uint64_t count_;
  std::uint64_t period_ = 0;    // not 0: places of several slices are added up side by side
  std::vector<double> error2_;  // of slices or places
  std::vector<double> golden2_;
};

// Slices by the likeliest channel dims and by parts of the whole.
std::vector<Slices> layer_slices(const Dims& dims);

}  // namespace btf
