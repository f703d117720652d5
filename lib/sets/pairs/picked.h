// The selection out of pairs whose sides have different names: a name of either side stands for the
// pair, a number is one of actual.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/tensor_set.h"

namespace btf {

class Picked {
 public:
  // An error: neither side has the tensor of an item. Single files of a set may lack it.
  static Result<Picked> of(const std::string& text, const TensorSet& actual,
                           const TensorSet& golden, bool of_sets = false);

  bool has(const std::optional<SetTensor>& actual, const std::optional<SetTensor>& golden) const;

 private:
  using Tensors = std::vector<SetTensor>;  // sorted

  struct Side {
    Tensors taken;
    Tensors left_out;
  };

  Side actual_;
  Side golden_;
  bool all_but_ = true;  // nothing is taken, so all is that is not left out
};

}  // namespace btf
