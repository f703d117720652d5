// Checks that no output overwrites a file that the command reads, nor another output.
#pragma once

#include <string>
#include <vector>

#include "btf/error.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

// Compares every output of a command with all files that it will read, by device and inode:
// operands, files in directories, files that options name, external data of models. Must be called
// before anything is read; an error names both files. Only OUT of convert and repair may be one of
// the operands, which is replaced once OUT is complete. `out` is abandoned if standard output is a
// file that is read. `merged` is the command whose parts are merged, if there is one.
btf::Status check_files_apart(const Command& command, Output& out, const Command* merged = nullptr);

// Returns the files that outputs of a conversion to a directory must not overwrite. Their names are
// only known later.
std::vector<std::string> reserved_files(const ConvertCommand& convert);

}  // namespace btftool
