#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "btf/diff/figures.h"
#include "btf/diff/tensor_diff.h"

namespace btf {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr double kLargestLimit = std::numeric_limits<double>::max();

constexpr FigureInfo kFigures[] = {
    {"rmse", "RMSE", "root mean squared error", "", false, 0, kAny, true, &Gates::rmse,
     &Figures::rmse},
    {"cosine", "cosine", "cosine similarity", "", true, -1, 1, true, &Gates::cosine,
     &Figures::cosine},
    {"psnr", "PSNR", "PSNR", "dB", true, -kAny, kAny, true, &Gates::psnr, &Figures::psnr},
    {"snr", "SNR", "SNR", "dB", true, -kAny, kAny, true, &Gates::snr, &Figures::snr},
    {"mae", "MAE", "mean absolute error", "", false, 0, kAny, false, &Gates::mae, &Figures::mae},
    {"bias", "bias", "magnitude of mean(actual - golden)", "", false, -kAny, kAny, false,
     &Gates::bias, &Figures::bias},
    {"max-abs", "max abs", "largest absolute error", "", false, 0, kAny, false, &Gates::max_abs,
     nullptr},
};

constexpr auto kGates = [] {
  std::array<const FigureInfo*, std::size(kFigures)> gates{};
  std::size_t count = 0;
  for (const bool at_least : {true, false})
    for (const FigureInfo& row : kFigures)
      if (row.at_least == at_least) gates[count++] = &row;
  return gates;
}();

}  // namespace

std::span<const FigureInfo> figures() { return kFigures; }

std::span<const FigureInfo* const> figure_gates() { return kGates; }

double FigureInfo::least_limit() const { return at_least ? std::max(lowest, -kLargestLimit) : 0; }

double FigureInfo::most_limit() const {
  return at_least ? std::min(highest, kLargestLimit) : kLargestLimit;
}

std::optional<double> FigureInfo::judged(const TensorDiff& diff) const {
  if (value != nullptr && !diff.figures) return std::nullopt;
  const double found = value == nullptr ? diff.max_abs : *diff.figures.*value;
  if (std::isnan(found)) return std::nullopt;
  return at_least ? found : std::abs(found);
}

bool Gates::given() const {
  return max_mismatch || !quantiles.empty() || top_k ||
         std::ranges::any_of(kFigures,
                             [&](const FigureInfo& row) { return (this->*row.limit).has_value(); });
}

}  // namespace btf
