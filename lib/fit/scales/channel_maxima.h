// The largest magnitude of each channel of a tensor, and what stands out among them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "btf/layout.h"
#include "convert/quantize/scales.h"
#include "fit/scales/channel_axis.h"

namespace btf {

class ChannelMaxima {
 public:
  // Begins a dump's tensor, before its numbers. Dumps whose channels differ have none.
  void begin(const Dims& dims, const ChannelAxis& axis);
  // From the row-major number `first` on.
  void take(std::uint64_t first, std::span<const double> numbers);

  // Channels enough for it to be told whether scales of their own are worth it?
  bool known() const { return !mixed_ && maxima_.size() > 1; }
  std::uint32_t axis() const { return axis_; }
  std::uint64_t count() const { return maxima_.size(); }
  std::span<const double> maxima() const { return maxima_; }
  OnAxis place(const Dims& dims, std::uint64_t first) const;

  // The channel with the largest magnitude; the largest of the others.
  std::uint64_t highest() const;
  double largest_but(std::uint64_t channel) const;
  double median() const;

 private:
  std::vector<double> maxima_;
  std::uint32_t axis_ = 0;
  OnAxis now_{};
  bool begun_ = false;
  bool mixed_ = false;
};

}  // namespace btf
