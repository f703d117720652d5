// The exit codes of every command, as diff(1) and cmp(1).
#pragma once

namespace btftool {

enum ExitCode : int {
  kSame = 0,       // fine, or the same
  kDifferent = 1,  // diff: they differ; validate: not well-formed
  kTrouble = 2,    // usage, I/O, malformed input, unsupported, nothing compared
};

}  // namespace btftool
