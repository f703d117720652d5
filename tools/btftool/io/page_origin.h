// How the pages of this run came to be.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/report/page_origin.h"

namespace btftool {

// A command as it is typed into a shell.
std::string command_line(std::string_view command, std::span<const std::string> options,
                         std::span<const std::string> operands);

// The origin of what a command line makes. add_inputs() comes next, then take_given_date().
btf::PageOrigin page_origin(std::string command);

// $SOURCE_DATE_EPOCH
void take_given_date(btf::PageOrigin& origin);

}  // namespace btftool
