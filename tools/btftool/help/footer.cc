#include "help/footer.h"

#include <algorithm>

namespace btftool {

Footer parts_of(std::string_view footer) {
  Footer parts;
  std::string* target = &parts.text;
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t end = std::min(footer.find('\n', at), footer.size());
    std::string_view line = footer.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kExit = "Exit status: ";
    if (line == "Examples:" || line == "Example:") {
      target = nullptr;
    } else if (target == nullptr) {
      parts.examples.emplace_back(line.substr(std::min<std::size_t>(2, line.size())));
    } else {
      if (line.starts_with(kExit)) {
        target = &parts.exit_status;
        line.remove_prefix(kExit.size());
      }
      *target += (target->empty() ? "" : "\n") + std::string(line);
    }
  }
  return parts;
}

}  // namespace btftool
