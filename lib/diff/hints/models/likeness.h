// How alike two runs of numbers are where noise leaves no two of them equal: their correlation, what
// is left of the one without the other, and how many of them are independent of each other.
#pragma once

#include <cstdint>
#include <span>

#include "diff/hints/evidence/inquiry.h"

namespace btf::hints {

// What numbers are measured by, so that their powers neither overflow nor vanish.
struct Yardstick {
  double centre = 0;
  double unit = 1;
};

// Of the finite numbers of one side of these points; unit 0: they are all equal, or too few.
Yardstick yardstick_of(std::span<const Point> points, bool of_golden);

// actual = factor x golden + offset
struct FittedLine {
  double factor = 1;
  double offset = 0;
};

class Likeness {
 public:
  explicit Likeness(const Yardstick& yardstick) : yardstick_(yardstick) {}

  void add_run(const double* actual, const double* golden, std::uint64_t count);
  void add(const Likeness& other);

  std::uint64_t pairs() const { return pairs_; }    // of finite numbers
  std::uint64_t unlike() const { return unlike_; }  // one is not finite, and the other not the same
  double correlation() const;                       // NaN where a side is constant
  double error() const;                             // root mean square of actual - golden
  double deviation(bool of_golden) const;
  FittedLine line() const;  // that leaves the least
  // How often as heavy as a normal distribution's the tails are; at least 1.
  double tails(bool of_golden) const;

 private:
  struct Sums {
    double first = 0;
    double second = 0;
    double fourth = 0;
  };
  const Sums& sums(bool of_golden) const { return of_golden ? golden_ : actual_; }
  double variance(bool of_golden) const;  // in units
  double covariance() const;              // likewise

  Yardstick yardstick_;
  std::uint64_t pairs_ = 0;
  std::uint64_t unlike_ = 0;
  Sums actual_;
  Sums golden_;
  double products_ = 0;
  double errors_ = 0;
};

// All pairs of two sides of the same dims.
Result<Likeness> likeness_of(const DiffSide& actual, const DiffSide& golden,
                             const Execution& execution, const Yardstick& yardstick);
// Of the sides as they stand. Dense sides.
Result<Likeness> likeness_as_is(const Inquiry& inquiry, const Yardstick& yardstick);

// How many numbers of a dense side are independent of each other, by how alike neighbours are along
// each of its dims: a smooth image has few.
Result<double> independent_numbers(Lookup& side, const Yardstick& yardstick);

}  // namespace btf::hints
