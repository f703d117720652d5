// Figures of a whole tensor, and the limits that they can be given. Both are rows of one table.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "btf/api.h"

namespace btf {

struct TensorDiff;

// The straight line that fits best: actual = gain * golden + offset.
struct BestFit {
  double gain = 1;
  double offset = 0;
  double residual = 0;  // rms of the residual
};

// Over all pairs of finite numbers. dB are +Inf where there is no error. NaN: not known, as where a
// saved report lacks the figure.
struct Figures {
  std::uint64_t pairs = 0;
  double rmse = 0;
  double cosine = 1;  // 0 where only one side is all zero
  double psnr = 0;    // 20 log10(max |golden| / rmse)
  double snr = 0;     // 10 log10(sum golden^2 / sum error^2)
  double mae = 0;     // mean |actual - golden|
  double bias = 0;    // mean(actual - golden); its gate is on the magnitude
  // Nothing: golden is constant and actual is not the same, or there is no pair.
  std::optional<BestFit> fit{};
};

// How many pairs may be refused.
struct MismatchLimit {
  double value = 0;
  bool percent = false;  // of the elements compared
};

// The q-quantile (NumPy's, linear) of the absolute errors is at most `most`.
struct QuantileGate {
  double q = 0;
  double most = 0;
};

// Limits on the tensor as a whole. A gate given without a tolerance stands for it: then NaN and Inf
// must still agree, but no pair of numbers is judged by itself.
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
  std::optional<std::uint64_t> top_k{};  // the k largest of each row of the last dim, in order

  BTF_API bool given() const;
};

// A figure with a limit. All code that judges, reads, writes or shows figures uses these rows.
struct FigureInfo {
  std::string_view name;     // of the criterion, and of the member in JSON: "rmse"
  std::string_view label;    // "RMSE"
  std::string_view meaning;  // "root mean squared error"
  std::string_view unit;     // "dB", or nothing
  bool at_least;             // else the magnitude is at most the limit
  double lowest;             // lower bound of the figure
  double highest;
  bool always_shown;  // in text; else where it has a limit
  std::optional<double> Gates::*limit;
  double Figures::*value;  // null: TensorDiff::max_abs, which needs no figures

  // Limits beyond these would mean nothing.
  BTF_API double least_limit() const;
  BTF_API double most_limit() const;
  // The value that the limit is for; nothing if it is not known.
  BTF_API std::optional<double> judged(const TensorDiff& diff) const;
};

// In the order in which they are shown.
BTF_API std::span<const FigureInfo> figures();

// In the order in which they are judged: first those with a limit from below.
BTF_API std::span<const FigureInfo* const> figure_gates();

}  // namespace btf
