// Statistics of a tensor by channel: of the elements that have the same index in one dim.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/stats.h"

namespace btf {

inline constexpr std::uint64_t kMaxChannels = 65536;

struct ChannelStats {
  std::uint64_t elements = 0;
  std::uint64_t finite = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zeros = 0;        // of either sign
  std::uint64_t at_least = 0;     // are the least number of the tensor
  std::uint64_t at_greatest = 0;  // are the greatest one
  // Over the finite elements; nothing if there are none. Codes.
  std::optional<std::uint64_t> min;
  std::optional<std::uint64_t> max;
  std::optional<double> mean;
  std::optional<double> std;
};

enum class ChannelState : std::uint8_t {
  alive,
  zero,       // all elements are 0, two and more
  constant,   // all elements are the same number, likewise
  saturated,  // see kSaturatedShare
};

// "all 0", "constant", "saturated"; "" of what is alive.
BTF_API std::string_view channel_state_name(ChannelState state);

// A channel is saturated that has at least this share of its elements, and two of them, at a limit:
// the least or the greatest number of the tensor. That is the dtype's where the tensor reaches it,
// else what it seems to have been clipped to. 0 is none (it is what ReLU leaves), nor are the
// limits of bool.
inline constexpr double kSaturatedShare = 0.1;

struct Channels {
  std::uint32_t axis = 0;
  std::vector<ChannelStats> channels;
  std::vector<ChannelState> states;  // as many
  // Are the tensor's least and greatest number those of its dtype?
  bool least_of_dtype = false;
  bool greatest_of_dtype = false;
};

// The dim that `axis` means: a number (negative ones count from the last), or a letter of
// [C], [N, C], [C, H, W], [N, C, H, W], [N, C, D, H, W], by the number of dims. Layouts that name
// the channel's place (kDHWC: the fourth last) have it there, whatever stands before it.
BTF_API Result<std::uint32_t> find_axis(const TensorInfo& tensor, std::string_view axis);

// `stats` are those of the same tensor. Reads the tensor twice, in bounded memory beside some 150
// bytes a channel and thread. At most kMaxChannels. Neither threads nor memory change the result.
BTF_API Result<Channels> channel_stats(const TensorFile& file, const TensorInfo& tensor,
                                       const TensorStats& stats, std::uint32_t axis,
                                       const Execution& execution = {});

}  // namespace btf
