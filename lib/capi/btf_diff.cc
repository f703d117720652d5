// Comparing.
#include <algorithm>
#include <cmath>

#include "btf/diff.h"
#include "btf/try.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

Result<DiffOptions> diff_options(const btf_diff_options* from) {
  BTF_ASSIGN(const btf_diff_options options, given(from));
  if (!(options.rtol >= 0 && options.atol >= 0)) return wrong("a tolerance is negative or NaN");
  DiffOptions diff;
  if (options.rtol > 0) diff.tolerance.rtol = options.rtol;
  if (options.atol > 0) diff.tolerance.atol = options.atol;
  diff.tolerance.equal_nan = options.nan_differs == 0;
  diff.strict = options.strict != 0;
  if (options.actual_tensors != nullptr)
    diff.actual_tensors.emplace(options.actual_tensors,
                                options.actual_tensors + options.actual_count);
  if (options.golden_tensors != nullptr)
    diff.golden_tensors.emplace(options.golden_tensors,
                                options.golden_tensors + options.golden_count);
  // Nothing of what these find is handed out.
  diff.details = diff.hints = false;
  diff.execution.jobs = options.jobs;
  return diff;
}

void add(btf_file& actual, const TensorDiff& pair, btf_diff_result& total) {
  if (pair.result != DiffResult::same && total.different++ == 0) {
    total.first = total.tensors;
    actual.reason = pair.reason;
  }
  ++total.tensors;
  total.compared += pair.compared;
  total.mismatched += pair.mismatched;
  total.max_abs = std::max(total.max_abs, pair.max_abs);
  total.max_rel = std::max(total.max_rel, pair.max_rel);
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                    btf_diff_result* result) {
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return wrong("no golden file");
    if (result == nullptr) return wrong("no room for the result");
    BTF_TRY(can_give(result));
    BTF_ASSIGN(const btf::DiffOptions diff, diff_options(options));
    btf_diff_result total{};
    actual->reason.clear();
    BTF_ASSIGN(const bool same,
               btf::diff(actual->file, golden->file, diff,
                         [&](const btf::TensorDiff& pair) { add(*actual, pair, total); }));
    total.same = same ? 1 : 0;
    total.reason = actual->reason.c_str();
    return give(result, total);
  });
}
}
