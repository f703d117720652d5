// The options of comparisons, and what is handed out of each pair.
#pragma once

#include "btf/btf.h"
#include "btf/diff.h"
#include "btf/diff/set_diff.h"
#include "btf/error.h"

namespace btf::capi {

struct DiffRequest {
  DiffOptions diff;
  btf_diff_report report = nullptr;
  void* user = nullptr;
};

Result<DiffRequest> request_of(const btf_diff_options* from);

// Calls the report, if there is one. `files`: of sets.
void hand_out(const TensorDiff& pair, const DiffRequest& request, const FilePair& files = {});

}  // namespace btf::capi
