// What --pair says: which tensor of one side is compared with which of the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"

namespace btftool {

struct GivenPair {
  btf::SetTensor actual;
  btf::SetTensor golden;
};

// Do all words say numbers?
bool only_numbers(const std::vector<std::string>& words);

// The tensors of "0:3" or "conv1:fc", numbers and names of these sets.
btf::Result<GivenPair> find_pair(const std::string& word, const btf::TensorSet& actual,
                                 const btf::TensorSet& golden);
btf::Result<std::vector<btf::TensorPair>> find_pairs_of(const std::vector<std::string>& words,
                                                        const btf::TensorFile& actual,
                                                        const btf::TensorFile& golden);

// The tensor that a word names of one side, where that of the other is not known yet.
std::optional<btf::SetTensor> side_of_pair(const std::string& word, const btf::TensorSet& set,
                                           bool of_golden);

}  // namespace btftool
