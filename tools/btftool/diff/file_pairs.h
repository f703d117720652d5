// Which files are compared with each other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/error.h"
#include "cli/options.h"
#include "diff/reports/report.h"

namespace btftool {

struct Candidate {
  FilePair files;
  // Why it cannot be compared: below a directory there may be what is no file, or cannot be read.
  std::optional<btf::Error> error{};
};

struct FilePairs {
  bool directories = false;  // both operands are
  std::vector<Candidate> pairs;
};

btf::Result<FilePairs> find_pairs(const DiffCommand& command);

}  // namespace btftool
