// The options of diff. Only this folder includes it.
#pragma once

#include "cli/options.h"
#include "cli/support.h"

namespace btftool {

// The word for the axes of a bare --heatmap.
inline constexpr const char* kPickedAxes = "auto";

void declare_diff(CLI::App& app, DiffCommand& command);

// Which reports are made, and how; merge has these too.
void declare_reports(CLI::App& app, DiffCommand& command);
// Checks these.
void finish_reports(const CLI::App& app, const DiffCommand& command);

// Checks what only shows once everything is parsed, and takes the operands.
void finish_diff(const CLI::App& app, DiffCommand& command,
                 const std::vector<std::string>& operands);

// Those of pictures, which inspect has too.
void declare_picture(CLI::App& app, PictureCommand& command, const std::string& group);

}  // namespace btftool
