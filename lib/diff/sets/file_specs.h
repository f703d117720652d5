// Specs given by rules for files that do not describe themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "btf/diff/set_diff.h"
#include "sets/pairs/pairs.h"

namespace btf {

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

}  // namespace btf
