// The error of a node's result if an input has the numbers that a narrow device reads.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

#include "btf/error.h"
#include "fit/node_measure.h"
#include "network/operators/table.h"

namespace btf {

// A hash of a number.
inline std::uint64_t mix_bits(std::uint64_t number) {
  std::uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9;
  return mixed >> 32;
}

// The index of the element number `which` of a sample of `count` out of `all`: evenly spread, but
// at distances that are no divisors of the dims.
inline std::uint64_t sample_index(std::uint64_t which, std::uint64_t count, std::uint64_t all) {
  const std::uint64_t step = all / count;
  return which * step + mix_bits(which) % step;
}

// A pseudo-random sign for an element, since rounding errors have no pattern.
inline double sign_at(std::uint64_t number) { return (mix_bits(number) >> 8 & 1) != 0 ? 1 : -1; }

// Magnitudes above the limit are read as Inf. `infinite`: including those that are Inf because the
// value's own inputs overflow.
inline double reading_limit(const ValueNoise& value, const NarrowType& type, bool infinite) {
  return infinite ? std::min(type.limit(), value.infinite_from) : type.limit();
}

// The numbers that a narrow device reads in place of those of a value.
class Reading {
 public:
  // `infinite`: see reading_limit().
  Reading(const ValueNoise& value, const NarrowType& type, bool infinite)
      : value_(value), rounding_(type.rounding()) {
    rounding_.limit = reading_limit(value, type, infinite);
  }

  void apply(std::uint64_t first, std::span<const double> numbers, std::span<double> into) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) into[i] = read(numbers[i]);
    if (!value_.exact_by_chance) return;
    // If all numbers are zero, the error is absolute.
    const double rms = value_.measure.rms();
    const double step = rms > 0 ? value_.noise / rms : 0;
    const double floor = rms > 0 ? 0 : value_.noise;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (std::isfinite(into[i]) && (into[i] != 0 || numbers[i] == 0))
        into[i] = numbers[i] + (step * std::abs(numbers[i]) + floor) * sign_at(first + i);
  }

  double one(std::uint64_t number, double x) const {
    double read = 0;
    apply(number, std::span(&x, 1), std::span(&read, 1));
    return read;
  }

 private:
  // Without branches, since whole tensors are read. The limit is within the type's range.
  double read(double x) const {
    constexpr auto kExponent = std::bit_cast<std::uint64_t>(HUGE_VAL);  // the mask of its bits
    const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & kExponent);
    const double large = std::max(power, rounding_.least) * rounding_.factor;
    const double rounded = (x + large) - large;
    return std::copysign(std::abs(x) > rounding_.limit ? HUGE_VAL : rounded, x);
  }

  const ValueNoise& value_;
  RoundingTo rounding_;
};

// Returns true if rounding changes some of the numbers by more than a step.
inline bool is_lossy(const ValueNoise& value) {
  return value.measure.lost > 0 || value.measure.above > 0 || value.infinite_from < HUGE_VAL;
}

// Adds a relative error of `step` to each number, whatever the range of the type.
inline void nudge(std::uint64_t first, std::span<const double> numbers, double step,
                  std::span<double> into) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    into[i] = numbers[i] * (1 + step * sign_at(first + i));
}

// Compares results of rounded inputs with results of exact inputs.
class Effect {
 public:
  // `input`: an Inf in it explains a result beyond the limit, which is then not counted. `weight`:
  // the number of runs that this one represents.
  void take(std::span<const double> exact, std::span<const double> narrow, double limit,
            std::span<const double> input, double weight) {
    Sums run;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      const bool beyond = !(std::abs(exact[i]) <= limit);
      if (beyond && (input.empty() || !std::isfinite(exact[i]) || !std::isfinite(input[i])))
        continue;
      run.squares += exact[i] * exact[i];
      ++run.total;
      if (!std::isfinite(narrow[i])) {
        ++run.nonfinite;
        if (std::isnan(narrow[i]))
          ++run.nan;
        else
          infinite_from_ = std::min(infinite_from_, kBelow * std::abs(exact[i]));
        continue;
      }
      const double error = narrow[i] - exact[i];
      run.errors += error * error;
      run.zeroed += narrow[i] == 0 && exact[i] != 0 ? 1 : 0;
      ++run.count;
    }
    all_.add(run, weight);
  }

  void write(InputEffect& effect) const {
    effect.nonfinite = rounded(all_.nonfinite);
    effect.nan = rounded(all_.nan);
    effect.infinite_from = infinite_from_;
    effect.zeroed = rounded(all_.zeroed);
    if (all_.total > 0) effect.rms = std::sqrt(all_.squares / all_.total);
    if (all_.count == 0) return;
    effect.error = error();
    if (effect.noise > 0) effect.gain = effect.error / effect.noise;
  }

  double error() const { return all_.count == 0 ? 0 : std::sqrt(all_.errors / all_.count); }

 private:
  struct Sums {
    double errors = 0;   // sum of squares
    double squares = 0;  // of the exact results
    double total = 0;    // number of results
    double count = 0;    // number of results that are finite in both
    double nonfinite = 0;
    double nan = 0;
    double zeroed = 0;

    void add(const Sums& run, double weight) {
      errors += weight * run.errors;
      squares += weight * run.squares;
      total += weight * run.total;
      count += weight * run.count;
      nonfinite += weight * run.nonfinite;
      nan += weight * run.nan;
      zeroed += weight * run.zeroed;
    }
  };

  static std::uint64_t rounded(double count) { return static_cast<std::uint64_t>(count + 0.5); }

  Sums all_;
  // A result that is computed here differs from the dumped one by a float32's rounding.
  static constexpr double kBelow = 1 - 0x1p-10;
  double infinite_from_ = HUGE_VAL;
};

// These compute results twice, from a node's inputs as they are and as a narrow device reads them:
// for ErrorPropagation::places, elementwise operators, and for ErrorPropagation::groups, such as
// Softmax.
Status measure_places(NodeValues& values, const network::Operator& op, NodeMeasure& measure);
Status measure_groups(NodeValues& values, const network::Operator& op, NodeMeasure& measure);

}  // namespace btf
