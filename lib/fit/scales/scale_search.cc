#include "fit/scales/scale_search.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "btf/value.h"

namespace btf {
namespace {

// Scales that are tried: from a little above that of the maximum down to 1 / 4096 of it, then
// around the best of these. Where few numbers are large there are several that are nearly as good,
// and for small floats one in each octave.
constexpr int kOctavesAbove = 1;
constexpr int kOctavesBelow = 12;
constexpr int kCoarse = 16;  // an octave
constexpr int kFine = 128;
constexpr std::size_t kAround = 3;
constexpr int kSteps = 4;  // towards the scale that the codes ask for

}  // namespace

CodeGrid::CodeGrid(DType dtype) {
  for (std::uint64_t code = 0; code < std::uint64_t{1} << info(dtype).bits; ++code) {
    const double value = value_double(dtype, code);
    if (std::isfinite(value) && value >= 0) values_.push_back(std::abs(value));
  }
  std::ranges::sort(values_);
  const auto again = std::ranges::unique(values_);
  values_.erase(again.begin(), again.end());
}

namespace {

// The sum of squared errors of the numbers of `sums`, all read as one.
double squares_as(const Magnitudes::Sums& sums, double read) {
  return sums.squares - 2 * read * sums.sum + read * read * sums.count;
}

Magnitudes::Sums between(const Magnitudes::Sums& begin, const Magnitudes::Sums& end) {
  return {end.count - begin.count, end.sum - begin.sum, end.squares - begin.squares};
}

}  // namespace

CodeGrid::Trial CodeGrid::attempt(const Magnitudes& magnitudes, double scale) const {
  Trial trial;
  double fitted = 0;   // sum of value * number
  double weights = 0;  // sum of value^2
  Magnitudes::Sums before;
  for (std::size_t code = 0; code < values_.size(); ++code) {
    const double value = values_[code];
    const bool last = code + 1 == values_.size();
    const Magnitudes::Sums end =
        magnitudes.up_to(last ? HUGE_VAL : scale * (value + values_[code + 1]) / 2);
    const Magnitudes::Sums own = between(before, end);
    trial.squares += squares_as(own, scale * value);
    fitted += value * own.sum;
    weights += value * value * own.count;
    if (end.count == static_cast<double>(magnitudes.count())) break;
    before = end;
  }
  const double last = scale * values_.back();
  if (last < magnitudes.largest())
    trial.beyond = squares_as(between(magnitudes.up_to(last), magnitudes.up_to(HUGE_VAL)), last);
  trial.better = weights > 0 ? fitted / weights : scale;
  return trial;
}

double least_squares_scale(const Magnitudes& magnitudes, const CodeGrid& grid) {
  const double top = magnitudes.largest() / grid.largest();
  struct Tried {
    double squares = 0;
    double scale = 0;
  };
  Tried best{grid.attempt(magnitudes, top).squares, top};
  const auto attempt = [&](double scale) {
    const CodeGrid::Trial trial = grid.attempt(magnitudes, scale);
    if (trial.squares < best.squares) best = {trial.squares, scale};
    return trial;
  };
  std::vector<Tried> coarse;
  for (int step = -kOctavesAbove * kCoarse; step <= kOctavesBelow * kCoarse; ++step) {
    const double scale = top * std::exp2(-static_cast<double>(step) / kCoarse);
    const CodeGrid::Trial trial = attempt(scale);
    coarse.push_back({trial.squares, scale});
    if (trial.beyond > best.squares) break;  // and more of it by smaller scales
  }
  const auto around = std::min(kAround, coarse.size());
  std::ranges::partial_sort(coarse, coarse.begin() + static_cast<std::ptrdiff_t>(around), {},
                            &Tried::squares);
  for (const Tried& near : std::span(coarse).first(around))
    for (int step = -kFine / kCoarse; step <= kFine / kCoarse; ++step)
      attempt(near.scale * std::exp2(static_cast<double>(step) / kFine));
  double next = best.scale;
  for (int step = 0; step < kSteps; ++step) next = attempt(next).better;
  return best.scale;
}

}  // namespace btf
