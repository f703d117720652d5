// The parts that the HTML pages of all reports share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace btf::report {

// The most rows of a table; a page says how many it leaves out.
inline constexpr std::size_t kMostRows = 10000;

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
