// The parts that the HTML pages of all reports share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report.h"

namespace btf::report {

// For element content and quoted attributes. What is not a printable character shows as an escape:
// control characters, bytes that are not UTF-8, and marks that change the direction of text.
std::string html_text(std::string_view text);

// A name or a path, which may break behind its slashes, dots and underscores.
std::string html_name(std::string_view name);

// "1,234,567"
std::string html_count(std::uint64_t count);

// Six digits, "1.23457e-05"; the exact ones are in the tables of elements.
std::string html_number(double value);

// A cell of a table. `name`: class and, where a row is a block, the label. By `value` the column is
// sorted; `text` is HTML.
std::string html_figure(std::string_view name, std::string_view label, double value,
                        const std::string& text);

// A chart along the tensors of a comparison, or its layers: figures by their logarithm.

struct ChartSeries {
  const char* name;  // class of its path
  std::function<double(std::size_t)> value;
};

// For each item a range from one figure to another.
struct ChartRange {
  const char* name;
  std::function<double(std::size_t)> low;
  std::function<double(std::size_t)> high;
};

// The same for all items.
struct ChartLevel {
  const char* name;
  double value = 0;
};

// Functions of an item's number. Figures that are not above 0 are drawn at the bottom.
struct Chart {
  std::size_t items = 0;
  double least = 0;  // of the figures that are drawn; most of 0: there is no chart
  double most = 0;
  std::string_view label;            // of the whole, for those who do not see it
  std::string_view legend;           // spans with the classes of series and marks
  std::vector<ChartSeries> bands{};  // from the bottom up to the figure
  std::vector<ChartSeries> lines{};
  std::vector<ChartRange> ranges{};
  std::vector<ChartLevel> levels{};        // those within the chart are drawn
  bool shares = true;                      // figures are parts of 1, and said in percent
  std::function<bool(std::size_t)> known;  // else a gap
  // More items than there is room for are folded, that of the highest rank is kept.
  std::function<double(std::size_t)> rank;
  bool low_marks = false;  // as a strip at the bottom, where there may be many
  std::function<const char*(std::size_t)> mark;   // class: "plain", "root", ...
  std::function<std::string(std::size_t)> title;  // HTML
};

std::string html_chart(const Chart& chart);

// The line at the top of a page: what made it, by which command, of which inputs.

// `name` stands for a program that is not known: "btftool diff".
std::string html_origin(const PageOrigin& origin, std::string_view name);

// The parts that the HTML pages of all reports share.

// The most rows of a table; a page says how many it leaves out.
inline constexpr std::size_t kMaxRows = 10000;

// The script that a browser may run on a page, and its hash, so that it runs nothing else.
struct PageScript {
  std::string_view text;
  std::string_view hash;  // "sha256-..."; tests/pages holds it to that
};

// Makes tables of the class "sortable" that, and the filter work.
const PageScript& table_script();

// Up to the first element of the page. `style`: what it has beside the style of all pages.
std::string page_begin(const std::string& title, std::string_view style = {},
                       const PageScript& script = table_script());

// From the last element on.
std::string page_end(const PageScript& script = table_script());

// A field that hides rows of the sortable tables; not shown where scripts do not run.
std::string filter_box();

std::string_view html_style();

// "different" and the like as a coloured word.
std::string html_result(std::string_view word);

}  // namespace btf::report
