// Comparing two files, or two tensors in memory.
#include <algorithm>
#include <string>

#include "btf/diff.h"
#include "btf/try.h"
#include "capi/array.h"
#include "capi/diff_request.h"
#include "capi/handles.h"

namespace btf::capi {
namespace {

void take(const TensorDiff& pair, const DiffRequest& request, btf_diff_result& total,
          std::string& reason) {
  if (pair.result != DiffResult::same && total.different++ == 0) {
    total.first = total.tensors;
    reason = pair.error ? pair.error->text() : pair.reason;
  }
  ++total.tensors;
  total.compared += pair.compared;
  total.mismatched += pair.mismatched;
  total.max_abs = std::max(total.max_abs, pair.max_abs);
  total.max_rel = std::max(total.max_rel, pair.max_rel);
  total.max_ulp = std::max(total.max_ulp, pair.max_ulp);
  hand_out(pair, request);
}

Status give_result(btf_diff_result* result, btf_diff_result total, bool same,
                   const std::string& reason) {
  total.same = same ? 1 : 0;
  total.reason = reason.c_str();
  return give(result, total);
}

Status check_result(btf_diff_result* result) {
  if (result == nullptr) return wrong("no room for the result");
  return can_give(result);
}

}  // namespace
}  // namespace btf::capi

using namespace btf::capi;

extern "C" {

btf_status btf_diff(btf_file* actual, btf_file* golden, const btf_diff_options* options,
                    btf_diff_result* result) {
  return with_handle(actual, [&]() -> btf::Status {
    if (golden == nullptr) return wrong("no golden file");
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    btf_diff_result total{};
    actual->reason.clear();
    BTF_ASSIGN(const bool same, btf::diff(actual->file, golden->file, request.diff,
                                          [&](const btf::TensorDiff& pair) {
                                            take(pair, request, total, actual->reason);
                                          }));
    return give_result(result, total, same, actual->reason);
  });
}

btf_status btf_diff_arrays(const btf_array* actual, const btf_array* golden,
                           const btf_diff_options* options, btf_diff_result* result) {
  return guarded(nullptr, [&]() -> btf::Status {
    thread_local std::string reason;
    BTF_TRY(check_result(result));
    BTF_ASSIGN(const DiffRequest request, request_of(options));
    BTF_ASSIGN(const Array left, array_of(actual));
    BTF_ASSIGN(const Array right, array_of(golden));
    BTF_ASSIGN(const btf::TensorDiff pair, btf::diff(left.view, right.view, request.diff));
    btf_diff_result total{};
    reason.clear();
    take(pair, request, total, reason);
    return give_result(result, total, pair.result == btf::DiffResult::same, reason);
  });
}
}
