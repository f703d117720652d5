#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>

#include "btf/try.h"
#include "report/text/text.h"

namespace btf::report {

// Colours by role, twice: for light and for dark. Levels of the heat map grow away from the
// background in lightness, so that they order without hue and on paper.
std::string_view html_style() {
  return R"(:root {
  color-scheme: light dark;
  --back: #fff; --text: #1c2127; --quiet: #59636e; --line: #dde2e7; --panel: #f6f8fa;
  --red: #b3261e; --red-back: #fdecea; --green: #1a6e34; --green-back: #e6f4ea;
  --amber: #875400; --amber-back: #fff4dc; --link: #0b5cad;
  --all: #b9c4d0; --bad: #cf4a33;
  --h0: #eef1f4; --h1: #fbcf86; --h2: #f7a84a; --h3: #ee7a2b; --h4: #d1462f; --h5: #9c1f45;
  --h6: #4a0d3f; --noise: #d4e3f3; --limit: #eaf1f9;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --back: #14171b; --text: #e3e7eb; --quiet: #9aa5b1; --line: #2d343c; --panel: #1b2026;
    --red: #ff8a80; --red-back: #3a1c1b; --green: #6fd18b; --green-back: #16301f;
    --amber: #f0be5f; --amber-back: #33280f; --link: #7db7ff;
    --all: #465462; --bad: #f0705a;
    --h0: #20262d; --h1: #6a4416; --h2: #955a12; --h3: #c6741b; --h4: #ec9440; --h5: #ffbd7d;
    --h6: #fff1dc; --noise: #24405c; --limit: #1b2c3e;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
main { max-width: 1760px; margin: 0 auto; padding: 28px 24px 48px; }
a { color: var(--link); }
small { font-size: 13px; color: var(--quiet); }
code {
  font: 13px ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere;
}
.tool { margin: 0; color: var(--quiet); font-size: 13px; }
h1 { margin: 4px 0 16px; font-size: 24px; line-height: 1.3; }
h1 .result { font-size: 20px; padding: 2px 12px; margin-right: 6px; }
h2 { margin: 32px 0 10px; font-size: 18px; overflow-wrap: anywhere; }
h3 { margin: 22px 0 6px; font-size: 14px; }
.result {
  display: inline-block; padding: 0 8px; border-radius: 10px; font-size: 13px; font-weight: 600;
  white-space: nowrap; color: var(--red); background: var(--red-back);
}
.result.same { color: var(--green); background: var(--green-back); }
.result.trouble { color: var(--amber); background: var(--amber-back); }
.facts { margin: 0; display: grid; gap: 2px; }
.facts div { display: grid; grid-template-columns: 100px minmax(0, 1fr); }
.facts dd { padding-bottom: 2px; } .facts code { white-space: normal; overflow-wrap: anywhere; }
.facts dt, .figures dt { color: var(--quiet); font-size: 13px; }
.facts dt { line-height: 22px; }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
.sortable thead th { cursor: pointer; } .sortable thead th[aria-sort] { color: var(--text); }
.sortable thead th[aria-sort]::after { content: " ▾"; }
.sortable thead th[aria-sort=ascending]::after { content: " ▴"; }
.filter { margin: 16px 0 6px; font-size: 13px; color: var(--quiet); }
.filter input {
  font: inherit; width: min(30ch, 60vw); padding: 4px 8px; color: var(--text);
  background: var(--back); border: 1px solid var(--quiet); border-radius: 6px;
}
.filter input::placeholder { color: var(--quiet); opacity: 1; }
[hidden] { display: none !important; }
.chart { display: grid; grid-template-columns: 64px 1fr; margin-top: 24px; }
.chart svg { width: 100%; height: 240px; display: block; border-bottom: 1px solid var(--line); }
.scale { position: relative; height: 240px; font-size: 12px; color: var(--quiet); }
.scale span { position: absolute; right: 8px; transform: translateY(50%); white-space: nowrap; }
.chart path { vector-effect: non-scaling-stroke; }
.chart .limit { fill: var(--limit); } .chart .noise { fill: var(--noise); }
.chart .grid { stroke: var(--line); fill: none; }
.chart .line { fill: none; stroke: var(--text); stroke-width: 1.6; }
.chart .worst { stroke: var(--quiet); stroke-width: 1.2; stroke-dasharray: 3 3; }
.chart g rect { fill: transparent; } .chart g path { stroke: none; }
.chart g:hover rect { fill: var(--all); opacity: .4; }
.chart .root path { stroke: var(--red); stroke-width: 2; }
.chart .dump path { stroke: var(--amber); stroke-width: 2; }
.key { font-size: 13px; color: var(--quiet); margin: 6px 0 20px 64px; }
.key span { margin-right: 14px; }
.key span::before { content: ""; display: inline-block; width: 16px; height: 10px;
  margin-right: 6px; border: solid var(--text); border-width: 2px 0 0; }
.key .worst::before { border-color: var(--quiet); border-top-style: dashed; }
.key .noise::before { background: var(--noise); border-width: 0; }
.key .limit::before { background: var(--limit); border-width: 0; }
.key .root::before { border-color: var(--red); } .key .dump::before { border-color: var(--amber); }
table { border-collapse: collapse; font-size: 14px; }
.summary, .elements { width: 100%; }
th { text-align: left; font-weight: 500; font-size: 13px; color: var(--quiet); }
thead th { white-space: nowrap; vertical-align: bottom; }
.summary th, .summary td, .elements th, .elements td {
  padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top;
}
.elements td, .elements th { font-size: 13px; padding: 3px 11px 3px 0; }
.elements td { white-space: nowrap; }
.path { overflow-wrap: anywhere; min-width: 14ch; }
.type { min-width: 22ch; }
.side { white-space: nowrap; }
.dims { display: block; overflow-wrap: anywhere; }
.short .dims { display: inline; padding-left: 8px; }
.short .why { display: none; }
.why { min-width: 18ch; overflow-wrap: anywhere; }
.why b { font-weight: 600; } .why small { display: block; }
.n { text-align: right; white-space: nowrap; }
.note { color: var(--quiet); font-size: 14px; }
details { margin-top: 20px; }
summary { cursor: pointer; font-size: 16px; font-weight: 600; padding: 4px 0; }
section { margin-top: 36px; padding-top: 4px; border-top: 1px solid var(--line); }
section h2 { margin-top: 20px; margin-bottom: 2px; }
.sides { margin: 0 0 14px; }
.hint {
  margin: 0 0 8px; padding: 8px 14px; border-left: 3px solid var(--amber);
  background: var(--amber-back); overflow-wrap: anywhere;
}
.hint span { color: var(--quiet); }
.criteria { list-style: none; margin: 0 0 14px; padding: 0; }
.criteria li { padding-left: 22px; position: relative; overflow-wrap: anywhere; }
.criteria li::before { position: absolute; left: 2px; font-weight: 700; }
.held::before { content: "✓"; color: var(--green); }
.failed::before { content: "✗"; color: var(--red); }
.failed b { color: var(--red); }
.figures {
  margin: 0; display: grid; gap: 10px 20px; padding: 12px 14px; background: var(--panel);
  border-radius: 6px; grid-template-columns: repeat(auto-fill, minmax(150px, auto));
}
.required { margin: 10px 0 0; }
.pictures { display: flex; flex-wrap: wrap; gap: 20px 48px; margin-top: 18px; }
figure { margin: 0; break-inside: avoid; max-width: 100%; }
figcaption { font-weight: 600; font-size: 14px; margin-bottom: 8px; }
figcaption small { font-weight: 400; }
.histogram { flex: 1 1 380px; }
.histogram table { width: 100%; }
.histogram th, .histogram td { padding: 1px 0 1px 12px; }
.histogram th:first-child { padding-left: 0; }
.histogram tbody th { color: var(--text); }
.bar { width: 55%; }
.bar svg { display: block; width: 100%; height: 12px; }
.all { fill: var(--all); }
.bad { fill: var(--bad); }
.heat svg text { font-size: 11px; fill: var(--quiet); }
.heat svg .axis { fill: var(--text); font-weight: 600; }
.tick { stroke: var(--quiet); fill: none; }
.heat .scroll svg { display: block; }
.h0 { fill: var(--h0); } .h1 { fill: var(--h1); } .h2 { fill: var(--h2); } .h3 { fill: var(--h3); }
.h4 { fill: var(--h4); } .h5 { fill: var(--h5); } .h6 { fill: var(--h6); }
.heat path:hover { stroke: var(--text); stroke-width: .15; }
.legend { margin: 8px 0 0; font-size: 13px; color: var(--quiet); }
.legend span { margin-right: 12px; white-space: nowrap; }
.legend svg { vertical-align: -1px; margin-right: 5px; }
.legend .h0 { stroke: var(--line); }
.up { font-size: 13px; }
footer {
  margin-top: 48px; padding-top: 12px; border-top: 1px solid var(--line); font-size: 13px;
  color: var(--quiet);
}
/* Less room: first the figures go that others follow from, then a row becomes a block. */
@media screen and (max-width: 1500px) { .summary .steps, .summary .rel { display: none; } }
@media screen and (max-width: 1160px) {
  .summary, .summary tbody, .summary thead, .summary tr { display: block; }
  .summary thead tr { display: flex; flex-wrap: wrap; gap: 4px 14px; padding-bottom: 6px; }
  .summary thead th { border: 0; padding: 0; min-width: 0; }
  .summary tbody tr { padding: 8px 0; border-bottom: 1px solid var(--line); }
  .summary td { display: inline-block; border: 0; padding: 0 12px 0 0; min-width: 0; }
  .summary td.path, .summary td.why, .summary td.type { display: block; padding: 0; }
  .summary td.path { font-weight: 600; }
  .summary .dims { display: inline; } .side { white-space: normal; }
  .summary td[data-l]::before {
    content: attr(data-l) " "; color: var(--quiet); font-size: 13px;
  }
  .short td.why { display: none; }
}
@media (max-width: 640px) {
  main { padding: 16px 14px 32px; }
  .chart { grid-template-columns: 48px 1fr; } .key { margin-left: 48px; }
  .facts div { grid-template-columns: minmax(0, 1fr); }
}
@media print {
  body { font-size: 12px; }
  main { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  .up { display: none; }
  table { font-size: 11px; }
  .elements td, .elements th { padding-right: 8px; }
  tr { break-inside: avoid; }
}
)";
}

std::string html_result(std::string_view word) {
  return fmt::format("<span class=\"result {0}\">{0}</span>", word);
}

std::string html_text(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const std::string next = take_visible(text);
    if (next == "&")
      html += "&amp;";
    else if (next == "<")
      html += "&lt;";
    else if (next == ">")
      html += "&gt;";
    else if (next == "\"")
      html += "&quot;";
    else if (next == "'")
      html += "&#39;";
    else
      html += next;
  }
  return html;
}

std::string html_name(std::string_view name) {
  constexpr std::string_view kMarks = "/._";
  const std::string text = html_text(name);
  std::string html = "<bdi>";
  for (std::size_t i = 0; i < text.size(); ++i) {
    html += text[i];
    const bool last = i + 1 == text.size() || kMarks.contains(text[i + 1]);
    if (kMarks.contains(text[i]) && !last) html += "<wbr>";
  }
  return html + "</bdi>";
}

std::string html_count(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string html_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  return short_number(value);
}

std::string html_figure(std::string_view name, std::string_view label, double value,
                        const std::string& text) {
  const std::string key = std::isnan(value)   ? "-1"
                          : std::isinf(value) ? (value > 0 ? "1e309" : "-1e309")
                                              : fmt::format("{:.9g}", value);
  return fmt::format("<td class=\"n {}\" data-l=\"{}\" data-v=\"{}\">{}", name, label, key, text);
}

namespace {

constexpr double kHeight = 240;
constexpr double kWidth = 1000;
constexpr double kLowMark = 12;
constexpr double kMinRange = 2;  // is still seen
constexpr std::size_t kMaxColumns = 2000;

std::string percent_label(int decade) {
  const double percent = std::pow(10.0, decade + 2);
  return fmt::format("{:g} %", percent);
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        from_(static_cast<int>(std::floor(std::log10(std::min(chart.least, chart.most))))),
        to_(std::max(from_ + 1, static_cast<int>(std::ceil(std::log10(chart.most))))) {
    fold();
  }

  std::string html() const {
    std::string svg = fmt::format(
        "<div class=chart><div class=scale>{}</div><svg viewBox=\"0 0 {} {}\" "
        "preserveAspectRatio=none role=img aria-label=\"{}\">\n",
        labels(), kWidth, kHeight, chart_.label);
    for (const ChartSeries& series : chart_.bands) svg += band(series);
    for (const ChartRange& series : chart_.ranges) svg += range(series);
    svg += grid();
    for (const ChartLevel& drawn : chart_.levels) svg += level(drawn);
    for (const ChartSeries& series : chart_.lines) svg += line(series);
    return svg + marks() + fmt::format("</svg></div>\n<p class=key>{}</p>\n", chart_.legend);
  }

 private:
  void fold() {
    columns_.assign(std::min(chart_.items, kMaxColumns), chart_.items);
    for (std::size_t i = 0; i < chart_.items; ++i) {
      std::size_t& item = columns_[i * columns_.size() / chart_.items];
      if (item == chart_.items || chart_.rank(i) > chart_.rank(item)) item = i;
    }
  }

  double x(std::size_t column) const {
    return (static_cast<double>(column) + 0.5) * kWidth / static_cast<double>(columns_.size());
  }

  double y(double value) const {
    const double part = value > 0 ? (std::log10(value) - from_) / (to_ - from_) : 0;
    return kHeight * (1 - std::clamp(part, 0.0, 1.0));
  }

  // Decades between grid lines, so that labels do not overlap.
  int every() const { return std::max(1, (to_ - from_ + 5) / 6); }

  std::string labels() const {
    std::string html;
    for (int decade = from_; decade <= to_; decade += every())
      html += fmt::format("<span style=\"bottom:{:.1f}%\">{}</span>",
                          100.0 * (decade - from_) / (to_ - from_),
                          chart_.shares ? percent_label(decade) : fmt::format("1e{}", decade));
    return html;
  }

  std::string grid() const {
    std::string path;
    for (int decade = from_; decade <= to_; decade += every())
      path += fmt::format("M0 {0:.1f}H{1}", y(std::pow(10.0, decade)), kWidth);
    return "<path class=grid d=\"" + path + "\"/>\n";
  }

  std::string band(const ChartSeries& series) const {
    std::string path = fmt::format("M0 {}", kHeight);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double top = chart_.known(columns_[i]) ? y(series.value(columns_[i])) : kHeight;
      const double half = kWidth / static_cast<double>(columns_.size()) / 2;
      path += fmt::format("L{:.1f} {:.1f}H{:.1f}", x(i) - half, top, x(i) + half);
    }
    return fmt::format("<path class={} d=\"{}L{} {}Z\"/>\n", series.name, path, kWidth, kHeight);
  }

  std::string range(const ChartRange& series) const {
    std::string path;
    const double half = kWidth / static_cast<double>(columns_.size()) / 2;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!chart_.known(columns_[i])) continue;
      const double low = y(series.low(columns_[i]));
      const double high = std::min(y(series.high(columns_[i])), low - kMinRange);
      path += fmt::format("M{:.1f} {:.1f}H{:.1f}V{:.1f}H{:.1f}Z", x(i) - half, low, x(i) + half,
                          high, x(i) - half);
    }
    return fmt::format("<path class={} d=\"{}\"/>\n", series.name, path);
  }

  std::string level(const ChartLevel& drawn) const {
    const double decade = drawn.value > 0 ? std::log10(drawn.value) : -HUGE_VAL;
    if (!(decade >= from_ && decade <= to_)) return "";
    return fmt::format("<path class=\"line {}\" d=\"M0 {:.1f}H{}\"/>\n", drawn.name, y(drawn.value),
                       kWidth);
  }

  std::string line(const ChartSeries& series) const {
    std::string path;
    bool open = false;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (!chart_.known(columns_[i])) {
        open = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", open ? 'L' : 'M', x(i), y(series.value(columns_[i])));
      if (!open && (i + 1 == columns_.size() || !chart_.known(columns_[i + 1]))) path += "h.1";
      open = true;
    }
    return fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", series.name, path);
  }

  std::string marks() const {
    std::string svg;
    const double width = kWidth / static_cast<double>(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i)
      svg += fmt::format(
          "<g class={}><rect x={:.1f} y=0 width={:.1f} height={} /><path d=\"M{:.1f} {}V{}\"/>"
          "<title>{}</title></g>\n",
          chart_.mark(columns_[i]), x(i) - width / 2, width, kHeight, x(i),
          chart_.low_marks ? kHeight - kLowMark : 0, kHeight, chart_.title(columns_[i]));
    return svg;
  }

  const Chart& chart_;
  int from_;
  int to_;
  std::vector<std::size_t> columns_;  // items
};

}  // namespace

std::string html_chart(const Chart& chart) {
  return chart.most > 0 && chart.items > 0 ? Drawing(chart).html() : std::string();
}

}  // namespace btf::report

namespace btf {

void PageOrigin::add(const FileState& input) {
  newest_input =
      std::max(newest_input.value_or(0), input.modified_ns / std::int64_t{1'000'000'000});
}

Status PageOrigin::add_inputs(const TensorSet& set) {
  for (std::uint64_t i = 0; i < set.member_count(); ++i) {
    if (set.path(i) == "-") continue;
    BTF_ASSIGN(const std::optional<FileState> file, set.state(i));
    if (file) add(*file);
  }
  return {};
}

void PageOrigin::take_date(std::string_view seconds) {
  constexpr std::int64_t kMax = 253402300799;  // the end of the year 9999
  std::int64_t date = 0;
  const char* const end = seconds.data() + seconds.size();
  const auto [stop, error] = std::from_chars(seconds.data(), end, date);
  if (!seconds.empty() && error == std::errc() && stop == end && date >= 0 && date <= kMax)
    newest_input = date;
}

}  // namespace btf

namespace btf::report {
namespace {

// "2026-11-27 21:00 UTC"
std::string date_text(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count());
}

}  // namespace

std::string html_origin(const PageOrigin& origin, std::string_view name) {
  std::string line = html_text(origin.program.empty() ? name : origin.program);
  if (!origin.command.empty()) line += " · <code>" + html_text(origin.command) + "</code>";
  if (origin.newest_input) line += " · inputs of " + date_text(*origin.newest_input);
  return "<p class=tool>" + line + "</p>\n";
}

namespace {

// A click on a column's title sorts by it: numbers by data-v, all else by its text. The filter
// hides rows that lack one of its words.
constexpr std::string_view kScript = R"(
for (const table of document.querySelectorAll('table.sortable')) {
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const key = row => {
      const cell = row.cells[column];
      if (!cell) return '';
      return cell.dataset.v === undefined ? cell.textContent.toLowerCase() : +cell.dataset.v;
    };
    const sort = () => {
      const up = head.getAttribute('aria-sort') === 'descending';
      const keyed = [...table.tBodies[0].rows].map(row => [key(row), row]);
      keyed.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (up ? 1 : -1));
      for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      table.tBodies[0].append(...keyed.map(pair => pair[1]));
    };
    head.tabIndex = 0;
    head.onclick = sort;
    head.onkeydown = event => { if (event.key === 'Enter') sort(); };
  });
}
const filter = document.querySelector('.filter');
if (filter) {
  const rows = [...document.querySelectorAll('table.sortable tbody tr')];
  const texts = rows.map(row => row.textContent.toLowerCase());
  const shown = filter.querySelector('output');
  filter.hidden = false;
  filter.querySelector('input').oninput = event => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(word => word);
    let count = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every(word => texts[i].includes(word));
      count += row.hidden ? 0 : 1;
    });
    for (const fold of document.querySelectorAll('details'))
      if (words.length && fold.querySelector('tbody tr:not([hidden])')) fold.open = true;
    shown.textContent = words.length ? count + ' of ' + rows.length : '';
  };
}
)";

}  // namespace

const PageScript& table_script() {
  static constexpr PageScript kTables{kScript,
                                      "sha256-pU0r45WyBfs+0Jw5BhfleJF125Nb23Jc0ZE2Tz09ZiE="};
  return kTables;
}

std::string page_begin(const std::string& title, std::string_view style, const PageScript& script) {
  return fmt::format(
      "<!doctype html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
      "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=color-scheme content=\"light dark\">\n"
      "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src '{}'\">\n"
      "<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<main>\n",
      script.hash, title, html_style(), style);
}

std::string page_end(const PageScript& script) {
  return fmt::format("<script>{}</script>\n</main>\n</body>\n</html>\n", script.text);
}

std::string filter_box() {
  return "<p class=filter hidden><label>Filter <input type=search placeholder=\"words of a "
         "row\"></label> <output></output></p>\n";
}

}  // namespace btf::report
