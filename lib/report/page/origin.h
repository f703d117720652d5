// The line at the top of a page: what made it, by which command, of which inputs.
#pragma once

#include <string>

#include "btf/report/page_origin.h"

namespace btf::report {

// `name` stands for a program that is not known: "btftool diff".
std::string html_origin(const PageOrigin& origin, std::string_view name);

}  // namespace btf::report
