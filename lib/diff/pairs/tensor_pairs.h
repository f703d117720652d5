// Which tensor of one file is compared with which of the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "btf/diff.h"
#include "sets/names/names.h"

namespace btf {

// True if pairs are made by names. An error: names were requested and are missing or unreadable.
Result<bool> pairs_by_name(const TensorFile& actual, const TensorFile& golden,
                           const DiffOptions& options);

DiffTensor tensor_of(const TensorInfo& record);

// The report of a tensor that only one side has.
TensorDiff missing_tensor(const TensorInfo& tensor, bool of_golden, std::string note);

class TensorPairs {
 public:
  using Selection = std::optional<std::vector<std::uint64_t>>;

  // The tensors to pair in each file; nothing: all. Selections are of these or of others.
  struct Candidates {
    Selection actual;
    Selection golden;
  };

  static Result<TensorPairs> of(const TensorFile& actual, const TensorFile& golden,
                                const DiffOptions& options, const Candidates& candidates);

  std::uint64_t size() const;
  TensorPair at(std::uint64_t number) const;
  // Numbers of the pairs that are chosen; without `pick` all.
  Result<std::vector<std::uint64_t>> pick(const PickTensors& pick) const;
  const MapUse& map() const { return map_; }

 private:
  // One side's tensors: those selected, or all.
  struct Side {
    const TensorFile* file = nullptr;
    Selection selected;

    std::uint64_t count() const { return selected ? selected->size() : file->tensor_count(); }
    std::uint64_t at(std::uint64_t i) const { return selected ? (*selected)[i] : i; }
    Result<std::vector<std::string>> names() const;
    // Of those that have one.
    Result<std::vector<std::string>> own_names() const;
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
  bool as_large(std::uint64_t actual, std::uint64_t golden) const;
  Status note_close_names();
  Status put_in_order();

  Side actual_;
  Side golden_;
  MapUse map_;
  std::optional<std::vector<TensorPair>> by_name_;  // nothing: in their order
  std::unordered_set<std::string> replaced_;        // names on both sides that are not one tensor
};

}  // namespace btf
