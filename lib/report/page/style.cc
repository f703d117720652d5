#include <fmt/format.h>

#include "report/page/page.h"

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

}  // namespace btf::report
