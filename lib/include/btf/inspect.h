// Statistics of the elements of a tensor: of the whole tensor, by channel, and their distribution.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"

namespace btf {

// The value of an element, and the index of the first element with that value in row-major order.
struct Extreme {
  std::uint64_t code = 0;
  Dims index;
};

// Over all logical elements; those that a COO tensor does not store count as zeros.
struct TensorStats {
  std::uint64_t elements = 0;
  std::uint64_t finite = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zeros = 0;       // of either sign
  std::uint64_t subnormals = 0;  // of the tensor's dtype
  // Over the finite elements; unset if there are none.
  std::optional<Extreme> min;
  std::optional<Extreme> max;
  std::optional<double> mean;
  std::optional<double> std;  // of the population, as numpy.std by default
  std::optional<Dims> first_nan;
};

// Reads the whole tensor, in bounded memory.
BTF_API Result<TensorStats> stats(const TensorFile& file, const TensorInfo& tensor,
                                  const Execution& execution = {});

inline constexpr std::uint64_t kMaxChannels = 65536;

// Statistics of the elements with the same index in one dim.
struct ChannelStats {
  std::uint64_t elements = 0;
  std::uint64_t finite = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zeros = 0;        // of either sign
  std::uint64_t at_least = 0;     // elements equal to the tensor's minimum
  std::uint64_t at_greatest = 0;  // elements equal to the tensor's maximum
  // Over the finite elements; unset if there are none. `min` and `max` are the elements' bits.
  std::optional<std::uint64_t> min;
  std::optional<std::uint64_t> max;
  std::optional<double> mean;
  std::optional<double> std;
};

enum class ChannelState : std::uint8_t {
  alive,
  zero,       // two or more elements, all 0
  constant,   // two or more elements, all the same number
  saturated,  // see kSaturatedShare
};

// "all 0", "constant", "saturated"; empty for ChannelState::alive.
BTF_API std::string_view channel_state_name(ChannelState state);

// A channel is saturated if at least this fraction of its elements, and at least two, are at the
// tensor's minimum or maximum: the limit of the dtype, or a value that the tensor seems to have
// been clipped to. 0 does not count as a limit, since ReLU leaves many zeros, nor do the values of
// bool.
inline constexpr double kSaturatedShare = 0.1;

struct Channels {
  std::uint32_t axis = 0;
  std::vector<ChannelStats> channels;
  std::vector<ChannelState> states;  // one for each channel
  bool least_of_dtype = false;       // the tensor's minimum is the smallest number of its dtype
  bool greatest_of_dtype = false;    // the tensor's maximum is the largest number of its dtype
};

// Finds the dim that `axis` means: a number (negative ones count from the last dim), or a letter of
// [C], [N, C], [C, H, W], [N, C, H, W] or [N, C, D, H, W], depending on the rank. Layouts that
// define the position of C (kDHWC: the fourth last dim) have it there for any rank.
BTF_API Result<std::uint32_t> find_axis(const TensorInfo& tensor, std::string_view axis);

// `stats` must be those of the same tensor. Reads the tensor twice, in bounded memory plus about
// 150 bytes per channel and thread. An error for more than kMaxChannels channels. The result does
// not depend on the number of threads or the memory.
BTF_API Result<Channels> channel_stats(const TensorFile& file, const TensorInfo& tensor,
                                       const TensorStats& stats, std::uint32_t axis,
                                       const Execution& execution = {});

inline constexpr std::uint32_t kMaxBins = 4096;
inline constexpr std::size_t kMaxPercentiles = 256;

struct DistributionOptions {
  std::vector<double> percentiles{};  // each from 0 to 100; at most kMaxPercentiles
  std::uint32_t bins = 0;             // of the histogram, at most kMaxBins; 0 for no histogram
};

// Same bins as numpy.histogram: of equal width from the minimum to the maximum. A number at an edge
// is in the bin above it, and the maximum in the last bin. If all elements are one number x, the
// range is x - 0.5 to x + 0.5.
struct Histogram {
  std::vector<double> edges;  // one more than there are bins
  std::vector<std::uint64_t> counts;
};

// Exact percentiles and histogram of the finite elements.
struct Distribution {
  // In the order of the options. Percentile p is the element at (n - 1) * p / 100 of the n sorted
  // elements, interpolated linearly (the default of numpy.percentile). Empty if no element is
  // finite.
  std::vector<double> percentiles;
  std::optional<Histogram> histogram;  // unset if it was not requested or no element is finite
};

// `stats` must be those of the same tensor. Reads the tensor once, and once or twice more for each
// 16 bits of its dtype beyond 16, within the execution's memory. The result does not depend on the
// number of threads or the memory.
BTF_API Result<Distribution> distribution(const TensorFile& file, const TensorInfo& tensor,
                                          const TensorStats& stats,
                                          const DistributionOptions& options,
                                          const Execution& execution = {});

}  // namespace btf
