#include "reports/inspect_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/dtype.h"
#include "io/text.h"

namespace btftool {
namespace {

// If there are more channels than this, only dead and saturated ones are listed.
constexpr std::size_t kMaxListed = 64;
constexpr std::size_t kMaxBar = 40;  // columns

using btf::ChannelState;

bool dead(ChannelState state) {
  return state == ChannelState::zero || state == ChannelState::constant;
}
bool saturated(ChannelState state) { return state == ChannelState::saturated; }

Json channel_numbers(const btf::Channels& channels, bool (*matches)(ChannelState)) {
  Json numbers = Json::array();
  for (std::size_t c = 0; c < channels.states.size(); ++c)
    if (matches(channels.states[c])) numbers.push_back(c);
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

std::string bar(std::uint64_t count, std::uint64_t max, std::size_t columns) {
  constexpr std::array<const char*, 8> kParts{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (max == 0 || count == 0) return "";
  const double share = static_cast<double>(count) / static_cast<double>(max);
  const auto eighths = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::lround(share * static_cast<double>(columns) * 8)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kParts[eighths % 8];
}

// Each line has the lower edge of a bin, a bar and the count.
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
  const std::size_t room = columns > taken + 8 ? std::min(kMaxBar, columns - taken) : 8;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < bins; ++i) {
    const std::string drawn = bar(histogram.counts[i], most, room);
    lines.push_back(pad_left(edges[i], wide) + " " + drawn + (drawn.empty() ? "" : " ") +
                    std::to_string(histogram.counts[i]));
  }
  lines.push_back(pad_left(edges[bins], wide));
  return lines;
}

// A block for each bin, and a dot for an empty one.
std::string histogram_line(const btf::Histogram& histogram) {
  constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto most = static_cast<double>(*std::ranges::max_element(histogram.counts));
  std::string text;
  for (const std::uint64_t count : histogram.counts) {
    const double share = static_cast<double>(count) / most;
    text += count == 0 ? "·" : kBlocks[static_cast<std::size_t>(std::ceil(share * 8)) - 1];
  }
  return fmt::format("{} from {} to {}", text, short_number(histogram.edges.front()),
                     short_number(histogram.edges.back()));
}

// "3, 17-19"
std::string ranges_text(const btf::Channels& channels, bool (*matches)(ChannelState)) {
  std::string text;
  const auto& states = channels.states;
  for (std::size_t c = 0; c < states.size(); ++c) {
    if (!matches(states[c])) continue;
    std::size_t last = c;
    while (last + 1 < states.size() && matches(states[last + 1])) ++last;
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
  for (const auto& [label, matches] :
       {std::pair("dead", &dead), std::pair("saturated", &saturated)}) {
    const std::string ranges = ranges_text(channels, matches);
    std::string name = label;
    for (const std::string& line : wrapped(ranges.empty() ? "none" : ranges, columns, 0)) {
      lines.push_back({name, line});
      name = "";
    }
  }
  const bool all = channels.channels.size() <= kMaxListed;
  std::size_t listed = 0;
  std::size_t left_out = 0;
  for (std::size_t c = 0; c < channels.channels.size(); ++c) {
    const bool shown = listed < kMaxListed && (all || channels.states[c] != ChannelState::alive);
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
  if (left_out > 0)
    lines.push_back({"", fmt::format("and {} more; --json lists them all", left_out)});
}

}  // namespace

void add_statistics(Json& stats, btf::DType dtype, const InspectDetails& details) {
  const btf::DistributionOptions& options = details.asked;
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
                                             bool bars, std::size_t columns) {
  const btf::DistributionOptions& options = details.asked;
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
    if (!found)
      add("histogram", {"none"});
    else if (bars)
      add("histogram", histogram_lines(*found, columns));
    else
      add("histogram", {histogram_line(*found)});
  }
  if (details.channels) add_channel_lines(dtype, *details.channels, columns, lines);
  return lines;
}

namespace {

std::string unknown(std::uint8_t code) { return "unknown(" + std::to_string(code) + ")"; }

std::string dtype_text(const btf::TensorInfo& tensor) {
  if (!tensor.foreign_dtype.empty()) return printable(tensor.foreign_dtype);
  return tensor.dtype ? std::string(btf::info(*tensor.dtype).name) : unknown(tensor.dtype_code);
}

void append_dims(std::string& line, const btf::Dims& dims, std::size_t width) {
  const std::size_t begin = line.size();
  line += '[';
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (d > 0) line += ", ";
    append_number(line, dims[d]);
  }
  line += ']';
  append_pad_right(line, "", width - std::min(width, line.size() - begin));
}

// Widths of the columns except the first, which depends on the file.
constexpr std::size_t kDType = 14;
constexpr std::size_t kLayout = 12;
constexpr std::size_t kShape = 22;
constexpr std::size_t kBytes = 12;
constexpr std::size_t kOffset = 12;
constexpr std::string_view kGap = "  ";

// What a line says beyond type, shape and sizes: "nnz 20  deflated".
std::string notes_text(const btf::TensorInfo& tensor, bool extensions) {
  std::string text;
  const auto add = [&](std::string_view note) {
    text.append(text.empty() ? "" : kGap).append(note);
  };
  if (tensor.coo) add("nnz " + std::to_string(tensor.coo->nnz));
  if (tensor.layout && !btf::spec(*tensor.layout).dla.empty()) add(btf::spec(*tensor.layout).dla);
  if (extensions && is_extension(tensor)) add("extension");
  if (tensor.deflated()) add("deflated");
  return text;
}

std::string layout_name(const btf::TensorInfo& tensor) {
  return tensor.layout ? std::string(btf::spec(*tensor.layout).name) : unknown(tensor.layout_code);
}

bool has_known_bytes(const btf::TensorInfo& tensor) {
  return tensor.known() || !tensor.foreign_dtype.empty();
}

// Columns of a table that fits a terminal. If there is no room, the offset is left out first.
const std::vector<std::string> kTitles{"#",     "dtype",  "layout", "shape",
                                       "bytes", "offset", "",       "name"};
const std::vector<btf::report::Column> kColumns{{.right = true},
                                                {.least = 16},
                                                {.rank = 1, .least = 12},
                                                {.least = 20},
                                                {.rank = 2, .right = true},
                                                {.rank = 4, .right = true},
                                                {.rank = 3, .least = 24},
                                                {.least = 24}};

}  // namespace

std::vector<std::string> InspectText::cells(const btf::TensorInfo& tensor) const {
  return {std::to_string(tensor.index),
          dtype_text(tensor),
          layout_name(tensor),
          btf::dims_text(tensor.dims),
          has_known_bytes(tensor) ? std::to_string(tensor.data_bytes) : "?",
          std::to_string(tensor.record_offset),
          notes_text(tensor, btf_),
          tensor.named ? printable(tensor.name) : ""};
}

// Makes the columns as wide as the first tensors need.
btf::Status InspectText::fit_columns(const btf::TensorFile& file,
                                     const std::optional<std::vector<std::uint64_t>>& tensors) {
  constexpr std::uint64_t kMaxMeasured = 4096;
  columns_ = kColumns;
  const std::uint64_t count = tensors ? tensors->size() : file.tensor_count();
  std::vector<std::string> names;
  std::vector<std::uint64_t> named;
  btf::Status status;
  for (std::uint64_t i = 0; i < std::min(count, kMaxMeasured); ++i) {
    const auto tensor = file.tensor(tensors ? (*tensors)[i] : i);
    if (!tensor) {
      // Malformed records are reported when their line is printed.
      if (status && tensor.error().system != 0) status = std::unexpected(tensor.error());
      continue;
    }
    const std::vector<std::string> row = cells(*tensor);
    widen(columns_, row);
    named.push_back(tensor->index);
    names.push_back(row.back());
  }
  std::vector<std::string> titles = kTitles;
  if (columns_.back().width == 0) titles.back().clear();
  widen(columns_, titles);
  columns_.front().width = std::max(columns_.front().width, width_);
  fit(columns_, output_columns());
  names = btf::report::short_names(names, columns_.back().width);
  names_.clear();
  for (std::size_t i = 0; i < names.size(); ++i) names_.emplace(named[i], std::move(names[i]));
  out_.line(row_text(columns_, titles));
  return status;
}

btf::Status InspectText::begin(const btf::TensorFile& file,
                               const std::optional<std::vector<std::uint64_t>>& tensors) {
  btf_ = file.has(btf::kBtfCodes);
  out_.line(fmt::format("{}: {}, {}, {}{}", printable(file.path()), file.format_title(),
                        counted(file.tensor_count(), "tensor"),
                        file.more_follows() ? "more than " : "", counted(file.size(), "byte")));
  width_ = std::max<std::size_t>(2, std::to_string(file.tensor_count()).size());
  if (file.tensor_count() > 0 && fits_columns()) return fit_columns(file, tensors);
  if (file.tensor_count() > 0)
    out_.line(pad_left("#", width_) + "  " + pad_right("dtype", kDType) + "  " +
              pad_right("layout", kLayout) + "  " + pad_right("shape", kShape) + "  " +
              pad_left("bytes", kBytes) + "  " + pad_left("offset", kOffset));
  return {};
}

void InspectText::fitting_line(const btf::TensorInfo& tensor) {
  std::vector<std::string> row = cells(tensor);
  if (const auto name = names_.find(tensor.index); name != names_.end()) row.back() = name->second;
  out_.line(row_text(columns_, row));
}

// Prints columns of fixed widths. There may be millions of such lines.
void InspectText::whole_line(const btf::TensorInfo& tensor) {
  line_.clear();
  append_pad_left(line_, tensor.index, width_);
  const std::size_t names = line_.size();
  append_pad_right(line_ += kGap, dtype_text(tensor), kDType);
  // A longer name of the dtype reduces the width of the layout.
  const std::size_t longer = line_.size() - names - kGap.size() - kDType;
  append_pad_right(line_ += kGap, layout_name(tensor), kLayout - std::min(longer, kLayout));
  append_dims(line_ += kGap, tensor.dims, kShape);
  line_ += kGap;
  has_known_bytes(tensor) ? append_pad_left(line_, tensor.data_bytes, kBytes)
                          : append_pad_left(line_, "?", kBytes);
  append_pad_left(line_ += kGap, tensor.record_offset, kOffset);
  if (const std::string notes = notes_text(tensor, btf_); !notes.empty())
    line_.append(kGap).append(notes);
  if (tensor.named) line_.append(kGap).append(printable(tensor.name));
  out_.line(line_);
}

void InspectText::tensor(const btf::TensorInfo& tensor, const InspectDetails& details) {
  columns_.empty() ? whole_line(tensor) : fitting_line(tensor);
  if (options_.strides) strides(tensor);
  if (details.stats) {
    stats(*details.stats, *details.dtype);
    const std::size_t columns = output_columns() - std::min<std::size_t>(width_ + 13, 40);
    for (const StatisticsLine& line :
         statistics_lines(*details.dtype, details, options_.distribution.bins > 0, columns))
      detail(line.label, line.text);
  }
  if (details.at) at(details);
  if (details.values) values(details.values->text(values_width(tensor.dims.size())));
}

void InspectText::detail(std::string_view label, const std::string& text) {
  out_.line(fmt::format("{:>{}}  {:<10} {}", "", width_, label, text), width_ + 13);
}

void InspectText::strides(const btf::TensorInfo& tensor) {
  if (!tensor.known()) return detail("strides", "none: the dtype or the layout is unknown");
  if (!tensor.storage) return detail("strides", "none: the tensor is not dense");
  if (btf::spec(*tensor.layout).shuffled())
    return detail("strides", "none: the bytes of elements are shuffled");
  const btf::StridedLayout& storage = *tensor.storage;
  detail("stored as", btf::dims_text(storage.storage_shape()));
  detail("strides", btf::dims_text(storage.strides) + " elements, outermost first" +
                        (storage.split ? ", the vectorised dim from block to block" : " (DLPack)"));
  if (!btf::info(*tensor.dtype).half_byte())
    detail("", btf::dims_text(byte_strides(tensor)) + " bytes, innermost first (NvMedia)");
  detail("", storage.vectorized_dim < 0
                 ? "not vectorised (TensorRT)"
                 : fmt::format("{} vectors, vectorised dim {}, {} components per element "
                               "(TensorRT)",
                               btf::dims_text(btf::tensorrt_strides(storage)),
                               storage.vectorized_dim, storage.components));
}

void InspectText::stats(const btf::TensorStats& stats, btf::DType dtype) {
  const auto extreme = [&](const std::optional<btf::Extreme>& e) {
    return e ? btf::value_text(dtype, e->code) + " at " + btf::dims_text(e->index) : "none";
  };
  const auto number = [](const std::optional<double>& x) {
    return x ? btf::number_text(*x) : "none";
  };
  detail("min", extreme(stats.min));
  detail("max", extreme(stats.max));
  detail("mean", number(stats.mean));
  detail("std", number(stats.std));
  std::string zeros = std::to_string(stats.zeros) + " zero";
  if (stats.zeros > 0) zeros += " (" + percent(stats.zeros, stats.elements) + ")";
  detail("counts", fmt::format("{} elements, {} finite, {}, {} subnormal", stats.elements,
                               stats.finite, zeros, stats.subnormals));
  std::string nan = std::to_string(stats.nan);
  if (stats.nan > 0) nan = out_.yellow(nan);
  if (stats.first_nan) nan += ", the first at " + btf::dims_text(*stats.first_nan);
  detail("NaN", nan);
  const std::string inf = fmt::format("{} +Inf, {} -Inf", stats.positive_inf, stats.negative_inf);
  detail("Inf", stats.positive_inf + stats.negative_inf > 0 ? out_.yellow(inf) : inf);
}

void InspectText::at(const InspectDetails& details) {
  const btf::Element& element = details.element;
  std::string where = "not stored";
  if (element.offset)
    where = fmt::format("byte {}{}", *element.offset,
                        !btf::info(*details.dtype).half_byte() ? ""
                        : element.high_nibble                  ? ", high nibble"
                                                               : ", low nibble");
  detail("at " + btf::dims_text(*details.at), btf::value_text(*details.dtype, element.code) + "  " +
                                                  btf::code_text(*details.dtype, element.code) +
                                                  "  " + where);
}

// A line may end in `rank` brackets.
std::size_t InspectText::values_width(std::size_t rank) const {
  constexpr std::size_t kOfPipe = 75;
  const std::size_t taken = width_ + kGap.size() + rank;
  return fits_columns() ? output_columns() - std::min(taken, output_columns()) : kOfPipe;
}

void InspectText::values(const std::string& text) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    out_.line(line.empty() ? "" : std::string(width_ + 2, ' ') + line);
    begin = end + 1;
  }
}

}  // namespace btftool
