// The pairs of files and tensors that a comparison of two sets consists of.
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

// Pairs other files of both sides by their paths.
std::vector<FilePair> pair_others(const TensorSet& actual, const TensorSet& golden,
                                  const MemberFilter& wanted);

// Fails if they cannot be read.
Result<PairOutcome> compare_bytes(const FilePair& pair);

// The file of the other side from which a spec without dims takes them.
struct OtherSide {
  const TensorFile& file;
  const MemberPair& pair;
  std::optional<std::uint64_t> MemberPair::* tensor;  // of that other side
  bool golden;
};

// Adds specs that the size and the other side's dims suggest to the error for a file of unknown
// format, which may be raw bytes. `member` is the option for such a spec.
Error with_likely_specs(Error error, std::uint64_t bytes,
                        const Result<std::shared_ptr<const TensorFile>>& other,
                        const std::string& member);

// Specs given by rules for files that do not describe themselves.
class FileSpecs {
 public:
  // Each member is opened by the last rule whose glob matches it. Fails if a glob matches none.
  static Result<FileSpecs> apply(const SetDiffSide& side, TensorSet& set);

  // Whether the member needs dims from the other side.
  Result<bool> waits(std::uint64_t member, const TensorSet& set) const;
  // Whether a member that needs dims is text, which is a list if no dims are given.
  bool is_list(std::uint64_t member) const;
  // Gives the member the dims of its partner.
  Status complete(std::uint64_t member, TensorSet& set, const SetDiffOptions& options,
                  const OtherSide& other);
  // The error for a member whose partner needs dims too.
  Error no_dims(std::uint64_t member, const TensorSet& set) const;

 private:
  OpenOptions open_;
  std::map<std::uint64_t, SpecRule> waiting_;  // by member
};

struct FilePairs {
  bool several = false;  // false: two single files
  FileSpecs actual_specs{};
  FileSpecs golden_specs{};
  std::vector<MemberPair> pairs{};
  MapUse map{};
  SetScales actual_scales{};  // if `dequantize` is set
  SetScales golden_scales{};
  std::vector<std::string> idle_excludes{};  // globs that match no file
  std::vector<FilePair> others{};            // files without tensors, paired or on one side only
};

Result<FilePairs> find_pairs(TensorSet& actual, TensorSet& golden, const SetDiffOptions& options);

}  // namespace btf
