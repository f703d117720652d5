// Every frame of a compressed file, read and checked; also of what nobody else looks at.
#pragma once

#include <cstdint>
#include <vector>

#include "btf/execution.h"
#include "btf/file.h"
#include "btf/validate.h"

namespace btf {

// Knows the other findings, so that nothing is reported twice. The file outlives it.
class FrameFindings {
 public:
  explicit FrameFindings(const TensorFile& file);

  // For all findings about the file before run(). False: the tensor has that finding already.
  bool note(const Finding& finding);

  // Reports each tensor that has bytes in a damaged frame, unless that was noted; and a damaged
  // frame in which there are none.
  Status run(const FindingSink& report, const Execution& execution);

 private:
  Result<std::vector<bool>> find_damaged(const Execution& execution) const;

  const TensorFile& file_;
  std::vector<bool> told_;            // tensors; empty: the file has no frames
  std::vector<std::uint64_t> known_;  // where damaged frames begin that were noted
};

}  // namespace btf
