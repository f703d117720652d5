// The parts that the HTML pages of all reports share.
#pragma once

#include <string>
#include <string_view>

namespace btf::report {

std::string_view html_style();

// "different" and the like as a coloured word.
std::string html_result(std::string_view word);

}  // namespace btf::report
