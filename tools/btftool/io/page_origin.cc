#include "io/page_origin.h"

#include <cstdlib>
#include <utility>

#include "io/text.h"

namespace btftool {

std::string command_line(std::string_view command, std::span<const std::string> options,
                         std::span<const std::string> operands) {
  std::string text = "btftool " + std::string(command);
  for (const std::string& option : options) text += " " + shell_word(option);
  for (const std::string& operand : operands)
    text += " " + (operand == "-" ? operand : shell_path(operand));
  return text;
}

btf::PageOrigin page_origin(std::string command) {
  return {.program = "btftool " BTFTOOL_VERSION, .command = std::move(command)};
}

void take_given_date(btf::PageOrigin& origin) {
  if (const char* const seconds = std::getenv("SOURCE_DATE_EPOCH")) origin.take_date(seconds);
}

}  // namespace btftool
