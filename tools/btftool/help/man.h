// Man pages in roff, of what --help says. They carry no date, so that the same tool gives the same
// page.
#pragma once

#include <string>

#include "help/program.h"

namespace btftool {

// btftool-diff.1 for "diff", one of its commands; btftool.1 for none.
std::string man_page(const Program& program, const std::string& command);

}  // namespace btftool
