// Which tensors are compared, and by which tolerances.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "btf/diff.h"
#include "btf/tensor_set.h"
#include "cli/options.h"
#include "diff/picked.h"

namespace btftool {

// Of two directories: numbers hold for every file, names for the sets as a whole.
class NameSelection {
 public:
  // Nothing is selected by name. An error: no tensor of either side has a name that is asked for.
  static btf::Result<NameSelection> of(const DiffCommand& command, const btf::TensorSet& actual,
                                       const btf::TensorSet& golden,
                                       std::span<const btf::MemberPair> pairs);

  bool given() const { return given_; }
  // Narrows the lists of `options`, or sets its pair. False: nothing of the pair is left. What
  // cannot be opened might have anything.
  bool narrow(const btf::MemberPair& pair, btf::DiffOptions& options) const;

 private:
  using Selected = std::map<std::uint64_t, std::vector<std::uint64_t>>;  // by member

  static btf::Status select(const std::optional<std::string>& text, const btf::TensorSet& set,
                            Selected& selected, std::set<std::uint64_t>& unreadable);

  bool given_ = false;
  Selected actual_;
  Selected golden_;
  std::set<std::uint64_t> actual_unreadable_;  // members
  std::set<std::uint64_t> golden_unreadable_;
  std::optional<Picked> picked_;  // of pairs of tensors
};

class DiffSelection {
 public:
  explicit DiffSelection(const DiffCommand& command)
      : command_(command), used_(command.tensor_tolerances.size()) {}

  // Adds --tensor (unless that is done: lists that are there stay), --pair and the tolerances of
  // single tensors to `options`.
  btf::Status apply(const btf::TensorFile& actual, const btf::TensorFile& golden,
                    btf::DiffOptions& options);

  // An error if a tolerance was given for a tensor that none of the files applied to had.
  btf::Status check_used() const;

  // Of the files applied to last: what its lines were good for.
  const btf::MapUse& map() const { return map_; }

 private:
  btf::Result<bool> select_of_tiers(const btf::TensorFile& actual, const btf::TensorFile& golden,
                                    bool of_sets, btf::DiffOptions& options);
  btf::Status select_both(const btf::TensorFile& actual, const btf::TensorFile& golden,
                          btf::DiffOptions& options);
  btf::Status note_names(const btf::TensorFile& file,
                         const std::optional<std::vector<std::uint64_t>>& selected);
  btf::Status apply_tolerances(std::uint64_t tensors, btf::DiffOptions& options);

  const DiffCommand& command_;
  std::vector<bool> used_;
  btf::MapUse map_;
};

}  // namespace btftool
