// The pairs that options name: --pair, and --tensor of pairs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "formats/io/names.h"

namespace btf {

// By its path below the directory, or the end of that.
inline bool glob_matches_path(const std::string& glob, const std::string& path) {
  return glob_matches(glob, path) || glob_matches(glob, path.substr(path.rfind('/') + 1));
}

// By its name, or its path.
inline bool glob_matches(const std::string& glob, const SetMember& member) {
  return glob_matches(glob, member.name) || glob_matches_path(glob, member.place);
}

// The selection out of pairs whose sides have different names: a name of either side stands for the
// pair, a number is one of actual.

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

// The pairs given by --pair: which tensor of one side is compared with which of the other.

// The pairs given by --pair: which tensor of one side is compared with which of the other.

struct GivenPair {
  SetTensor actual;
  SetTensor golden;
};

// Do all words say numbers?
bool only_numbers(const std::vector<std::string>& words);

// The tensors of "0:3" or "conv1:fc", numbers and names of these sets.
Result<GivenPair> find_pair(const std::string& word, const TensorSet& actual,
                            const TensorSet& golden);
Result<std::vector<TensorPair>> find_pairs_of(const std::vector<std::string>& words,
                                              const TensorFile& actual, const TensorFile& golden);

// The tensor that a word names of one side, where that of the other is not known yet.
std::optional<SetTensor> side_of_pair(const std::string& word, const TensorSet& set,
                                      bool of_golden);

}  // namespace btf
