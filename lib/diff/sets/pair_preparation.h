// Prepares a pair of files before its tensors are compared: opens both, completes specs with dims,
// and sets the options for the pair.
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
#include "sets/pairs/explicit_pairs.h"
#include "sets/pairs/pairs.h"

namespace btf {

// The selection of tensors in two directories: numbers apply to every file, names to the sets as a
// whole.
class NameSelection {
 public:
  // given() is false if nothing is selected by name. Fails if a requested name is on neither side.
  static Result<NameSelection> of(const SetDiffOptions& asked, const TensorSet& actual,
                                  const TensorSet& golden, std::span<const MemberPair> pairs);

  bool given() const { return given_; }
  // Narrows the lists of `options`, or sets its pair. Returns false if nothing of the pair is
  // selected. A file that cannot be opened might have anything, so its pair is kept.
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
  std::optional<PairSelection> picked_;  // for pairs of tensors
};

// Applies the selection, explicit pairs and tolerances of single tensors to the options of a pair
// of files.
class DiffSelection {
 public:
  explicit DiffSelection(const SetDiffOptions& asked)
      : requested_(asked), used_(asked.tensor_tolerances.size()) {}

  // Adds the selection (unless `options` has lists already), explicit pairs and tolerances of
  // single tensors to `options`.
  Status apply(const TensorFile& actual, const TensorFile& golden, DiffOptions& options);

  // Fails if a tolerance was given for a tensor that none of the files had.
  Status check_used() const;

  // How the files that apply() was last called for used the lines of the map.
  const MapUse& map() const { return map_; }

 private:
  Result<bool> select_of_tiers(const TensorFile& actual, const TensorFile& golden, bool of_sets,
                               DiffOptions& options);
  Status select_both(const TensorFile& actual, const TensorFile& golden, DiffOptions& options);
  Status note_names(const TensorFile& file,
                    const std::optional<std::vector<std::uint64_t>>& selected);
  Status apply_tolerances(std::uint64_t tensors, DiffOptions& options);

  const SetDiffOptions& requested_;
  std::vector<bool> used_;
  MapUse map_;
};

// A pair of files that is ready to be compared.
struct PreparedPair {
  std::shared_ptr<const TensorFile> actual;
  std::shared_ptr<const TensorFile> golden;
  DiffOptions options;
  FilePair files{};  // the pair as it is reported

  std::uint64_t bytes() const { return std::max(actual->size(), golden->size()); }
};

class PairPreparation {
 public:
  PairPreparation(TensorSet& actual, TensorSet& golden, const SetDiffOptions& asked,
                  FilePairs& found)
      : actual_(actual), golden_(golden), requested_(asked), found_(found), selection_(asked) {}

  // For several files, before the first pair. Fails if a selected name matches nothing, or a
  // tolerance for single tensors has no tensor.
  Status check_selection();
  // Fails if no line of the map pairs anything.
  Status check_map(const MapUse& use) const;

  // Narrows the options to what is selected of the pair; returns false if that is nothing.
  bool narrow(const MemberPair& pair, DiffOptions& options) const {
    return names_.narrow(pair, options);
  }
  // The error of a pair that is known without opening its files; nullptr if none.
  const Error* trouble(const MemberPair& pair) const;
  Result<PreparedPair> prepare(const MemberPair& pair, DiffOptions options);
  // How the pair that was prepared last used the map.
  const MapUse& map() const { return selection_.map(); }

 private:
  using File = std::shared_ptr<const TensorFile>;
  using Selected = std::optional<std::vector<std::uint64_t>>;

  Status complete_specs(const MemberPair& pair);
  Status use_scale_files(const MemberPair& pair, DiffOptions& options) const;
  static std::optional<std::uint64_t> only(const TensorFile& file, const Selected& selected);
  bool several(const TensorFile& actual, const TensorFile& golden,
               const DiffOptions& options) const;
  Status check_axes(const TensorFile& actual, const TensorFile& golden,
                    const DiffOptions& options) const;

  TensorSet& actual_;
  TensorSet& golden_;
  const SetDiffOptions& requested_;
  FilePairs& found_;
  NameSelection names_;
  DiffSelection selection_;
};

}  // namespace btf
