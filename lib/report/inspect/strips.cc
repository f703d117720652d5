#include "report/inspect/strips.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "btf/value.h"
#include "report/page/html_text.h"

namespace btf::report {
namespace {

constexpr int kHeight = 40;                 // units of a drawing
constexpr std::uint64_t kMostColumns = 96;  // more channels share columns

bool dead(ChannelState state) {
  return state == ChannelState::zero || state == ChannelState::constant;
}

std::string open(std::uint64_t columns, const std::string& label, const char* kind) {
  return fmt::format(
      "<svg class={} viewBox=\"0 0 {} {}\" preserveAspectRatio=none role=img><title>{}</title>",
      kind, columns, kHeight, html_text(label));
}

// Channels that share a column of the strip.
struct StripColumn {
  double min = HUGE_VAL;
  double max = -HUGE_VAL;
  double low = HUGE_VAL;  // mean - std
  double high = -HUGE_VAL;
  bool dead = false;
  bool saturated = false;

  bool empty() const { return min > max; }
};

std::vector<StripColumn> strip_columns(const Channels& channels, DType dtype) {
  const std::uint64_t count = channels.channels.size();
  std::vector<StripColumn> columns(std::min(count, kMostColumns));
  for (std::uint64_t c = 0; c < count; ++c) {
    StripColumn& column = columns[c * columns.size() / count];
    const ChannelStats& channel = channels.channels[c];
    column.dead = column.dead || dead(channels.states[c]);
    column.saturated = column.saturated || channels.states[c] == ChannelState::saturated;
    if (!channel.min) continue;
    column.min = std::min(column.min, value_double(dtype, *channel.min));
    column.max = std::max(column.max, value_double(dtype, *channel.max));
    column.low = std::min(column.low, *channel.mean - *channel.std);
    column.high = std::max(column.high, *channel.mean + *channel.std);
  }
  return columns;
}

// Where numbers stand on the height of a drawing.
struct HeightScale {
  double least = 0;
  double half = 0.5;  // of the range

  int at(double value) const {
    const double share = (value / 2 - least / 2) / half;
    return kHeight - static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kHeight));
  }
};

}  // namespace

std::string histogram_svg(const Histogram& histogram) {
  const std::uint64_t most =
      std::max<std::uint64_t>(1, *std::ranges::max_element(histogram.counts));
  std::string path = fmt::format("M0 {}", kHeight);
  for (const std::uint64_t count : histogram.counts) {
    const double share = static_cast<double>(count) / static_cast<double>(most);
    const int bar = count == 0 ? 0 : std::max(1, static_cast<int>(std::lround(share * kHeight)));
    path += fmt::format("V{}h1", kHeight - bar);
  }
  return open(histogram.counts.size(),
              fmt::format("{} bins from {} to {}, the largest with {}", histogram.counts.size(),
                          html_number(histogram.edges.front()), html_number(histogram.edges.back()),
                          html_count(most)),
              "hist") +
         fmt::format("<path d=\"{}V{}z\"/></svg>", path, kHeight);
}

std::string channels_svg(const Channels& channels, DType dtype) {
  const std::vector<StripColumn> columns = strip_columns(channels, dtype);
  double least = HUGE_VAL;
  double greatest = -HUGE_VAL;
  for (const StripColumn& column : columns) {
    least = std::min(least, column.min);
    greatest = std::max(greatest, column.max);
  }
  // Half of it: the whole may be beyond double.
  const HeightScale full{least, greatest > least ? greatest / 2 - least / 2 : 0.5};
  std::string ranges;
  std::string middles;
  std::string dead_marks;
  std::string saturated_marks;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const StripColumn& column = columns[i];
    const auto bar = [&](double low, double high) {
      const int top = full.at(high);
      return fmt::format("M{} {}h1v{}h-1z", i, top, std::max(1, full.at(low) - top));
    };
    if (column.dead) dead_marks += fmt::format("M{} 0h1v{}h-1z", i, kHeight);
    if (column.saturated) saturated_marks += fmt::format("M{} 0h1v{}h-1z", i, kHeight);
    if (column.empty()) continue;
    ranges += bar(column.min, column.max);
    middles += bar(std::max(column.low, column.min), std::min(column.high, column.max));
  }
  std::string svg = open(
      columns.size(),
      fmt::format("{} channels along dim {}", channels.channels.size(), channels.axis), "strip");
  const auto add = [&](const char* kind, const std::string& path) {
    if (!path.empty()) svg += fmt::format("<path class={} d=\"{}\"/>", kind, path);
  };
  add("dead", dead_marks);
  add("sat", saturated_marks);
  add("range", ranges);
  add("mid", middles);
  return svg + "</svg>";
}

}  // namespace btf::report
