// Which dim of a tensor its channels are.
#pragma once

#include <cstdint>
#include <optional>

#include "fit/rule/flow.h"
#include "network/network.h"

namespace btf {

// Below zero: from the last dim on, which is -1.
using ChannelAxis = std::optional<std::int64_t>;

// Where no operator says otherwise: the second dim.
inline constexpr std::int64_t kUsualChannels = 1;

// The axis of weights is that of the results of what multiplies by them; of others none is known.
// Activations have that of what reads or makes them.
ChannelAxis channel_axis(const network::Network& network, const Flow& flow, std::uint32_t value);

// The dim of a tensor of this rank. Nothing: it has no channels.
std::optional<std::uint32_t> channel_dim(const ChannelAxis& axis, std::size_t rank);

}  // namespace btf
