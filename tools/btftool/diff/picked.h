// What --tensor picks out of pairs whose sides have different names: a name of either side stands
// for the pair, a number is one of ACTUAL.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"

namespace btftool {

class Picked {
 public:
  // An error: neither side has what an item names. Of files of sets that have it, they may not.
  static btf::Result<Picked> of(const std::string& text, const btf::TensorSet& actual,
                                const btf::TensorSet& golden, bool of_sets = false);

  bool has(const std::optional<btf::SetTensor>& actual,
           const std::optional<btf::SetTensor>& golden) const;

 private:
  using Tensors = std::vector<btf::SetTensor>;  // sorted

  struct Side {
    Tensors taken;
    Tensors left_out;
  };

  Side actual_;
  Side golden_;
  bool all_but_ = true;  // nothing is taken, so all is that is not left out
};

}  // namespace btftool
