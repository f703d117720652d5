// Which tensors are compared, and by which tolerances.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "btf/diff/set_diff.h"
#include "sets/pairs/pairs.h"
#include "sets/pairs/picked.h"

namespace btf {

// Selection in two directories: numbers apply to every file, names to the sets as a whole.
class NameSelection {
 public:
  // Nothing is selected by name. An error: a requested name is on neither side.
  static Result<NameSelection> of(const SetDiffOptions& asked, const TensorSet& actual,
                                  const TensorSet& golden, std::span<const MemberPair> pairs);

  bool given() const { return given_; }
  // Narrows the lists of `options`, or sets its pair. False: nothing of the pair is left. What
  // cannot be opened might have anything.
  bool narrow(const MemberPair& pair, DiffOptions& options) const;

 private:
  using Selected = std::map<std::uint64_t, std::vector<std::uint64_t>>;  // by member

  static Status select(const std::optional<std::string>& text, const TensorSet& set,
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
  explicit DiffSelection(const SetDiffOptions& asked)
      : asked_(asked), used_(asked.tensor_tolerances.size()) {}

  // Adds the selection (unless lists are there), given pairs and tolerances of single tensors to
  // `options`.
  Status apply(const TensorFile& actual, const TensorFile& golden, DiffOptions& options);

  // An error if a tolerance was given for a tensor that none of the files applied to had.
  Status check_used() const;

  // Use of the map's lines by the files it was last applied to.
  const MapUse& map() const { return map_; }

 private:
  Result<bool> select_of_tiers(const TensorFile& actual, const TensorFile& golden, bool of_sets,
                               DiffOptions& options);
  Status select_both(const TensorFile& actual, const TensorFile& golden, DiffOptions& options);
  Status note_names(const TensorFile& file,
                    const std::optional<std::vector<std::uint64_t>>& selected);
  Status apply_tolerances(std::uint64_t tensors, DiffOptions& options);

  const SetDiffOptions& asked_;
  std::vector<bool> used_;
  MapUse map_;
};

}  // namespace btf
