// Which files are compared with each other.
#pragma once

#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "cli/options.h"

namespace btftool {

struct FilePairs {
  bool directories = false;  // both operands are
  btf::TensorSet actual;
  btf::TensorSet golden;
  std::vector<btf::MemberPair> pairs;
};

btf::Result<FilePairs> find_pairs(const DiffCommand& command);

}  // namespace btftool
