// The pairs of files and tensors that a comparison of two sets is of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "btf/set_diff.h"
#include "convert/file_conversion.h"
#include "sets/pairs/pairs.h"

namespace btf {

// The files of both sides, by their places.
std::vector<FilePair> pair_others(const TensorSet& actual, const TensorSet& golden,
                                  const MemberFilter& wanted);

// An error: they cannot be read.
Result<PairOutcome> compare_bytes(const FilePair& pair);

// Specs given by rules for files that do not describe themselves.

// Where the dims of a spec come from that leaves them out.
struct OtherSide {
  const TensorFile& file;
  const MemberPair& pair;
  std::optional<std::uint64_t> MemberPair::* tensor;  // of that side
  bool golden;
};

// A file of unknown format may be raw bytes; the other side's dims suggest specs. `member` is the
// option that takes such a spec.
Error with_likely_specs(Error error, std::uint64_t bytes,
                        const Result<std::shared_ptr<const TensorFile>>& other,
                        const std::string& member);

class FileSpecs {
 public:
  // Each member is opened as the last rule says whose glob matches it. An error: a glob matches
  // none.
  static Result<FileSpecs> apply(const SetDiffSide& side, TensorSet& set);

  // Does the member wait for dims of the other side?
  bool waits(std::uint64_t member, const TensorSet& set) const;
  // One that waits: is it text, which is a list where nobody says the dims?
  bool is_list(std::uint64_t member) const;
  // Gives it those of its partner there.
  Status complete(std::uint64_t member, TensorSet& set, const SetDiffOptions& options,
                  const OtherSide& other);
  // The error of a member whose partner waits too.
  Error no_dims(std::uint64_t member, const TensorSet& set) const;

 private:
  OpenOptions open_;
  std::map<std::uint64_t, SpecRule> waiting_;  // by member
};

// The pairs of files and tensors that a comparison of two sets is of.

struct FilePairs {
  bool several = false;  // false: two files
  FileSpecs actual_specs{};
  FileSpecs golden_specs{};
  std::vector<MemberPair> pairs{};
  MapUse map{};
  SetScales actual_scales{};  // with `dequantize`
  SetScales golden_scales{};
  std::vector<std::string> idle_excludes{};  // globs that match no file
  std::vector<FilePair> others{};            // beside the tensors; pairs of files, and single ones
};

Result<FilePairs> find_pairs(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options);

}  // namespace btf
