// The text of --help and --help-all, for a width.
#pragma once

#include <cstddef>
#include <string>

#include "help/program.h"

namespace btftool {

// The help of a command; of the program, if that is empty. `all`: every option of a command, else
// those that people use first.
std::string help_text(const Program& program, const std::string& command, bool all,
                      std::size_t columns);

}  // namespace btftool
