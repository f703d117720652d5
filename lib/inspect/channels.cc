#include "btf/inspect/channels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "btf/try.h"
#include "btf/value.h"
#include "core/checked_math.h"
#include "core/numbers.h"
#include "inspect/channel_sums.h"
#include "inspect/code_order.h"
#include "inspect/element_passes.h"

namespace btf {
namespace {

// What stands where an axis has no letter.
constexpr char kNone = '-';

// A letter for each dim.
std::string letters_of(const TensorInfo& tensor) {
  const std::size_t rank = tensor.dims.size();
  const unsigned from_end = tensor.layout ? spec(*tensor.layout).vector_dim : 0;
  std::string_view last = rank >= 3 ? "NCHW" : "NC";
  if (from_end == 4 || (from_end == 0 && rank == 5)) last = "NCDHW";
  std::string letters(rank, kNone);
  if (rank == 1) return "C";
  // More dims than letters: nobody knows which is what, but where the layout says it.
  if (rank > last.size() && from_end == 0) return letters;
  for (std::size_t i = 0; i < std::min(rank, last.size()); ++i)
    letters[rank - 1 - i] = last[last.size() - 1 - i];
  if (rank > last.size()) letters[rank - last.size()] = kNone;
  return letters;
}

ChannelState state_of(const ChannelStats& channel, bool least_counts, bool greatest_counts) {
  if (channel.elements < 2) return ChannelState::alive;  // it has nothing to vary
  if (channel.zeros == channel.elements) return ChannelState::zero;
  if (channel.finite == channel.elements && channel.min == channel.max)
    return ChannelState::constant;
  const auto many = [&](std::uint64_t count) {
    return count >= 2 &&
           static_cast<double>(count) >= kSaturatedShare * static_cast<double>(channel.elements);
  };
  const bool saturated =
      (least_counts && many(channel.at_least)) || (greatest_counts && many(channel.at_greatest));
  return saturated ? ChannelState::saturated : ChannelState::alive;
}

void judge(Channels& all, DType dtype, const TensorStats& stats) {
  // Neither is a limit of anything that was computed.
  const auto counts = [&](const std::optional<Extreme>& extreme) {
    return extreme && info(dtype).kind != NumberKind::boolean &&
           value_double(dtype, extreme->code) != 0;
  };
  // Integers of 32 and 64 bits are indices and sums: what is largest is no limit but the dtype's.
  const bool any = info(dtype).floating() || info(dtype).bits <= 16;
  const bool least = counts(stats.min) && (any || all.least_of_dtype);
  const bool greatest = counts(stats.max) && (any || all.greatest_of_dtype);
  for (const ChannelStats& channel : all.channels)
    all.states.push_back(state_of(channel, least, greatest));
}

}  // namespace

std::string_view channel_state_name(ChannelState state) {
  constexpr std::array<Named<ChannelState>, 4> kNames{{{ChannelState::alive, ""},
                                                       {ChannelState::zero, "all 0"},
                                                       {ChannelState::constant, "constant"},
                                                       {ChannelState::saturated, "saturated"}}};
  return std::ranges::find(kNames, state, &Named<ChannelState>::value)->name;
}

Result<std::uint32_t> find_axis(const TensorInfo& tensor, std::string_view axis) {
  const std::size_t rank = tensor.dims.size();
  const std::string dims = std::to_string(rank) + (rank == 1 ? " dim" : " dims");
  if (axis.size() == 1 && std::isalpha(static_cast<unsigned char>(axis[0])) != 0) {
    const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(axis[0])));
    const auto at = letters_of(tensor).find(letter);
    if (at != std::string::npos) return static_cast<std::uint32_t>(at);
    if (std::string_view("NCDHW").find(letter) == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "no dim is called " + std::string(axis) + ": N, C, D, H, W are, and numbers");
    return fail(ErrorCode::invalid_argument, "none of its " + dims + " is known as " +
                                                 std::string(1, letter) + "; give its number");
  }
  const auto number = parse_number<std::int64_t>(axis);
  const auto at = number ? resolve_index(*number, rank) : std::nullopt;
  if (!number)
    return fail(ErrorCode::invalid_argument,
                "a dim is a number or one of N, C, D, H, W, not '" + std::string(axis) + "'");
  if (!at)
    return fail(ErrorCode::invalid_argument, "no dim " + std::string(axis) + ": it has " + dims);
  return static_cast<std::uint32_t>(*at);
}

Result<Channels> channel_stats(const TensorFile& file, const TensorInfo& tensor,
                               const TensorStats& stats, std::uint32_t axis,
                               const Execution& execution) {
  const auto refuse = [&](std::string why) {
    return std::unexpected(
        file.about(tensor.index, Error{ErrorCode::invalid_argument, std::move(why)}));
  };
  if (axis >= tensor.dims.size())
    return refuse("no dim " + std::to_string(axis) + ": it has " +
                  std::to_string(tensor.dims.size()));
  if (tensor.dims[axis] > kMostChannels)
    return refuse("dim " + std::to_string(axis) + " has " + std::to_string(tensor.dims[axis]) +
                  " channels; statistics by channel are of at most " +
                  std::to_string(kMostChannels));
  BTF_ASSIGN(const ElementPasses passes, ElementPasses::open(file, tensor, execution));
  ChannelPlace place{.channels = tensor.dims[axis], .inner = 1};
  for (std::size_t d = axis + 1; d < tensor.dims.size(); ++d) place.inner *= tensor.dims[d];
  Channels all;
  all.axis = axis;
  const CodeOrder order(*tensor.dtype);
  const OrdinalRange finite = order.finite();
  ChannelLimits limits{finite, finite};
  if (stats.finite > 0) {
    const auto same_as = [&](std::uint64_t code) {
      OrdinalRange range{order.ordinal(code), order.ordinal(code)};
      order.widen(range);
      return range;
    };
    limits = {same_as(stats.min->code), same_as(stats.max->code)};
    all.least_of_dtype = limits.least.least == finite.least;
    all.greatest_of_dtype = limits.greatest.greatest == finite.greatest;
  }
  all.channels.resize(tensor.dims[axis]);
  if (stats.elements > 0) {
    BTF_TRY(count_channels(passes, order, *tensor.dtype, place, limits, all.channels));
    BTF_TRY(sum_channels(passes, order, *tensor.dtype, place, all.channels));
  }
  judge(all, *tensor.dtype, stats);
  return all;
}

}  // namespace btf
