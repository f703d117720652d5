// The page of inspect: a row for each tensor, with a histogram and a strip of its channels.
#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "btf/dtype.h"
#include "btf/inspect.h"
#include "btf/report.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr auto kInspectColumns = std::to_array<PageColumn>({
    {"#", "number", "count"},
    {"tensor", "tensor", "name", "path"},
    {"type and shape", "type", "text", "type"},
    {"min", "min", "number"},
    {"mean", "mean", "number"},
    {"max", "max", "number"},
    {"std", "std", "number"},
    {"zeros", "zeros", "share"},
    {"NaN, Inf", "odd", "count"},
    {"values", "values", "histogram", "draw"},
    {"channels", "channels", "strip", "draw"},
    {"", "marked"},
});

// Where all tensors are of one file, their rows need not name it.
constexpr auto kOneFileColumns = [] {
  auto columns = kInspectColumns;
  columns[1].style = "path one";
  return columns;
}();

// Heights in drawings are digits of base 36: a character each, and no pixel is lost.
constexpr int kDrawnHeight = 35;
constexpr std::uint64_t kMaxBars = 96;
constexpr std::uint64_t kMaxStrip = 64;  // more channels share columns

char digit(int height) { return "0123456789abcdefghijklmnopqrstuvwxyz"[height]; }

bool dead(ChannelState state) {
  return state == ChannelState::zero || state == ChannelState::constant;
}

Json histogram_json(const Histogram& histogram) {
  const std::size_t bins = histogram.counts.size();
  const std::uint64_t most = std::max<std::uint64_t>(1, std::ranges::max(histogram.counts));
  std::string bars(std::min<std::size_t>(bins, kMaxBars), '0');
  for (std::size_t i = 0; i < bins; ++i) {
    const double share = static_cast<double>(histogram.counts[i]) / static_cast<double>(most);
    const int height = histogram.counts[i] == 0
                           ? 0
                           : std::max(1, static_cast<int>(std::lround(share * kDrawnHeight)));
    char& bar = bars[i * bars.size() / bins];
    bar = std::max(bar, digit(height));  // letters come after digits
  }
  return {{"key", json_number(histogram.edges.back() - histogram.edges.front())},
          {"bars", bars},
          {"least", json_number(histogram.edges.front())},
          {"most", json_number(histogram.edges.back())},
          {"title", fmt::format("{} bins, the largest with {}", bins, html_count(most))}};
}

// Channels that share a column of the strip.
struct StripColumn {
  double min = HUGE_VAL;
  double max = -HUGE_VAL;
  double low = HUGE_VAL;  // mean - std
  double high = -HUGE_VAL;
  bool dead = false;
  bool saturated = false;
};

std::vector<StripColumn> strip_columns(const Channels& channels, DType dtype) {
  const std::uint64_t count = channels.channels.size();
  std::vector<StripColumn> columns(std::min(count, kMaxStrip));
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

std::uint64_t count_of(const Channels& channels, bool saturated) {
  return static_cast<std::uint64_t>(std::ranges::count_if(channels.states, [&](ChannelState s) {
    return saturated ? s == ChannelState::saturated : dead(s);
  }));
}

// A column for each channel, or for several that stand side by side: from the least to the greatest
// number, darker within a standard deviation of the mean; dead and saturated ones marked.
Json strip_json(const Channels& channels, DType dtype) {
  const std::vector<StripColumn> columns = strip_columns(channels, dtype);
  double least = HUGE_VAL;
  double greatest = -HUGE_VAL;
  for (const StripColumn& column : columns) {
    least = std::min(least, column.min);
    greatest = std::max(greatest, column.max);
  }
  // Half of it: the whole may be beyond double.
  const double half = greatest > least ? greatest / 2 - least / 2 : 0.5;
  std::string low, high, below, above, dead_marks, saturated_marks;
  for (const StripColumn& column : columns) {
    const auto add = [&](double from, double to, std::string& bottom, std::string& top) {
      const auto height = [&](double value) {
        const double share = std::clamp((value / 2 - least / 2) / half, 0.0, 1.0);
        return static_cast<int>(std::lround(share * kDrawnHeight));
      };
      if (column.min > column.max) {  // it has no finite number
        bottom += ' ';
        top += ' ';
        return;
      }
      const int lower = std::min(height(from), kDrawnHeight - 1);
      bottom += digit(lower);
      top += digit(std::max(height(to), lower + 1));
    };
    add(column.min, column.max, low, high);
    add(std::max(column.low, column.min), std::min(column.high, column.max), below, above);
    dead_marks += column.dead ? 'z' : ' ';
    saturated_marks += column.saturated ? 'z' : ' ';
  }
  const std::uint64_t count = channels.channels.size();
  const std::uint64_t dead = count_of(channels, false);
  const std::uint64_t saturated = count_of(channels, true);
  std::string text = html_count(count);
  if (dead > 0) text += fmt::format(" · {} dead", html_count(dead));
  if (saturated > 0) text += fmt::format(" · {} saturated", html_count(saturated));
  Json json{{"key", dead + saturated},
            {"text", text},
            {"title", fmt::format("{} channels along dim {}", count, channels.axis)},
            {"channels", count},
            {"low", low},
            {"high", high},
            {"below", below},
            {"above", above}};
  if (dead > 0) json.update({{"dead", dead_marks}, {"dead_channels", dead}});
  if (saturated > 0)
    json.update({{"saturated", saturated_marks}, {"saturated_channels", saturated}});
  return json;
}

void add_stats(Json& row, const TensorInfo& tensor, const TensorStats& stats) {
  const auto number = [](const std::optional<double>& value) {
    return value ? json_number(*value) : Json();
  };
  const auto extreme = [&](const std::optional<Extreme>& found) {
    return found ? json_number(value_double(*tensor.dtype, found->code)) : Json();
  };
  row["min"] = extreme(stats.min);
  row["mean"] = number(stats.mean);
  row["max"] = extreme(stats.max);
  row["std"] = number(stats.std);
  if (stats.elements > 0)
    row["zeros"] = static_cast<double>(stats.zeros) / static_cast<double>(stats.elements);
  row["odd"] = json_number(stats.elements - stats.finite);
}

}  // namespace
}  // namespace btf::report

namespace btf {

struct InspectPage::State {
  report::PageTable table{"tensors", report::kInspectColumns};
  std::vector<std::string> troubles;
  std::string file;
  std::uint64_t files = 0;
  std::uint64_t elements = 0;
  std::uint64_t bytes = 0;
  std::uint64_t odd = 0;     // tensors with NaN or Inf
  std::uint64_t marked = 0;  // with dead or saturated channels
};

InspectPage::InspectPage() : state_(std::make_unique<State>()) {}
InspectPage::~InspectPage() = default;
InspectPage::InspectPage(InspectPage&&) noexcept = default;
InspectPage& InspectPage::operator=(InspectPage&&) noexcept = default;

void InspectPage::begin(const TensorFile& file) {
  ++state_->files;
  state_->file = file.path();
}

void InspectPage::take(const TensorInfo& tensor, const InspectedTensor& known) {
  using namespace report;
  State& s = *state_;
  s.bytes += tensor.data_bytes;
  // A name that was made from that of the file is the file's: it is not said twice.
  const bool named = tensor.named || tensor.index > 0;
  const std::string dtype = !tensor.foreign_dtype.empty() ? tensor.foreign_dtype
                            : tensor.dtype ? std::string(info(*tensor.dtype).name)
                                           : "unknown";
  Json row{{"number", known.number.value_or(tensor.index)},
           {"tensor", named ? Json::array({tensor.name.empty() ? "–" : tensor.name, s.file})
                            : Json(s.file)},
           {"type",
            {dtype + " " + (tensor.layout ? layout_text(*tensor.layout) : "unknown"),
             dims_text(tensor.dims)}}};
  if (known.stats) {
    s.elements += known.stats->elements;
    if (known.stats->finite != known.stats->elements) ++s.odd;
    add_stats(row, tensor, *known.stats);
  } else if (!known.trouble.empty()) {
    row["type"].push_back(known.trouble);
  }
  if (known.distribution && known.distribution->histogram)
    row["values"] = histogram_json(*known.distribution->histogram);
  if (known.channels && !known.channels->channels.empty()) {
    row["channels"] = strip_json(*known.channels, *tensor.dtype);
    row["marked"] = row["channels"]["key"];
    if (row["marked"] != 0) ++s.marked;
  }
  s.table.add(row);
}

void InspectPage::trouble(const std::string& message) { state_->troubles.push_back(message); }

std::string InspectPage::finish(const std::string& title, const PageOrigin& origin) {
  using namespace report;
  State& s = *state_;
  if (s.files == 1) s.table.show(kOneFileColumns);
  const std::string tensors = counted(s.table.rows(), "tensor");
  Page page(origin, "btftool inspect");
  page.verdict("", "", title, title + ": " + tensors);
  std::string words =
      fmt::format("{} in {}, {} elements, {} bytes", tensors, counted(s.files, "file"),
                  html_count(s.elements), html_count(s.bytes));
  if (s.odd > 0) words += fmt::format("; {} with NaN or Inf", html_count(s.odd));
  if (s.marked > 0)
    words += fmt::format("; {} with dead or saturated channels", html_count(s.marked));
  page.words(words);
  for (const std::string& trouble : s.troubles) page.fact_text("trouble", trouble);
  page.view({{"view", "filter"},
             {"checks", {{"NaN or Inf", "odd"}, {"dead or saturated channels", "marked"}}}});
  page.table(s.table);
  return page.html(
      "Numbers and drawings are over the finite elements. Values: a histogram from the least to "
      "the greatest number. Channels: from the least to the greatest number of each, darker within "
      "a standard deviation of its mean; <b class=bad>red</b> ones are dead (one number only), <b "
      "class=warn>amber</b> ones have a tenth of their elements at a limit.");
}

}  // namespace btf
