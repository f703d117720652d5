// A report in a file of its own, which is whole or as it was before.
#pragma once

#include <string>
#include <string_view>

#include "btf/error.h"

namespace btftool {

// Can it be written, as far as that shows beforehand? Nothing is changed.
btf::Status check_report_file(const std::string& path);

// What is not a regular file (a pipe, /dev/stdout) is written in place. A symbolic link is
// followed.
btf::Status write_report_file(const std::string& path, std::string_view text);

}  // namespace btftool
