// The pairs given by --pair: which tensor of one side is compared with which of the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"

namespace btf {

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
