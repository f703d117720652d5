// What rules say that files hold which do not say so themselves.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "btf/tensor_set.h"
#include "cli/options.h"

namespace btftool {

// Where the dims of a spec come from that leaves them out.
struct OtherSide {
  const btf::TensorFile& file;
  const btf::MemberPair& pair;
  std::optional<std::uint64_t> btf::MemberPair::* tensor;  // of that side
  bool golden;                                             // is it GOLDEN?
};

// What is no file of tensors may be raw bytes: of which sort, the other side's dims may tell.
// `option`: that such a spec is given by.
btf::Error with_likely_specs(btf::Error error, std::uint64_t bytes,
                             const btf::Result<std::shared_ptr<const btf::TensorFile>>& other,
                             const std::string& option);

class FileSpecs {
 public:
  // Each member is opened as the last rule says whose glob matches it. An error: a glob matches
  // none. `open` is what else is said of all files of that side.
  static btf::Result<FileSpecs> apply(const std::vector<SpecRule>& rules,
                                      const btf::OpenOptions& open, btf::TensorSet& set);

  // Does the member wait for dims of the other side?
  bool waits(std::uint64_t member, const btf::TensorSet& set) const;
  // One that waits: is it text, which is a list where nobody says the dims?
  bool is_list(std::uint64_t member) const;
  // Gives it those of its partner there.
  btf::Status complete(std::uint64_t member, btf::TensorSet& set, const DiffCommand& command,
                       const OtherSide& other);
  // The error of a member whose partner waits too.
  btf::Error no_dims(std::uint64_t member, const btf::TensorSet& set) const;

 private:
  btf::OpenOptions open_;
  std::map<std::uint64_t, SpecRule> waiting_;  // by member
};

}  // namespace btftool
