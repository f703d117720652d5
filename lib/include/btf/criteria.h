// When two tensors count as the same: the tolerance for each pair of elements, and limits on
// figures of the tensor as a whole.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

struct TensorDiff;

// The straight line that fits best: actual = gain * golden + offset.
struct BestFit {
  double gain = 1;
  double offset = 0;
  double residual = 0;  // rms of the residual
};

// Figures of a whole tensor, over all pairs of finite numbers. Figures in dB are +Inf if there is
// no error. A figure is NaN if it is not known, as when a saved report lacks it.
struct Figures {
  std::uint64_t pairs = 0;
  double rmse = 0;
  double cosine = 1;  // 0 where only one side is all zero
  double psnr = 0;    // 20 log10(max |golden| / rmse)
  double snr = 0;     // 10 log10(sum golden^2 / sum error^2)
  double mae = 0;     // mean |actual - golden|
  double bias = 0;    // mean(actual - golden); its gate is on the magnitude
  // Unset if there is no pair, or if golden is constant and actual differs.
  std::optional<BestFit> fit{};
};

// How many pairs of elements may be refused.
struct MismatchLimit {
  double value = 0;
  bool percent = false;  // of the elements compared
};

// The q-quantile (NumPy's, linear) of the absolute errors is at most `most`.
struct QuantileGate {
  double q = 0;
  double most = 0;
};

// Limits on the tensor as a whole. If a gate is given without a tolerance, it takes the tolerance's
// place: NaN and Inf must still agree, but no pair of numbers is judged by itself. Unset members
// are not checked.
struct Gates {
  std::optional<MismatchLimit> max_mismatch{};
  std::optional<double> cosine{};   // at least
  std::optional<double> psnr{};     // at least, dB
  std::optional<double> snr{};      // at least, dB
  std::optional<double> rmse{};     // at most
  std::optional<double> mae{};      // at most
  std::optional<double> bias{};     // at most
  std::optional<double> max_abs{};  // at most
  std::vector<QuantileGate> quantiles{};
  // The k largest elements of each row of the last dim must be the same ones in the same order.
  std::optional<std::uint64_t> top_k{};

  BTF_API bool given() const;
};

// A figure that can be given a limit. All code that judges, reads, writes or shows figures uses
// these rows.
struct FigureInfo {
  std::string_view name;     // of the criterion, and of the member in JSON: "rmse"
  std::string_view label;    // "RMSE"
  std::string_view meaning;  // "root mean squared error"
  std::string_view unit;     // "dB", or empty
  bool at_least;             // true: the limit is the least value; false: the largest magnitude
  double lowest;             // lower bound of the figure
  double highest;
  bool always_shown;  // in text; else where it has a limit
  std::optional<double> Gates::* limit;
  double Figures::* value;  // null: TensorDiff::max_abs, which needs no figures

  // The range of limits that can decide anything.
  BTF_API double least_limit() const;
  BTF_API double most_limit() const;
  // The value that the limit is held against; unset if it is not known.
  BTF_API std::optional<double> judged(const TensorDiff& diff) const;
};

// All rows, in the order in which reports show them.
BTF_API std::span<const FigureInfo> figures();

// All rows, in the order in which they are judged: first those with a lower limit.
BTF_API std::span<const FigureInfo* const> figure_gates();

// Two elements are accepted if both are the same number or the same Inf, if both are NaN and
// `equal_nan` is set, or if both are finite and every criterion given here holds. Without any
// criterion only equal numbers are accepted.
struct Tolerance {
  // |actual - golden| <= atol + rtol * |golden|, as in numpy.isclose. If only one of the two is
  // given, the other is 0.
  std::optional<double> rtol{};
  std::optional<double> atol{};
  // Largest distance in representable steps of the coarser of the two dtypes (docs/diff.md,
  // section 3).
  std::optional<std::uint64_t> ulp{};
  // Takes the rtol and atol that are not given from the precision of the coarser dtype: the ones to
  // start with if you have no limits of your own.
  bool close = false;
  // With `close`, for two floats: the precision to assume, whatever dtype stores the numbers. Set
  // it if the device computed in float16 and dumped float32.
  std::optional<DType> close_as{};
  // With `close`, where the steps between representable numbers differ from element to element:
  // accepts half a step too (docs/dtypes.md, section 6).
  bool half_step = false;
  // Default: NaN equals NaN. NaN against a number is a mismatch either way.
  bool equal_nan = true;

  bool given() const { return rtol || atol || ulp || close; }
  // Adds the limits of `more`. Returns false if both give the same limit.
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
  // Returns true if the error of a pair is limited: by rtol and atol or, if nothing is given, by 0.
  bool by_error() const { return rtol || atol || !ulp; }
  // Returns true if both judge every pair of finite numbers alike.
  bool same_limits(const Tolerance& other) const {
    return by_error() == other.by_error() && rtol.value_or(0) == other.rtol.value_or(0) &&
           atol.value_or(0) == other.atol.value_or(0) && ulp == other.ulp &&
           half_step == other.half_step;
  }
};

// The result of one criterion. `name` is the name of its option ("cosine"), or "elements" (the
// tolerance), "nonfinite" (NaN and Inf agree) or "strict".
struct CriterionResult {
  std::string name;
  std::string text;  // "cosine 0.97 is below 0.99"
  std::optional<double> limit{};
  std::optional<double> value{};  // unset if the criterion has no number
  bool passed = true;
};

}  // namespace btf
