// Tables of the page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace btf::report {

// `all`: rows that there are; more than kMostRows are said not to be listed.
std::string html_table(std::string_view head, const std::string& rows, std::size_t all,
                       std::string_view kind = "");

// Behind a line that has their number; a few are shown at once.
std::string html_folded(std::size_t count, std::string_view what, const std::string& table);

}  // namespace btf::report
