// Statistics of each channel of a tensor.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/inspect.h"
#include "btf/try.h"
#include "core/errors.h"
#include "core/numbers.h"
#include "inspect/distribution.h"
#include "inspect/stats.h"
#include "kernels/number/widen.h"

namespace btf {
namespace {

// The channel of an element by its row-major number: number / inner % channels.
struct ChannelPlace {
  std::uint64_t channels = 1;
  std::uint64_t inner = 1;
};

// Ordinals of the least and greatest number of the tensor, which must have a finite one.
struct ChannelLimits {
  OrdinalRange least;
  OrdinalRange greatest;
};

__extension__ using Wide = __int128;
__extension__ using Squares128 = unsigned __int128;

constexpr int kMaxBits = 46;

bool in(const OrdinalRange& range, std::uint64_t ordinal) {
  return ordinal - range.least <= range.greatest - range.least;
}

// Calls run(channel, offset, count) for adjacent elements of one channel, from element `at` of a
// piece on.
template <typename Run>
void by_channel(const ElementPiece& piece, std::uint64_t at, std::uint64_t count,
                const ChannelPlace& place, const Run& run) {
  if (piece.numbers.each != nullptr) {
    for (std::uint64_t i = 0; i < count; ++i)
      run(piece.numbers[at + i] / place.inner % place.channels, i, 1);
    return;
  }
  const std::uint64_t first = piece.numbers[at];
  std::uint64_t channel = first / place.inner % place.channels;
  std::uint64_t left = place.inner - first % place.inner;
  for (std::uint64_t i = 0; i < count;) {
    const std::uint64_t some = std::min(left, count - i);
    run(channel, i, some);
    i += some;
    left = place.inner;
    if (++channel == place.channels) channel = 0;
  }
}

// The counts of one channel.
struct Counts {
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;
  std::uint64_t zeros = 0;
  std::uint64_t at_least = 0;
  std::uint64_t at_greatest = 0;
  OrdinalRange range{UINT64_MAX, 0};

  std::uint64_t finite() const { return elements - nan - positive_inf - negative_inf; }

  void add(const Counts& other) {
    elements += other.elements;
    nan += other.nan;
    positive_inf += other.positive_inf;
    negative_inf += other.negative_inf;
    zeros += other.zeros;
    at_least += other.at_least;
    at_greatest += other.at_greatest;
    range.least = std::min(range.least, other.range.least);
    range.greatest = std::max(range.greatest, other.range.greatest);
  }
};

class Counter {
 public:
  Counter(const CodeOrder& order, DType dtype, ChannelPlace place, const ChannelLimits& limits)
      : order_(order),
        widen_(widener<double>(dtype)),
        place_(place),
        limits_(limits),
        finite_(order.finite()) {
    if (const auto zero = order.zero()) zero_ = *zero;
  }

  void add(const ElementPiece& piece, std::vector<Counts>& counts) const {
    std::array<std::uint64_t, kStatsChunk> ordinals;
    for (std::uint64_t at = 0; at < piece.count; at += kStatsChunk) {
      const std::uint64_t some = std::min(kStatsChunk, piece.count - at);
      const std::byte* const codes = piece.codes + at * order_.code_bytes();
      order_.ordinals(codes, some, ordinals.data());
      by_channel(piece, at, some, place_,
                 [&](std::uint64_t channel, std::uint64_t offset, std::uint64_t count) {
                   add_run(codes + offset * order_.code_bytes(), ordinals.data() + offset, count,
                           counts[channel]);
                 });
    }
  }

  void add_zeros(std::uint64_t count, Counts& to) const {
    if (count == 0) return;
    const std::uint64_t code = 0;
    const std::uint64_t ordinal = order_.ordinal(code);
    Counts one;
    add_run(reinterpret_cast<const std::byte*>(&code), &ordinal, 1, one);
    one.elements *= count;
    one.zeros *= count;
    one.at_least *= count;
    one.at_greatest *= count;
    to.add(one);
  }

 private:
  void add_run(const std::byte* codes, const std::uint64_t* ordinals, std::uint64_t count,
               Counts& to) const {
    std::uint64_t least = to.range.least;
    std::uint64_t greatest = to.range.greatest;
    std::uint64_t zeros = 0;
    std::uint64_t at_least = 0;
    std::uint64_t at_greatest = 0;
    to.elements += count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t ordinal = ordinals[i];
      if (!in(finite_, ordinal)) [[unlikely]] {
        add_special(codes + i * order_.code_bytes(), to);
        continue;
      }
      least = std::min(least, ordinal);
      greatest = std::max(greatest, ordinal);
      zeros += in(zero_, ordinal) ? 1 : 0;
      at_least += in(limits_.least, ordinal) ? 1 : 0;
      at_greatest += in(limits_.greatest, ordinal) ? 1 : 0;
    }
    to.range = {least, greatest};
    to.zeros += zeros;
    to.at_least += at_least;
    to.at_greatest += at_greatest;
  }

  void add_special(const std::byte* code, Counts& to) const {
    double value = 0;
    widen_(code, 1, 1, &value);
    ++(std::isnan(value) ? to.nan : value > 0 ? to.positive_inf : to.negative_inf);
  }

  const CodeOrder& order_;
  WidenFn<double> widen_;
  ChannelPlace place_;
  ChannelLimits limits_;
  OrdinalRange finite_;
  OrdinalRange zero_{UINT64_MAX, UINT64_MAX};  // never occurs in a dtype without zero
};

// How the elements of a channel are converted to integers.
struct Scale {
  double centre = 0;
  // Two factors, since their product may overflow double; 0 if there is nothing to add up.
  std::array<double, 2> factors{};
  std::uint64_t middle = 0;  // ordinal, for integers of 64 bits
  int shift = 0;             // 2^shift is the unit
};

struct Sums {
  Wide sum = 0;
  Squares128 squares = 0;

  void add(std::int64_t q, std::uint64_t times = 1) {
    sum += Wide{q} * static_cast<Wide>(times);
    squares += static_cast<Squares128>(Wide{q} * q) * times;
  }
};

// So few bits that the squares of all elements can be added.
int bits_for(std::uint64_t elements) {
  return std::min(kMaxBits, (126 - static_cast<int>(std::bit_width(elements))) / 2);
}

Scale scale_of(const CodeOrder& order, bool doubles, const ChannelStats& channel) {
  Scale scale;
  if (channel.finite == 0) return scale;
  const std::uint64_t least = order.ordinal(*channel.min);
  const std::uint64_t greatest = order.ordinal(*channel.max);
  const int bits = bits_for(channel.elements);
  if (!doubles) {
    scale.middle = least + (greatest - least) / 2;
    scale.shift = std::max(0, static_cast<int>(std::bit_width((greatest - least) / 2 + 1)) - bits);
    return scale;
  }
  const auto low = static_cast<double>(order.value(least));
  const auto high = static_cast<double>(order.value(greatest));
  scale.centre = low / 2 + high / 2;
  const double half = std::max(high - scale.centre, scale.centre - low);
  if (half == 0) return scale;
  scale.shift = std::ilogb(half) + 1 - bits;
  const int part = -scale.shift / 2;
  scale.factors = {std::ldexp(1.0, part), std::ldexp(1.0, -scale.shift - part)};
  return scale;
}

class Summer {
 public:
  Summer(const CodeOrder& order, DType dtype, ChannelPlace place,
         const std::vector<ChannelStats>& channels)
      : order_(order), doubles_(fits_double(dtype)), widen_(widener<double>(dtype)), place_(place) {
    for (const ChannelStats& channel : channels)
      scales_.push_back(scale_of(order, doubles_, channel));
  }

  void add(const ElementPiece& piece, std::vector<Sums>& sums) const {
    std::array<double, kStatsChunk> values;
    std::array<std::uint64_t, kStatsChunk> ordinals;
    for (std::uint64_t at = 0; at < piece.count; at += kStatsChunk) {
      const std::uint64_t some = std::min(kStatsChunk, piece.count - at);
      const std::byte* const codes = piece.codes + at * order_.code_bytes();
      if (doubles_)
        widen_(codes, 1, some, values.data());
      else
        order_.ordinals(codes, some, ordinals.data());
      by_channel(piece, at, some, place_,
                 [&](std::uint64_t channel, std::uint64_t offset, std::uint64_t count) {
                   const Scale& scale = scales_[channel];
                   Sums& to = sums[channel];
                   if (doubles_)
                     add_values(values.data() + offset, count, scale, to);
                   else
                     for (std::uint64_t i = 0; i < count; ++i)
                       to.add(whole(ordinals[offset + i], scale));
                 });
    }
  }

  void add_zeros(std::uint64_t channel, std::uint64_t count, Sums& to) const {
    const std::uint64_t code = 0;
    const std::uint64_t ordinal = order_.ordinal(code);
    const Scale& scale = scales_[channel];
    to.add(
        doubles_ ? whole(static_cast<double>(order_.value(ordinal)), scale) : whole(ordinal, scale),
        count);
  }

  void finish(const Sums& sums, std::uint64_t number, ChannelStats& channel) const {
    if (channel.finite == 0) return;
    const Scale& scale = scales_[number];
    const auto count = static_cast<long double>(channel.finite);
    const long double centre =
        doubles_ ? static_cast<long double>(scale.centre) : order_.value(scale.middle);
    const long double mean = static_cast<long double>(sums.sum) / count;
    const long double variance = static_cast<long double>(sums.squares) / count - mean * mean;
    // Rounding must not lead outside the range of the channel.
    const long double least = order_.value(order_.ordinal(*channel.min));
    const long double greatest = order_.value(order_.ordinal(*channel.max));
    const long double half = (greatest - least) / 2;
    const long double std = std::ldexp(std::sqrt(std::max(0.0L, variance)), scale.shift);
    channel.mean =
        static_cast<double>(std::clamp(centre + std::ldexp(mean, scale.shift), least, greatest));
    channel.std = static_cast<double>(std::min(std, half));
  }

 private:
  static std::int64_t whole(double value, const Scale& scale) {
    return std::llrint((value - scale.centre) * scale.factors[0] * scale.factors[1]);
  }

  static std::int64_t whole(std::uint64_t ordinal, const Scale& scale) {
    const auto away = static_cast<std::int64_t>(ordinal - scale.middle);
    return scale.shift == 0 ? away : ((away >> (scale.shift - 1)) + 1) >> 1;
  }

  static void add_values(const double* values, std::uint64_t count, const Scale& scale, Sums& to) {
    if (scale.factors[0] == 0) return;
    for (std::uint64_t i = 0; i < count; ++i)
      if (std::isfinite(values[i])) to.add(whole(values[i], scale));
  }

  const CodeOrder& order_;
  bool doubles_;
  WidenFn<double> widen_;
  ChannelPlace place_;
  std::vector<Scale> scales_;
};

// Computes everything but mean and std.
Status count_channels(const ElementPasses& passes, const CodeOrder& order, DType dtype,
                      ChannelPlace place, const ChannelLimits& limits,
                      std::vector<ChannelStats>& channels) {
  const Counter counter(order, dtype, place, limits);
  std::vector<std::vector<Counts>> workers(passes.workers(), std::vector<Counts>(place.channels));
  BTF_TRY(passes.run(
      [&](unsigned worker, const ElementPiece& piece) { counter.add(piece, workers[worker]); }));
  channels.resize(place.channels);
  for (std::uint64_t c = 0; c < place.channels; ++c) {
    Counts all;
    for (const auto& worker : workers) all.add(worker[c]);
    counter.add_zeros(passes.elements() / place.channels - all.elements, all);
    ChannelStats& to = channels[c];
    to.elements = all.elements;
    to.finite = all.finite();
    to.nan = all.nan;
    to.positive_inf = all.positive_inf;
    to.negative_inf = all.negative_inf;
    to.zeros = all.zeros;
    to.at_least = all.at_least;
    to.at_greatest = all.at_greatest;
    if (to.finite == 0) continue;
    to.min = order.code(all.range.least);
    to.max = order.code(all.range.greatest);
  }
  return {};
}

// Computes mean and std of channels whose other members are known. Elements are measured from the
// middle of their channel's range, rounded to 2^-46 of half that range (coarser only with more than
// 2^34 elements).
Status sum_channels(const ElementPasses& passes, const CodeOrder& order, DType dtype,
                    ChannelPlace place, std::vector<ChannelStats>& channels) {
  const Summer summer(order, dtype, place, channels);
  std::vector<std::vector<Sums>> workers(passes.workers(), std::vector<Sums>(place.channels));
  std::vector<std::vector<std::uint64_t>> stored(passes.workers());
  if (passes.absent() > 0)
    for (auto& mine : stored) mine.resize(place.channels);
  BTF_TRY(passes.run([&](unsigned worker, const ElementPiece& piece) {
    summer.add(piece, workers[worker]);
    if (!stored[worker].empty())
      by_channel(piece, 0, piece.count, place,
                 [&](std::uint64_t channel, std::uint64_t, std::uint64_t count) {
                   stored[worker][channel] += count;
                 });
  }));
  for (std::uint64_t c = 0; c < place.channels; ++c) {
    Sums all;
    std::uint64_t there = 0;
    for (unsigned w = 0; w < workers.size(); ++w) {
      all.sum += workers[w][c].sum;
      all.squares += workers[w][c].squares;
      if (!stored[w].empty()) there += stored[w][c];
    }
    if (passes.absent() > 0) summer.add_zeros(c, channels[c].elements - there, all);
    summer.finish(all, c, channels[c]);
  }
  return {};
}

// Stands for an axis without a letter.
constexpr char kNone = '-';

// A letter for each dim.
std::string letters_of(const TensorInfo& tensor) {
  const std::size_t rank = tensor.dims.size();
  const unsigned from_end = tensor.layout ? spec(*tensor.layout).vector_dim : 0;
  std::string_view last = rank >= 3 ? "NCHW" : "NC";
  if (from_end == 4 || (from_end == 0 && rank == 5)) last = "NCDHW";
  std::string letters(rank, kNone);
  if (rank == 1) return "C";
  // With more dims than letters, only the layout can tell which is which.
  if (rank > last.size() && from_end == 0) return letters;
  for (std::size_t i = 0; i < std::min(rank, last.size()); ++i)
    letters[rank - 1 - i] = last[last.size() - 1 - i];
  if (rank > last.size()) letters[rank - last.size()] = kNone;
  return letters;
}

ChannelState state_of(const ChannelStats& channel, bool least_counts, bool greatest_counts) {
  if (channel.elements < 2) return ChannelState::alive;  // a single element cannot vary
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
  // These are not limits of anything that was computed.
  const auto counts = [&](const std::optional<Extreme>& extreme) {
    return extreme && info(dtype).kind != NumberKind::boolean &&
           value_double(dtype, extreme->code) != 0;
  };
  // Integers of 32 and 64 bits are indices and sums, for which only the dtype's limits count.
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
  const std::string dims = concat(rank, rank == 1 ? " dim" : " dims");
  if (axis.size() == 1 && std::isalpha(static_cast<unsigned char>(axis[0])) != 0) {
    const auto letter = static_cast<char>(std::toupper(static_cast<unsigned char>(axis[0])));
    const auto at = letters_of(tensor).find(letter);
    if (at != std::string::npos) return static_cast<std::uint32_t>(at);
    if (std::string_view("NCDHW").find(letter) == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "no dim is called " + std::string(axis) + "; use N, C, D, H, W or a number");
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
    return refuse(concat("no dim ", axis, ": it has ", tensor.dims.size()));
  if (tensor.dims[axis] > kMaxChannels)
    return refuse(concat("dim ", axis, " has ", tensor.dims[axis],
                         " channels; statistics by channel are of at most ", kMaxChannels));
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
