// The page of inspect: its table, its drawings, its style.
#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "btf/dtype.h"
#include "btf/inspect.h"
#include "btf/report.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

// Small drawings of a tensor's numbers, as SVG.

// Below 900 pixels a row becomes a card, whose cells say their column's title.
std::string_view inspect_page_style() {
  return R"(:root { --mid: #2f6db0; --range: #a9c6e6; --mark: #f3b4ae; --warm: #ffd98a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --mid: #8dbcf0; --range: #34577c; --mark: #7a2f2b; --warm: #6b531b; }
}
main { max-width: 1560px; }
h1 { overflow-wrap: anywhere; }
.bad { color: var(--red); } .warn { color: var(--amber); }
.troubles { padding-left: 20px; overflow-wrap: anywhere; color: var(--amber); }
.controls { display: flex; flex-wrap: wrap; gap: 8px 18px; align-items: center; margin: 16px 0; }
.controls label { font-size: 14px; }
.controls input[type=search] { flex: 1 1 200px; max-width: 420px; min-width: 0; }
.controls input[type=search], .controls select {
  font: inherit; padding: 4px 8px; color: var(--text); background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px;
}
#tensors { width: 100%; }
#tensors thead th { cursor: pointer; padding: 4px 12px 4px 0; border-bottom: 1px solid var(--line);
  position: sticky; top: 0; background: var(--back); }
#tensors thead th[aria-sort] { color: var(--text); font-weight: 700; }
#tensors thead th[aria-sort=ascending]::after { content: " ↑"; }
#tensors thead th[aria-sort=descending]::after { content: " ↓"; }
#tensors td { padding: 6px 12px 6px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  font-size: 13px; }
#tensors td.name { font-size: 14px; overflow-wrap: anywhere; min-width: 16ch; }
#tensors small { display: block; font-size: 12px; overflow-wrap: anywhere; }
#tensors.one .name small { display: none; }
#tensors .type { white-space: nowrap; } #tensors .type small:first-of-type { display: inline; }
#tensors .dims { white-space: normal; }
.draw { width: 190px; } .none { color: var(--amber); overflow-wrap: anywhere; }
.draw svg { display: block; width: 178px; height: 34px; background: var(--panel); }
#tensors .ends { display: flex; justify-content: space-between; width: 178px; }
.hist path { fill: var(--mid); } .strip .range { fill: var(--range); } .strip .mid { fill: var(--mid); }
.strip .dead { fill: var(--mark); } .strip .sat { fill: var(--warm); }
@media (max-width: 1100px) {
  #tensors, #tensors tbody { display: block; } #tensors thead { display: none; }
  #tensors tr { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 2px 12px;
    padding: 10px 0; border-bottom: 1px solid var(--line); content-visibility: auto;
    contain-intrinsic-size: auto 150px; }
  #tensors tr[hidden] { display: none; }
  #tensors td { border: 0; padding: 0; } #tensors td.n { text-align: left; overflow-wrap: anywhere;
    white-space: normal; }
  #tensors td.n::before { content: attr(data-t); display: block; color: var(--quiet); font-size: 11px; }
  #tensors td:first-child { display: none; }
  #tensors .name, #tensors .type, #tensors .none { grid-column: 1 / -1; }
  #tensors .draw { grid-column: span 3; width: auto; }
  .draw svg, #tensors .ends { width: 100%; }
}
@media (max-width: 560px) {
  #tensors tr { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  #tensors .draw { grid-column: 1 / -1; }
}
@media print { .controls { display: none; } }
)";
}

// search, filters, order
std::string_view inspect_page_controls() {
  return R"(<div class=controls>
<input type=search id=search placeholder="Search: name, file, type" aria-label="Search">
<label>Order <select id=order aria-label="Order">
<option value=0>of the files<option value=1>name<option value=2>type<option value=3>min
<option value=4>mean<option value=5>max<option value=6>std<option value=7>zeros
<option value=8>NaN, Inf<option value=10>marked channels</select></label>
<label><input type=checkbox id=odd> NaN or Inf</label>
<label><input type=checkbox id=marked> dead or saturated</label>
<span class=note id=shown></span>
</div>
)";
}

// Numbers sort by data-v, the largest first, what has none last; all else by its text.
const PageScript& inspect_page_script() {
  static constexpr std::string_view kScript = R"(
const body = document.querySelector('#tensors tbody');
const heads = [...document.querySelectorAll('#tensors thead th')];
const rows = [...body.rows];
const get = id => document.getElementById(id);
const texts = rows.map(row => (row.cells[1].textContent + ' ' + row.cells[2].textContent).toLowerCase());
const collator = new Intl.Collator(undefined, {numeric: true});
function key(row, column) {
  // A cell that spans columns stands for those behind it too.
  const title = heads[column].textContent;
  const cell = [...row.cells].find(c => c.dataset.t === title || (column < 3 && c.cellIndex === column));
  if (!cell) return undefined;
  return column === 1 || column === 2 ? cell.textContent : cell.dataset.v === undefined ? undefined : +cell.dataset.v;
}
function sort(column, up) {
  const keyed = rows.map((row, i) => [key(row, column), i, row]);
  keyed.sort((a, b) => {
    if (a[0] === undefined || b[0] === undefined) return (a[0] === undefined) - (b[0] === undefined) || a[1] - b[1];
    const order = typeof a[0] === 'string' ? collator.compare(a[0], b[0]) : a[0] - b[0];
    return (up ? order : -order) || a[1] - b[1];
  });
  body.append(...keyed.map(item => item[2]));
  heads.forEach(head => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', up ? 'ascending' : 'descending');
  get('order').value = column;
}
heads.forEach((head, column) => {
  if (column === 9) return;
  head.tabIndex = 0;
  const act = () => {
    const now = head.getAttribute('aria-sort');
    sort(column, now ? now === 'descending' : column < 3);
  };
  head.onclick = act;
  head.onkeydown = event => { if (event.key === 'Enter') act(); };
});
get('order').onchange = event => sort(+event.target.value, +event.target.value < 3);
function filter() {
  const words = get('search').value.toLowerCase().split(/\s+/).filter(word => word);
  let shown = 0;
  rows.forEach((row, i) => {
    const hide = !words.every(word => texts[i].includes(word)) ||
      (get('odd').checked && row.dataset.odd === undefined) ||
      (get('marked').checked && row.dataset.marked === undefined);
    row.hidden = hide;
    if (!hide) ++shown;
  });
  get('shown').textContent = shown === rows.length ? '' : shown + ' of ' + rows.length;
  get('none').hidden = shown > 0 || rows.length === 0;
}
get('search').oninput = get('odd').onchange = get('marked').onchange = filter;
)";
  static constexpr PageScript kPage{kScript, "sha256-kW9+uhKc3RKJlg47lsi4zWuuL7r30FbfuQ8Q9BGh51U="};
  return kPage;
}

constexpr int kHeight = 40;                // units of a drawing
constexpr std::uint64_t kMaxColumns = 96;  // more channels share columns

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
  std::vector<StripColumn> columns(std::min(count, kMaxColumns));
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

// A column for each channel, or for several that stand side by side: from the least to the greatest
// number, darker within a standard deviation of the mean; dead and saturated ones marked.
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

}  // namespace
}  // namespace btf::report

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
