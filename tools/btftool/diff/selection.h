// Which tensors of a pair of files are compared, and by which tolerances.
#pragma once

#include <vector>

#include "btf/diff.h"
#include "cli/options.h"

namespace btftool {

class DiffSelection {
 public:
  explicit DiffSelection(const DiffCommand& command)
      : command_(command), used_(command.tensor_tolerances.size()) {}

  // Adds --tensor, --pair and the tolerances of single tensors to `options`.
  btf::Status apply(const btf::TensorFile& actual, const btf::TensorFile& golden,
                    btf::DiffOptions& options);

  // An error if a tolerance was given for a tensor that none of the files applied to had.
  btf::Status check_used() const;

 private:
  btf::Status apply_tolerances(std::uint64_t tensors, btf::DiffOptions& options);

  const DiffCommand& command_;
  std::vector<bool> used_;
};

}  // namespace btftool
