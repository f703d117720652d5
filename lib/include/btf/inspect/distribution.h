// How the numbers of a tensor are distributed: percentiles and a histogram. Both are exact.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/stats.h"

namespace btf {

inline constexpr std::uint32_t kMaxBins = 4096;
inline constexpr std::size_t kMaxPercentiles = 256;

struct DistributionOptions {
  std::vector<double> percentiles{};  // of 0 to 100, at most kMaxPercentiles
  std::uint32_t bins = 0;             // of the histogram, at most kMaxBins; 0: none
};

// NumPy's: bins of equal width from the least to the greatest number; a number that is an edge is
// in the bin above it, the greatest in the last. Where all are one number x, from x - 0.5 to x +
// 0.5.
struct Histogram {
  std::vector<double> edges;  // one more than bins
  std::vector<std::uint64_t> counts;
};

// Over the finite elements, as mean and std are.
struct Distribution {
  // In the order of the options. The p-th is number (n - 1) * p / 100 of the n sorted elements,
  // counted from 0, and between two of them on the straight line (numpy.percentile's default).
  // Empty where no element is finite.
  std::vector<double> percentiles;
  std::optional<Histogram> histogram;  // nothing where no element is finite, or none is asked for
};

// `stats` are those of the same tensor. Reads the tensor once, and where its dtype has more than 16
// bits once or twice more for each 16 bits; memory is bounded by the execution's. The result
// depends on neither threads nor memory.
BTF_API Result<Distribution> distribution(const TensorFile& file, const TensorInfo& tensor,
                                          const TensorStats& stats,
                                          const DistributionOptions& options,
                                          const Execution& execution = {});

}  // namespace btf
