// Pairs the tensors of two files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "btf/diff.h"
#include "sets/names/name_keys.h"

namespace btf {

// True if tensors are paired by name. Fails if names were requested but are missing or unreadable.
Result<bool> pairs_by_name(const TensorFile& actual, const TensorFile& golden,
                           const DiffOptions& options);

DiffTensor tensor_of(const TensorInfo& record);

// The report of a tensor that only one side has.
TensorDiff missing_tensor(const TensorInfo& tensor, bool of_golden, std::string note);

class TensorPairs {
 public:
  using Selection = std::optional<std::vector<std::uint64_t>>;

  // The tensors of each file that may be paired; unset: all. A selection may include others.
  struct Candidates {
    Selection actual;
    Selection golden;
  };

  static Result<TensorPairs> of(const TensorFile& actual, const TensorFile& golden,
                                const DiffOptions& options, const Candidates& candidates);

  std::uint64_t size() const;
  TensorPair at(std::uint64_t number) const;
  // Numbers of the pairs that `pick` chooses; all if it is unset.
  Result<std::vector<std::uint64_t>> pick(const PickTensors& pick) const;
  const MapUse& map() const { return map_; }

 private:
  // One side's tensors: the selected ones, or all.
  struct Side {
    const TensorFile* file = nullptr;
    Selection selected;

    std::uint64_t count() const { return selected ? selected->size() : file->tensor_count(); }
    std::uint64_t at(std::uint64_t i) const { return selected ? (*selected)[i] : i; }
    Result<std::vector<std::string>> names() const;
    // Without tensors that have no name.
    Result<std::vector<std::string>> nonempty_names() const;
  };

  static Result<bool> any_equal(const Side& actual, const Side& golden);
  Status pair_by_tiers(const DiffOptions& options, const Candidates& candidates);
  static void pair_without_names(const Side& actual, const Side& golden,
                                 const std::vector<std::string>& left,
                                 const std::vector<std::string>& right, const MayMatch& may,
                                 std::vector<NamePair>& pairs);
  void keep_selected(const DiffOptions& options);
  Status pair_by_name(bool only_actual);
  Status pair_rest(const Candidates& candidates);
  bool same_size(std::uint64_t actual, std::uint64_t golden) const;
  Status note_close_names();
  Status sort_pairs();

  Side actual_;
  Side golden_;
  MapUse map_;
  std::optional<std::vector<TensorPair>> by_name_;  // unset: paired in order
  std::unordered_set<std::string> replaced_;        // names on both sides that are not one tensor
};

}  // namespace btf
