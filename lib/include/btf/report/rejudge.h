// Reports judged again by other criteria, without the tensors.
#pragma once

#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff.h"
#include "btf/diff/set_diff.h"
#include "btf/error.h"
#include "btf/report/report.h"

namespace btf {

struct RejudgeOptions {
  Tolerance tolerance{};
  Gates gates{};
  // Tolerances of single tensors, which take precedence. Tensors are counted from the front.
  std::vector<TensorTolerance> tensor_tolerances{};
};

// The finding of a pair's error where the report lacks a figure that decides.
inline constexpr std::string_view kUndecided = "undecided";

// Gives `sink` every pair with its tensors as they are judged now; found() is not called. A tensor
// that cannot be judged is left out, and its pair is trouble whose cause has the finding
// kUndecided. Mismatches of tensors that have another tolerance now are dropped. An error: a
// tolerance of single tensors is for none.
BTF_API Status rejudge(const SetDiffResult& report, const RejudgeOptions& options,
                       SetDiffSink& sink);

}  // namespace btf
