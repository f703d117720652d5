// A choice among all pairs of two sets: what the caller may choose among, and what it chose.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/diff/set_diff.h"
#include "diff/sets/file_pairs.h"
#include "diff/sets/pair_preparation.h"

namespace btf {

// What is chosen of a pair: all of it, as the item `number`, or some of its tensors.
struct ChosenPair {
  struct Tensor {
    std::uint64_t tensor = 0;
    std::uint64_t number = 0;  // of the item
  };
  std::uint64_t number = 0;
  std::vector<Tensor> tensors{};
};

class PickedPairs {
 public:
  PickedPairs(const TensorSet& actual, const TensorSet& golden, const SetDiffOptions& asked,
              FilePairs& found)
      : actual_(actual), golden_(golden), asked_(asked), found_(found) {}

  // Leaves the pairs that the options' `pick` chooses. `options`: those of each pair.
  Status choose(PairPreparation& preparation, const DiffOptions& options);
  // The choice of `pair`, which is one of those that are left.
  const ChosenPair& of(const MemberPair& pair) const;

 private:
  PlannedPair planned(const MemberPair& pair) const;
  std::vector<PlannedTensor> tensors_of(const MemberPair& pair, PairPreparation& preparation,
                                        DiffOptions options) const;

  const TensorSet& actual_;
  const TensorSet& golden_;
  const SetDiffOptions& asked_;
  FilePairs& found_;
  std::vector<ChosenPair> chosen_;  // of the pairs
};

}  // namespace btf
