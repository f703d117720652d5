// Preparation of a pair of files before its tensors are compared: opening both, completing specs
// with dims, the options for this pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "btf/set_diff.h"
#include "diff/sets/file_pairs.h"
#include "sets/pairs/given_pairs.h"
#include "sets/pairs/pairs.h"

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

// Preparation of a pair of files before its tensors are compared: opening both, completing specs
// with dims, the options for this pair.

struct PreparedPair {
  std::shared_ptr<const TensorFile> actual;
  std::shared_ptr<const TensorFile> golden;
  DiffOptions options;
  FilePair files{};  // as it is reported

  std::uint64_t bytes() const { return std::max(actual->size(), golden->size()); }
};

class PairPreparation {
 public:
  PairPreparation(TensorSet& actual, TensorSet& golden, const SetDiffOptions& asked,
                  FilePairs& found)
      : actual_(actual), golden_(golden), asked_(asked), found_(found), selection_(asked) {}

  // For several files, before the first pair: an error if a selected name matches nothing, or a
  // tolerance for single tensors has no tensor.
  Status check_selection();
  // An error: no line of it pairs anything.
  Status check_map(const MapUse& use) const;

  // Is anything of the pair selected? Narrows the options to it.
  bool narrow(const MemberPair& pair, DiffOptions& options) const {
    return names_.narrow(pair, options);
  }
  // Trouble that shows without opening anything.
  const Error* trouble(const MemberPair& pair) const;
  Result<PreparedPair> prepare(const MemberPair& pair, DiffOptions options);
  // The use that the pair prepared last made of the map.
  const MapUse& map() const { return selection_.map(); }

 private:
  using File = std::shared_ptr<const TensorFile>;
  using Selected = std::optional<std::vector<std::uint64_t>>;

  Status complete_specs(const MemberPair& pair);
  Status take_scales(const MemberPair& pair, DiffOptions& options) const;
  static std::optional<std::uint64_t> only(const TensorFile& file, const Selected& selected);
  bool several(const TensorFile& actual, const TensorFile& golden,
               const DiffOptions& options) const;
  Status check_axes(const TensorFile& actual, const TensorFile& golden,
                    const DiffOptions& options) const;

  TensorSet& actual_;
  TensorSet& golden_;
  const SetDiffOptions& asked_;
  FilePairs& found_;
  NameSelection names_;
  DiffSelection selection_;
};

}  // namespace btf
