// A report of `btftool diff --json`, read back.
#pragma once

#include <string>
#include <vector>

#include "btf/diff.h"
#include "diff/reports/report.h"

namespace btftool {

struct SavedPair {
  FilePair files;
  PairOutcome outcome;
  std::vector<btf::TensorDiff> tensors;
  std::vector<btf::TensorDiff> missing;  // of a file that only one side has
};

struct SavedReport {
  std::string actual;  // what was compared
  std::string golden;
  bool directories = false;
  std::vector<SavedPair> pairs;
};

// "-" is stdin. Whatever the file holds: the report or an error that names the member which is
// wrong.
btf::Result<SavedReport> read_saved_report(const std::string& path);
// Of the file's content.
btf::Result<SavedReport> parse_saved_report(const std::string& text);

}  // namespace btftool
