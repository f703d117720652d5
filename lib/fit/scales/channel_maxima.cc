#include "fit/scales/channel_maxima.h"

#include <algorithm>

#include "kernels/scale/magnitude_runs.h"

namespace btf {
namespace {

constexpr std::uint64_t kMostChannels = 1U << 16;
// A channel with fewer numbers has a scale that tells the numbers, not the channel.
constexpr std::uint64_t kLeastNumbers = 8;

}  // namespace

OnAxis ChannelMaxima::place(const Dims& dims, std::uint64_t first) const {
  std::uint64_t inner = 1;
  for (std::size_t d = axis_ + 1; d < dims.size(); ++d) inner *= dims[d];
  return {.first = first, .inner = inner, .indices = maxima_.size()};
}

void ChannelMaxima::begin(const Dims& dims, const ChannelAxis& axis) {
  const auto dim = channel_dim(axis, dims.size());
  std::uint64_t elements = 1;
  for (const std::uint64_t size : dims) elements *= size;
  const std::uint64_t channels = dim ? dims[*dim] : 0;
  const bool none = channels < 2 || channels > kMostChannels || elements / channels < kLeastNumbers;
  mixed_ |= none || (begun_ && (*dim != axis_ || channels != maxima_.size()));
  begun_ = true;
  if (mixed_) return;
  axis_ = *dim;
  maxima_.resize(channels);
  now_ = place(dims, 0);
}

void ChannelMaxima::take(std::uint64_t first, std::span<const double> numbers) {
  if (mixed_) return;
  now_.first = first;
  by_indices(
      numbers.data(), numbers.size(), now_,
      [&](std::uint64_t channel, const double* some, std::uint64_t count) {
        keep_largest_magnitude(some, count, maxima_[channel]);
      },
      [&](std::uint64_t channel, const double* some, std::uint64_t count) {
        keep_largest_magnitudes(some, count, &maxima_[channel]);
      });
}

std::uint64_t ChannelMaxima::highest() const {
  return static_cast<std::uint64_t>(std::ranges::max_element(maxima_) - maxima_.begin());
}

double ChannelMaxima::largest_but(std::uint64_t channel) const {
  double largest = 0;
  for (std::size_t i = 0; i < maxima_.size(); ++i)
    if (i != channel) largest = std::max(largest, maxima_[i]);
  return largest;
}

double ChannelMaxima::median() const {
  std::vector<double> sorted = maxima_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::ranges::nth_element(sorted, middle);
  return *middle;
}

}  // namespace btf
