// Small files as text.
#pragma once

#include <string>

#include "btf/error.h"

namespace btftool {

// All of a file; "-" is stdin.
btf::Result<std::string> read_text(const std::string& path);

}  // namespace btftool
