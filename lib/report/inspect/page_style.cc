#include "report/inspect/page_style.h"

namespace btf::report {

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

}  // namespace btf::report
