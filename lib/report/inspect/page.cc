#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "btf/report/inspect_page.h"
#include "btf/value.h"
#include "report/inspect/page_style.h"
#include "report/inspect/strips.h"
#include "report/page/html_text.h"
#include "report/page/origin.h"
#include "report/text/text.h"

namespace btf {
namespace {

using namespace report;

std::string cell(std::string_view title, double value, const std::string& text) {
  return fmt::format("<td class=n data-t=\"{}\" data-v=\"{:.17g}\">{}", title, value, text);
}

std::string no_cell(std::string_view title) {
  return fmt::format("<td class=n data-t=\"{}\">–", title);
}

std::string number_cell(std::string_view title, const std::optional<double>& value) {
  return value ? cell(title, *value, html_number(*value)) : no_cell(title);
}

std::string dtype_name(const TensorInfo& tensor) {
  if (!tensor.foreign_dtype.empty()) return html_text(tensor.foreign_dtype);
  return tensor.dtype ? std::string(info(*tensor.dtype).name) : "unknown";
}

std::uint64_t count_of(const Channels& channels, bool saturated) {
  return static_cast<std::uint64_t>(std::ranges::count_if(channels.states, [&](ChannelState s) {
    return saturated ? s == ChannelState::saturated
                     : s == ChannelState::zero || s == ChannelState::constant;
  }));
}

std::string stats_cells(const TensorInfo& tensor, const TensorStats& stats) {
  const auto extreme = [&](const std::optional<Extreme>& e) {
    return e ? std::optional(value_double(*tensor.dtype, e->code)) : std::nullopt;
  };
  std::string html = number_cell("min", extreme(stats.min)) + number_cell("mean", stats.mean) +
                     number_cell("max", extreme(stats.max)) + number_cell("std", stats.std);
  const auto all = static_cast<double>(std::max<std::uint64_t>(1, stats.elements));
  html += cell("zeros", static_cast<double>(stats.zeros) / all,
               stats.elements == 0 ? "–" : html_text(percent(stats.zeros, stats.elements)));
  const std::uint64_t bad = stats.elements - stats.finite;
  return html + cell("NaN, Inf", static_cast<double>(bad),
                     bad == 0 ? "0" : "<b class=bad>" + html_count(bad) + "</b>");
}

std::string channel_cell(const TensorInfo& tensor, const std::optional<Channels>& channels) {
  if (!channels || channels->channels.empty()) return "<td class=draw data-t=channels data-v=-1>";
  const std::uint64_t dead = count_of(*channels, false);
  const std::uint64_t saturated = count_of(*channels, true);
  std::string note = html_count(channels->channels.size());
  if (dead > 0) note += fmt::format(" · <b class=bad>{} dead</b>", html_count(dead));
  if (saturated > 0)
    note += fmt::format(" · <b class=warn>{} saturated</b>", html_count(saturated));
  return fmt::format("<td class=draw data-t=channels data-v={}>{}<small>{}</small>",
                     dead + saturated, channels_svg(*channels, *tensor.dtype), note);
}

}  // namespace

struct InspectPage::State {
  std::string rows;
  std::string troubles;
  std::string file;
  std::uint64_t files = 0;
  std::uint64_t tensors = 0;
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
  State& s = *state_;
  const std::uint64_t number = s.tensors++;
  s.bytes += tensor.data_bytes;
  const bool odd = known.stats && known.stats->finite != known.stats->elements;
  const bool marked =
      known.channels && count_of(*known.channels, false) + count_of(*known.channels, true) > 0;
  s.odd += odd ? 1 : 0;
  s.marked += marked ? 1 : 0;
  if (known.stats) s.elements += known.stats->elements;

  s.rows += fmt::format("<tr{}{}>", odd ? " data-odd" : "", marked ? " data-marked" : "");
  s.rows += cell("#", static_cast<double>(number), std::to_string(tensor.index));
  s.rows += "<td class=name data-t=tensor>" +
            (tensor.name.empty() ? std::string("–") : html_name(tensor.name)) + "<small>" +
            html_name(s.file) + "</small>";
  s.rows += fmt::format(
      "<td class=type data-t=type>{} <small>{}</small><small class=dims>{}</small>",
      dtype_name(tensor), tensor.layout ? html_text(layout_text(*tensor.layout)) : "unknown",
      html_text(dims_text(tensor.dims)));
  if (known.stats)
    s.rows += stats_cells(tensor, *known.stats);
  else
    s.rows += fmt::format("<td colspan=6 class=none>{}", html_text(known.trouble));
  const auto* histogram = known.distribution && known.distribution->histogram
                              ? &*known.distribution->histogram
                              : nullptr;
  s.rows += "<td class=draw data-t=values>";
  if (histogram != nullptr)
    s.rows +=
        histogram_svg(*histogram) +
        fmt::format("<small class=ends><span>{}</span><span>{}</span></small>",
                    html_number(histogram->edges.front()), html_number(histogram->edges.back()));
  s.rows += channel_cell(tensor, known.channels) + "\n";
}

void InspectPage::trouble(const std::string& message) {
  state_->troubles += "<li>" + html_text(message) + "\n";
}

std::string InspectPage::finish(const std::string& title, const PageOrigin& origin) {
  const State& s = *state_;
  std::string page =
      page_begin(fmt::format("{}: {}", html_text(title), counted(s.tensors, "tensor")),
                 inspect_page_style(), inspect_page_script());
  page += fmt::format("<header>{}<h1>{}</h1>\n", html_origin(origin, "btftool inspect"),
                      html_name(title));
  page += fmt::format("<p class=note>{} in {}, {} elements, {} bytes", counted(s.tensors, "tensor"),
                      counted(s.files, "file"), html_count(s.elements), html_count(s.bytes));
  if (s.odd > 0) page += fmt::format("; {} with NaN or Inf", html_count(s.odd));
  if (s.marked > 0)
    page += fmt::format("; {} with dead or saturated channels", html_count(s.marked));
  page += "</p>\n";
  if (!s.troubles.empty())
    page += "<h2>Could not be read</h2>\n<ul class=troubles>\n" + s.troubles + "</ul>\n";
  page += inspect_page_controls();
  page += "</header>\n<table id=tensors" + std::string(s.files == 1 ? " class=one" : "") +
          ">\n<thead><tr><th class=n>#<th>tensor<th>type and shape"
          "<th class=n>min<th class=n>mean<th class=n>max<th class=n>std<th class=n>zeros"
          "<th class=n>NaN, Inf<th>values<th>channels</thead>\n<tbody>\n" +
          s.rows +
          "</tbody>\n</table>\n<p class=note id=none hidden>No tensor is called so.</p>\n"
          "<footer>Numbers and drawings are over the finite elements. Values: a histogram from the "
          "least to the greatest number. Channels: from the least to the greatest number of each, "
          "darker within a standard deviation of its mean; <b class=bad>red</b> ones are dead (one "
          "number only), <b class=warn>amber</b> ones have a tenth of their elements at a limit."
          "</footer>\n";
  return page + page_end(inspect_page_script());
}

}  // namespace btf
