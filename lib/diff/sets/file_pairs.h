// The pairs of files and tensors that a comparison of two sets is of.
#pragma once

#include <string>
#include <vector>

#include "btf/diff/set_diff.h"
#include "convert/set_scales.h"
#include "diff/sets/file_specs.h"
#include "sets/pairs/pairs.h"

namespace btf {

struct FilePairs {
  bool several = false;  // false: two files
  FileSpecs actual_specs{};
  FileSpecs golden_specs{};
  std::vector<MemberPair> pairs{};
  MapUse map{};
  SetScales actual_scales{};  // with `dequantize`
  SetScales golden_scales{};
  std::vector<std::string> idle_excludes{};  // globs that match no file
  std::vector<FilePair> others{};            // beside the tensors; pairs of files, and single ones
};

Result<FilePairs> find_pairs(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options);

}  // namespace btf
