// When are two tensors the same? Criteria for each pair of elements; gates are in figures.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/diff/figures.h"
#include "btf/dtype.h"

namespace btf {

// Two elements are accepted when both are the same number or the same Inf, when both are NaN and
// equal_nan is set, or when both are finite and every criterion given here holds. None given: only
// the same number is accepted.
struct Tolerance {
  // |actual - golden| <= atol + rtol * |golden|, NumPy's formula. One given: the other is 0.
  std::optional<double> rtol{};
  std::optional<double> atol{};
  // The most representable steps of the coarser dtype apart (docs/diff.md, section 3).
  std::optional<std::uint64_t> ulp{};
  bool close = false;  // rtol and atol that are not given come from the coarser grid
  // With close, for two floats: numbers of this dtype, whatever their storage.
  std::optional<DType> close_as{};
  // The form of `close` where steps differ from element to element: half a step is accepted there
  // too (docs/dtypes.md, section 6).
  bool half_step = false;
  bool equal_nan = true;

  bool given() const { return rtol || atol || ulp || close; }
  // Adds the limits of `more`. False: both have one of the limits.
  bool add(const Tolerance& more) {
    const auto take = [](const auto& value, auto& target) {
      if (!value) return true;
      if (target) return false;
      target = value;
      return true;
    };
    close = close || more.close;
    if (more.close_as) close_as = more.close_as;
    return take(more.rtol, rtol) && take(more.atol, atol) && take(more.ulp, ulp);
  }
  // Is the error of a pair bounded, by rtol and atol or, where nothing is given, by 0?
  bool by_error() const { return rtol || atol || !ulp; }
  // Does it judge every pair of finite numbers as the other does?
  bool same_limits(const Tolerance& other) const {
    return by_error() == other.by_error() && rtol.value_or(0) == other.rtol.value_or(0) &&
           atol.value_or(0) == other.atol.value_or(0) && ulp == other.ulp &&
           half_step == other.half_step;
  }
};

// The result of one criterion. `name` is that of its option ("cosine"), or "elements" (the
// tolerance), "nonfinite" (NaN and Inf agree) or "strict".
struct CriterionResult {
  std::string name;
  std::string text;               // "cosine 0.97 is below 0.99"
  std::optional<double> limit{};  // as given
  std::optional<double> value{};  // as found; nothing where there is no number
  bool passed = true;
};

}  // namespace btf
