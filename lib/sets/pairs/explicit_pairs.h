// Pairs that options name explicitly (--pair), and the selection of pairs (--tensor).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "formats/io/file_names.h"

namespace btf {

// Matches the path below the directory, or its last part.
inline bool glob_matches_path(const std::string& glob, const std::string& path) {
  return glob_matches(glob, path) || glob_matches(glob, path.substr(path.rfind('/') + 1));
}

// Matches the member's name or path.
inline bool glob_matches(const std::string& glob, const SetMember& member) {
  return glob_matches(glob, member.name) || glob_matches_path(glob, member.place);
}

// A selection of pairs whose sides may have different names. A name may be one of either side;
// numbers are those of actual.

class PairSelection {
 public:
  // An error if neither side has the tensor of an item; with `of_sets`, some files may lack a named
  // tensor.
  static Result<PairSelection> of(const std::string& text, const TensorSet& actual,
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
  bool all_but_ = true;  // only items to leave out: everything else is selected
};

// An explicit pair: a tensor of one side and the tensor of the other that it is compared with.

struct ExplicitPair {
  SetTensor actual;
  SetTensor golden;
};

// Returns true if all words consist of numbers.
bool only_numbers(const std::vector<std::string>& words);

// The tensors of "0:3" or "conv1:fc", which are numbers and names of these sets.
Result<ExplicitPair> find_pair(const std::string& word, const TensorSet& actual,
                               const TensorSet& golden);
Result<std::vector<TensorPair>> find_pairs_of(const std::vector<std::string>& words,
                                              const TensorFile& actual, const TensorFile& golden);

// The tensor that a word names on one side, when the other side is not known yet.
std::optional<SetTensor> side_of_pair(const std::string& word, const TensorSet& set,
                                      bool of_golden);

}  // namespace btf
