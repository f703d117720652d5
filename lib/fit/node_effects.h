// What becomes of a node's result where an input is as a narrow device has it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "btf/error.h"
#include "fit/node_measure.h"
#include "network/operators/table.h"

namespace btf {

// The error of a result where an input is as a narrow device has it.

// A number without a pattern.
inline std::uint64_t mixed(std::uint64_t number) {
  std::uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15;
  mixed ^= mixed >> 29;
  mixed *= 0xbf58476d1ce4e5b9;
  return mixed >> 32;
}

// The number of one of `count` elements out of `all`, apart from one another by no divisor of the
// dims.
inline std::uint64_t picked(std::uint64_t which, std::uint64_t count, std::uint64_t all) {
  const std::uint64_t step = all / count;
  return which * step + mixed(which) % step;
}

// Plus or minus one, by the number of an element: errors have no pattern.
inline double sign_at(std::uint64_t number) { return (mixed(number) >> 8 & 1) != 0 ? 1 : -1; }

// Magnitudes above it are read as Inf. `infinite`: with the Inf that the value has from before.
inline double reading_limit(const ValueNoise& value, const NarrowType& type, bool infinite) {
  return infinite ? std::min(type.limit(), value.infinite_from) : type.limit();
}

// The numbers that a narrow device reads in place of those of a value.
class Reading {
 public:
  // `infinite`: as of reading_limit().
  Reading(const ValueNoise& value, const NarrowType& type, bool infinite)
      : value_(value), type_(type), limit_(reading_limit(value, type, infinite)) {}

  void apply(std::uint64_t first, std::span<const double> numbers, std::span<double> into) const {
    for (std::size_t i = 0; i < numbers.size(); ++i) into[i] = type_.read(numbers[i], limit_);
    if (!value_.by_luck) return;
    // Where all are zero there is nothing that the error is relative to.
    const double rms = value_.measure.rms();
    const double step = rms > 0 ? value_.noise / rms : 0;
    const double floor = rms > 0 ? 0 : value_.noise;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (std::isfinite(into[i]) && (into[i] != 0 || numbers[i] == 0))
        into[i] = numbers[i] + (step * std::abs(numbers[i]) + floor) * sign_at(first + i);
  }

 private:
  const ValueNoise& value_;
  const NarrowType& type_;
  double limit_;
};

// Does rounding change its numbers by more than a step?
inline bool is_lossy(const ValueNoise& value) {
  return value.measure.lost > 0 || value.measure.above > 0 || value.infinite_from < HUGE_VAL;
}

// Numbers with an error of half a step or less each, whatever the range of the type.
inline void nudge(std::uint64_t first, std::span<const double> numbers, double step,
                  std::span<double> into) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    into[i] = numbers[i] * (1 + step * sign_at(first + i));
}

// Results from inputs that are rounded against those from inputs as they are.
class Effect {
 public:
  // `input`: where it has an Inf of its own, a result beyond the limit says nothing. `weight`: for
  // how many such runs they stand.
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
    double errors = 0;   // squares
    double squares = 0;  // of results
    double total = 0;    // results
    double count = 0;    // of them, finite in both
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
  // Computed here a result is another than dumped by a float32's rounding.
  static constexpr double kBelow = 1 - 0x1p-10;
  double infinite_from_ = HUGE_VAL;
};

// Results computed twice, from a node's inputs as they are and as a narrow device reads them.

// For an operator whose results come from the numbers at their places (ErrorPropagation::places).
Status measure_places(NodeValues& values, const network::Operator& op, NodeMeasure& measure);

// For one whose results come from groups of numbers (ErrorPropagation::groups), such as Softmax.
Status measure_groups(NodeValues& values, const network::Operator& op, NodeMeasure& measure);

}  // namespace btf
