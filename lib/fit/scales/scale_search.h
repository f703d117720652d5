// The scale that leaves the least sum of squares, by magnitudes alone.
#pragma once

#include <vector>

#include "btf/dtype.h"
#include "fit/scales/magnitudes.h"

namespace btf {

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

}  // namespace btf
