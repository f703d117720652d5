// The parts of a footer of the help, by the words that its lines begin with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace btftool {

struct Footer {
  std::string text;
  std::string exit_status;
  std::vector<std::string> examples;
};

Footer parts_of(std::string_view footer);

}  // namespace btftool
