// Preparation of a pair of files before its tensors are compared: opening both, completing specs
// with dims, the options for this pair.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "btf/diff/set_diff.h"
#include "diff/sets/file_pairs.h"
#include "diff/sets/selection.h"

namespace btf {

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
