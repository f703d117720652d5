// Counts and moments of channels. All sums are of integers, so that threads and the order of
// elements do not change them.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/error.h"
#include "btf/inspect/channels.h"
#include "inspect/code_order.h"
#include "inspect/element_passes.h"

namespace btf {

// The channel of an element by its row-major number: number / inner % channels.
struct ChannelPlace {
  std::uint64_t channels = 1;
  std::uint64_t inner = 1;
};

// Ordinals that stand for the least and the greatest number of the tensor. It has a finite one.
struct ChannelLimits {
  OrdinalRange least;
  OrdinalRange greatest;
};

// Everything but mean and std.
Status count_channels(const ElementPasses& passes, const CodeOrder& order, DType dtype,
                      ChannelPlace place, const ChannelLimits& limits,
                      std::vector<ChannelStats>& channels);

// Mean and std of channels whose other members are known. An element counts as its distance from
// the middle of its channel's range, rounded to 2^-46 of half that range (less only of more than
// 2^34 elements).
Status sum_channels(const ElementPasses& passes, const CodeOrder& order, DType dtype,
                    ChannelPlace place, std::vector<ChannelStats>& channels);

}  // namespace btf
