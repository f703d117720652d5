// No output takes the place of a file that a run reads, nor of another output.
#pragma once

#include <string>
#include <vector>

#include "btf/error.h"
#include "cli/support.h"
#include "io/context.h"

namespace btftool {

// Compares every output of a command with all that it will read, by device and inode: operands,
// files below operands that are directories, files that options name, external data of models. To
// be asked before anything is read; an error names both. Only OUT of a conversion or repair may be
// an operand of it, which is replaced once OUT is whole. `out`: standard output, which gets nothing
// any more if it is an input itself. `merged`: the command whose parts are merged, if that is
// done.
btf::Status check_files_apart(const Command& command, Output& out, const Command* merged = nullptr);

// Of a conversion to a directory, whose outputs get their names later: files that are not to be
// one.
std::vector<std::string> reserved_files(const ConvertCommand& convert);

}  // namespace btftool
