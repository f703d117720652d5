// The option parser's declarations as data.
#pragma once

#include <CLI/CLI.hpp>

#include "help/program.h"

namespace btftool {

Program declared(const CLI::App& app);

}  // namespace btftool
