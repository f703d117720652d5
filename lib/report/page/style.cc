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
  --h6: #4a0d3f;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --back: #14171b; --text: #e3e7eb; --quiet: #9aa5b1; --line: #2d343c; --panel: #1b2026;
    --red: #ff8a80; --red-back: #3a1c1b; --green: #6fd18b; --green-back: #16301f;
    --amber: #f0be5f; --amber-back: #33280f; --link: #7db7ff;
    --all: #465462; --bad: #f0705a;
    --h0: #20262d; --h1: #6a4416; --h2: #955a12; --h3: #c6741b; --h4: #ec9440; --h5: #ffbd7d;
    --h6: #fff1dc;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  font-variant-numeric: tabular-nums; print-color-adjust: exact; -webkit-print-color-adjust: exact;
}
main { max-width: 1240px; margin: 0 auto; padding: 28px 24px 48px; }
a { color: var(--link); }
small { font-size: 13px; color: var(--quiet); }
code { font: 13px ui-monospace, "SF Mono", Menlo, Consolas, monospace; white-space: nowrap; }
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
.facts div { display: grid; grid-template-columns: 84px 1fr; }
.facts dt, .figures dt { color: var(--quiet); font-size: 13px; }
.facts dt { line-height: 22px; }
dd { margin: 0; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; }
.summary, .elements { width: 100%; }
th { text-align: left; font-weight: 500; font-size: 13px; color: var(--quiet); }
thead th { white-space: nowrap; vertical-align: bottom; }
.summary th, .summary td, .elements th, .elements td {
  padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top;
}
.elements td, .elements th { font-size: 13px; padding: 3px 11px 3px 0; }
.elements td { white-space: nowrap; }
.path { overflow-wrap: break-word; min-width: 18ch; }
.type { min-width: 26ch; }
.side { white-space: nowrap; }
.dims { display: block; overflow-wrap: anywhere; }
.short .dims { display: inline; padding-left: 8px; }
.short th:last-child, .short td:last-child { display: none; }
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
@media (max-width: 640px) {
  main { padding: 16px 14px 32px; }
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
