// The look of the page of inspect, beside that of all pages, and what moves on it.
#pragma once

#include <string_view>

#include "report/page/page.h"

namespace btf::report {

std::string_view inspect_page_style();
std::string_view inspect_page_controls();  // search, filters, order
const PageScript& inspect_page_script();

}  // namespace btf::report
