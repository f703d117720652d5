#include "inspect/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/value.h"
#include "io/text.h"

namespace btftool {
namespace {

// More channels than this are not listed in text, only those that are dead or saturated.
constexpr std::size_t kMostListed = 64;
constexpr std::size_t kMostBar = 40;  // columns

using btf::ChannelState;

bool dead(ChannelState state) {
  return state == ChannelState::zero || state == ChannelState::constant;
}
bool saturated(ChannelState state) { return state == ChannelState::saturated; }

Json channel_numbers(const btf::Channels& channels, bool (*chosen)(ChannelState)) {
  Json numbers = Json::array();
  for (std::size_t c = 0; c < channels.states.size(); ++c)
    if (chosen(channels.states[c])) numbers.push_back(c);
  return numbers;
}

Json channel_json(btf::DType dtype, const btf::ChannelStats& channel, std::size_t number,
                  ChannelState state) {
  constexpr std::array<const char*, 4> kStates{nullptr, "zero", "constant", "saturated"};
  const char* const name = kStates[static_cast<std::size_t>(state)];
  const auto value = [&](const std::optional<std::uint64_t>& code) {
    return code ? json_value(dtype, *code) : Json(nullptr);
  };
  const auto real = [](const std::optional<double>& x) {
    return x ? json_number(*x) : Json(nullptr);
  };
  return {{"index", number},
          {"count", json_number(channel.elements)},
          {"finite", json_number(channel.finite)},
          {"min", value(channel.min)},
          {"max", value(channel.max)},
          {"mean", real(channel.mean)},
          {"std", real(channel.std)},
          {"nan", json_number(channel.nan)},
          {"pos_inf", json_number(channel.positive_inf)},
          {"neg_inf", json_number(channel.negative_inf)},
          {"zeros", json_number(channel.zeros)},
          {"at_min", json_number(channel.at_least)},
          {"at_max", json_number(channel.at_greatest)},
          {"state", name == nullptr ? Json(nullptr) : Json(name)}};
}

// "0.1%"
std::string percentile_name(double p) { return btf::number_text(p) + "%"; }

std::string percentiles_text(const btf::Distribution& found,
                             const btf::DistributionOptions& options) {
  if (found.percentiles.empty()) return "none";
  std::string text;
  for (std::size_t i = 0; i < found.percentiles.size(); ++i)
    text += fmt::format("{}{}\u00a0{}", i == 0 ? "" : ", ", percentile_name(options.percentiles[i]),
                        short_number(found.percentiles[i]));
  return text;
}

std::string bar(std::uint64_t count, std::uint64_t most, std::size_t columns) {
  constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (most == 0 || count == 0) return "";
  const double share = static_cast<double>(count) / static_cast<double>(most);
  const auto eighths = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(share * static_cast<double>(columns) * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kParts[eighths % 8];
}

// "from", and a bar with the count of the bin that begins there.
std::vector<std::string> histogram_lines(const btf::Histogram& histogram, std::size_t columns) {
  const std::size_t bins = histogram.counts.size();
  std::vector<std::string> edges;
  std::size_t wide = 0;
  for (const double edge : histogram.edges) {
    edges.push_back(short_number(edge));
    wide = std::max(wide, edges.back().size());
  }
  const std::uint64_t most = *std::ranges::max_element(histogram.counts);
  const std::size_t taken = wide + 1 + std::to_string(most).size() + 1;
  const std::size_t room = columns > taken + 8 ? std::min(kMostBar, columns - taken) : 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < bins; ++i) {
    const std::string drawn = bar(histogram.counts[i], most, room);
    lines.push_back(pad_left(edges[i], wide) + " " + drawn + (drawn.empty() ? "" : " ") +
                    std::to_string(histogram.counts[i]));
  }
  lines.push_back(pad_left(edges[bins], wide));
  return lines;
}

// "3, 17-19"
std::string ranges_text(const btf::Channels& channels, bool (*chosen)(ChannelState)) {
  std::string text;
  const auto& states = channels.states;
  for (std::size_t c = 0; c < states.size(); ++c) {
    if (!chosen(states[c])) continue;
    std::size_t last = c;
    while (last + 1 < states.size() && chosen(states[last + 1])) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(c);
    if (last > c) text += (last > c + 1 ? "-" : ", ") + std::to_string(last);
    c = last;
  }
  return text;
}

std::string row_text(btf::DType dtype, const btf::ChannelStats& channel, ChannelState state) {
  const auto real = [](double x) { return fmt::format("{:.3g}", x); };
  const auto value = [&](const std::optional<std::uint64_t>& code) {
    return code ? real(btf::value_double(dtype, *code)) : std::string("-");
  };
  const auto sum = [&](const std::optional<double>& x) { return x ? real(*x) : std::string("-"); };
  const std::string_view name = btf::channel_state_name(state);
  return fmt::format("{:>9} {:>9} {:>9} {:>9} {:>5} {:>6}{}{}", value(channel.min),
                     value(channel.max), sum(channel.mean), sum(channel.std), channel.nan,
                     channel.elements == 0 ? "-" : percent(channel.zeros, channel.elements),
                     name.empty() ? "" : "  ", name);
}

void add_channel_lines(btf::DType dtype, const btf::Channels& channels, std::size_t columns,
                       std::vector<StatisticsLine>& lines) {
  lines.push_back(
      {"channels", fmt::format("{} along dim {}", channels.channels.size(), channels.axis)});
  for (const auto& [label, chosen] :
       {std::pair("dead", &dead), std::pair("saturated", &saturated)}) {
    const std::string ranges = ranges_text(channels, chosen);
    std::string name = label;
    for (const std::string& line : wrapped(ranges.empty() ? "none" : ranges, columns, 0)) {
      lines.push_back({name, line});
      name = "";
    }
  }
  const bool all = channels.channels.size() <= kMostListed;
  std::size_t listed = 0;
  std::size_t left_out = 0;
  for (std::size_t c = 0; c < channels.channels.size(); ++c) {
    const bool shown = listed < kMostListed && (all || channels.states[c] != ChannelState::alive);
    if (!shown) {
      ++left_out;
      continue;
    }
    if (listed++ == 0)
      lines.push_back({"", fmt::format("{:>9} {:>9} {:>9} {:>9} {:>5} {:>6}", "min", "max", "mean",
                                       "std", "NaN", "zeros")});
    lines.push_back(
        {fmt::format("{:>10}", c), row_text(dtype, channels.channels[c], channels.states[c])});
  }
  if (left_out > 0) lines.push_back({"", fmt::format("and {} more, which --json lists", left_out)});
}

}  // namespace

void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details,
                    const btf::DistributionOptions& options) {
  if (details.distribution && !options.percentiles.empty()) {
    Json percentiles = Json::array();
    for (std::size_t i = 0; i < details.distribution->percentiles.size(); ++i)
      percentiles.push_back({{"p", json_number(options.percentiles[i])},
                             {"value", json_number(details.distribution->percentiles[i])}});
    stats["percentiles"] = std::move(percentiles);
  }
  if (details.distribution && options.bins > 0) {
    Json histogram;
    if (const auto& found = details.distribution->histogram) {
      histogram = {{"edges", Json::array()}, {"counts", Json::array()}};
      for (const double edge : found->edges) histogram["edges"].push_back(json_number(edge));
      for (const std::uint64_t count : found->counts)
        histogram["counts"].push_back(json_number(count));
    }
    stats["histogram"] = std::move(histogram);
  }
  if (!details.channels) return;
  const btf::Channels& channels = *details.channels;
  Json items = Json::array();
  for (std::size_t c = 0; c < channels.channels.size(); ++c)
    items.push_back(channel_json(dtype, channels.channels[c], c, channels.states[c]));
  stats["channels"] = {{"axis", channels.axis},
                       {"dead", channel_numbers(channels, dead)},
                       {"saturated", channel_numbers(channels, saturated)},
                       {"items", std::move(items)}};
}

std::vector<StatisticsLine> statistics_lines(btf::DType dtype, const InspectDetails& details,
                                             const btf::DistributionOptions& options,
                                             std::size_t columns) {
  std::vector<StatisticsLine> lines;
  const auto add = [&](std::string label, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      lines.push_back({label, text});
      label = "";
    }
  };
  if (details.distribution && !options.percentiles.empty())
    add("percentile", wrapped(percentiles_text(*details.distribution, options), columns, 0));
  if (details.distribution && options.bins > 0) {
    const auto& found = details.distribution->histogram;
    add("histogram", found ? histogram_lines(*found, columns) : std::vector<std::string>{"none"});
  }
  if (details.channels) add_channel_lines(dtype, *details.channels, columns, lines);
  return lines;
}

}  // namespace btftool
