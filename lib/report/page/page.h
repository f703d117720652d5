// The parts that the HTML pages of all reports share.
#pragma once

#include <string>
#include <string_view>

namespace btf::report {

// Up to the first element of the page. `style`: what it has beside the style of all pages.
std::string page_begin(const std::string& title, std::string_view style = {});

// From the last element on: with what makes tables of the class "sortable" that, and the filter
// work.
std::string page_end();

// A field that hides rows of the sortable tables; not shown where scripts do not run.
std::string filter_box();

std::string_view html_style();

// "different" and the like as a coloured word.
std::string html_result(std::string_view word);

}  // namespace btf::report
