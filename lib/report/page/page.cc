#include "report/page/page.h"

#include <fmt/format.h>

namespace btf::report {
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
