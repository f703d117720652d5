// The options of fit. Only this folder includes it.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/support.h"

namespace btftool {

void declare_fit(CLI::App& app, FitCommand& command);

// Checks what only shows once everything is parsed. Throws Wrong.
void finish_fit(const CLI::App& app, FitCommand& command, const std::vector<std::string>& operands);

}  // namespace btftool
