// Finds the scale for a tensor by maximum, percentile and least squares, from the magnitudes of its
// numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/fit.h"

namespace btf {

// The distribution of the magnitudes of a tensor's finite numbers: each of them if they are few,
// otherwise counts in bins, 512 to a binade.
class Magnitudes {
 public:
  // Sums over the magnitudes up to a limit.
  struct Sums {
    double count = 0;
    double sum = 0;
    double squares = 0;
  };

  // NaN and Inf are only counted.
  void take(std::span<const double> numbers);
  // Must be called after the last number and before the members below.
  void sort();

  std::uint64_t count() const { return count_; }  // finite numbers
  std::uint64_t zeros() const { return zeros_; }
  std::uint64_t nan() const { return nan_; }
  std::uint64_t infinite() const { return infinite_; }
  double largest() const { return largest_; }
  double squares() const { return squares_; }
  // The percentile: the least magnitude that this fraction of them does not exceed. With bins, the
  // upper end of one.
  double at_part(double part) const;
  // Magnitudes are taken to be spread evenly within a bin.
  Sums up_to(double limit) const;

 private:
  void count(std::span<const double> numbers);
  void count_in_bins(std::span<const double> numbers);

  std::vector<double> few_;          // magnitudes, as long as there are no bins
  std::vector<std::uint64_t> bins_;  // by the upper bits of a float
  std::vector<Sums> sums_;  // up to and including each of `few_`, or each bin from `first_` on
  std::size_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t zeros_ = 0;
  std::uint64_t nan_ = 0;
  std::uint64_t infinite_ = 0;
  double largest_ = 0;
  double squares_ = 0;
};

// The non-negative numbers that a type's codes represent.
class CodeGrid {
 public:
  explicit CodeGrid(DType dtype);

  double largest() const { return values_.back(); }

  // The errors that one scale causes: the sum of their squares, the part of it that is due to
  // numbers beyond the last code, and the scale that would be best if each number kept its code.
  struct Trial {
    double squares = 0;
    double beyond = 0;
    double better = 0;
  };
  Trial attempt(const Magnitudes& magnitudes, double scale) const;

 private:
  std::vector<double> values_;  // ascending, from 0 on
};

// The scale with the least sum of squared errors. The magnitudes must not all be zero.
double least_squares_scale(const Magnitudes& magnitudes, const CodeGrid& grid);

struct ScaleMethod {
  Named<FitScaleMethod> name;
  // The scale, a float32, of magnitudes that are not all zero. Unset if it would be zero.
  std::optional<double> (*find)(const Magnitudes& magnitudes, const CodeGrid& grid, DType dtype,
                                double part);
  double part = 0;  // fraction of the numbers that the range of codes covers
};

std::span<const ScaleMethod> scale_methods();

}  // namespace btf
