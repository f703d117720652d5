// Which files are compared with each other.
#pragma once

#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "cli/options.h"
#include "diff/file_specs.h"
#include "diff/reports.h"

namespace btftool {

struct FilePairs {
  bool directories = false;  // both operands are, or one is an index
  bool index = false;        // golden is one: names in it are each of one tensor
  btf::TensorSet actual;
  btf::TensorSet golden;
  FileSpecs actual_specs;
  FileSpecs golden_specs;
  std::vector<btf::MemberPair> pairs;
  btf::MapUse map{};
  btf::SetScales actual_scales{};  // with --dequantize
  btf::SetScales golden_scales{};
  std::vector<std::string> idle_excludes{};  // globs of --exclude that match no file
  std::vector<FilePair> others{};            // beside the tensors; pairs of files, and single ones
};

btf::Result<FilePairs> find_pairs(const DiffCommand& command);

}  // namespace btftool
