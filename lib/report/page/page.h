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

// Escapes text for element content and quoted attributes. Control characters, bytes that are not
// UTF-8, and marks that change the direction of text are shown as escapes.
std::string html_text(std::string_view text);

// Escapes a name or a path. Lines may break after its slashes, dots and underscores.
std::string html_name(std::string_view name);

// "1,234,567"
std::string html_count(std::uint64_t count);

// Six digits: "1.23457e-05". Tables of elements have the exact numbers.
std::string html_number(double value);

// A cell of a table. `name` is its class, `label` the title that it gets on narrow screens, where a
// row is a block. The column is sorted by `value`; `text` is HTML.
std::string html_figure(std::string_view name, std::string_view label, double value,
                        const std::string& text);

struct ChartSeries {
  const char* name;  // class of its path
  std::function<double(std::size_t)> value;
};

// A range between two figures for each item.
struct ChartRange {
  const char* name;
  std::function<double(std::size_t)> low;
  std::function<double(std::size_t)> high;
};

// A figure that is the same for all items.
struct ChartLevel {
  const char* name;
  double value = 0;
};

// A logarithmic chart of figures of the tensors or layers of a comparison. The functions take the
// number of an item. Figures that are not above 0 are drawn at the bottom.
struct Chart {
  std::size_t items = 0;
  double least = 0;  // smallest and largest figure; if `most` is 0, there is no chart
  double most = 0;
  std::string_view label;            // describes the chart to screen readers
  std::string_view legend;           // spans with the classes of series and marks
  std::vector<ChartSeries> bands{};  // filled from the bottom up to the figure
  std::vector<ChartSeries> lines{};
  std::vector<ChartRange> ranges{};
  std::vector<ChartLevel> levels{};        // only those inside the chart are drawn
  bool shares = true;                      // figures are fractions, labelled in percent
  std::function<bool(std::size_t)> known;  // items without a known figure leave a gap
  // If there are more items than columns, each column shows the item with the highest rank.
  std::function<double(std::size_t)> rank;
  bool low_marks = false;  // draws marks as a strip at the bottom, for many of them
  std::function<const char*(std::size_t)> mark;   // class: "plain", "root", ...
  std::function<std::string(std::size_t)> title;  // HTML
};

std::string html_chart(const Chart& chart);

// The line at the top of a page: the program, its command and the date of the inputs. `name`, such
// as "btftool diff", is used if the program is not known.
std::string html_origin(const PageOrigin& origin, std::string_view name);

// The maximal number of rows of a table. A page says how many it leaves out.
inline constexpr std::size_t kMaxRows = 10000;

// The only script that a browser may run on a page, and its hash for the content security policy.
struct PageScript {
  std::string_view text;
  std::string_view hash;  // "sha256-..."; tests/pages holds it to that
};

// Sorts tables of the class "sortable", and runs the filter.
const PageScript& table_script();

// Returns the HTML before the first element of the page. `style` is added to the style of all
// pages.
std::string page_begin(const std::string& title, std::string_view style = {},
                       const PageScript& script = table_script());

// Returns the HTML after the last element.
std::string page_end(const PageScript& script = table_script());

// A field that filters rows of the sortable tables. It is hidden if scripts do not run.
std::string filter_box();

std::string_view html_style();

// Returns a result such as "different" as a coloured word.
std::string html_result(std::string_view word);

}  // namespace btf::report
