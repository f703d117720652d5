// argv to options. The only file that knows the option parser.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>

#include "cli/options.h"

namespace btftool {

// Requested text (--help, --version): to stdout, exit 0.
struct Information {
  std::function<std::string(std::size_t columns)> text;
};

// The fault of the command line, without the program's name, and the command whose help has more
// (empty: the program's own).
struct UsageError {
  std::string message;
  std::string command;
};

// Why the command's lists are none that its types have; empty: they are.
std::string trouble_of_lists(const FitCommand& command);

std::variant<Invocation, Information, UsageError> parse_command_line(int argc, char** argv);

}  // namespace btftool
