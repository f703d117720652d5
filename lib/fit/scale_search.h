// The scale for a tensor, by maximum, percentile and least squares, from the magnitudes of its
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

// The magnitudes of a tensor's finite numbers by size: each of them where they are few, else
// counted in bins, 512 to a binade.

class Magnitudes {
 public:
  // Sums of magnitudes up to a limit.
  struct Sums {
    double count = 0;
    double sum = 0;
    double squares = 0;
  };

  // NaN and Inf are counted, and left out.
  void take(std::span<const double> numbers);
  // Before anything is asked for, and after the last number.
  void sort();

  std::uint64_t count() const { return count_; }  // finite numbers
  std::uint64_t zeros() const { return zeros_; }
  std::uint64_t nan() const { return nan_; }
  std::uint64_t infinite() const { return infinite_; }
  double largest() const { return largest_; }
  double squares() const { return squares_; }
  // The least magnitude that this part of them does not exceed; of bins, their upper ends.
  double at_part(double part) const;
  // Within a bin as if they were spread evenly.
  Sums up_to(double limit) const;

 private:
  void count(std::span<const double> numbers);
  void count_in_bins(std::span<const double> numbers);

  std::vector<double> few_;          // magnitudes, while there are no bins
  std::vector<std::uint64_t> bins_;  // by the upper bits of a float
  std::vector<Sums> sums_;           // up to and with each of `few_`; or each bin from `first_` on
  std::size_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t zeros_ = 0;
  std::uint64_t nan_ = 0;
  std::uint64_t infinite_ = 0;
  double largest_ = 0;
  double squares_ = 0;
};

// The scale that leaves the least sum of squares, by magnitudes alone.

// The numbers that a type's codes stand for, without signs: those of positive ones.
class CodeGrid {
 public:
  explicit CodeGrid(DType dtype);

  double largest() const { return values_.back(); }

  // Codes with this scale: the error's sum of squares, how much of it is of numbers beyond the last
  // code, and the scale that would be best for numbers of the same codes.
  struct Trial {
    double squares = 0;
    double beyond = 0;
    double better = 0;
  };
  Trial attempt(const Magnitudes& magnitudes, double scale) const;

 private:
  std::vector<double> values_;  // ascending, from 0 on
};

// `magnitudes` are not all zero.
double least_squares_scale(const Magnitudes& magnitudes, const CodeGrid& grid);

// The ways to a scale.

struct ScaleMethod {
  Named<FitScaleMethod> name;
  // The scale of magnitudes that are not all zero, as a float32. Nothing: it would be zero.
  std::optional<double> (*find)(const Magnitudes& magnitudes, const CodeGrid& grid, DType dtype,
                                double part);
  double part = 0;  // of the numbers, within the range of codes
};

std::span<const ScaleMethod> scale_methods();

}  // namespace btf
