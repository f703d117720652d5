// Is a file well-formed, and where does it deviate?
#pragma once

#include <optional>
#include <string>

#include "btf/api.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/finding.h"
#include "btf/layout.h"

namespace btf {

// Checks beyond the format.
struct ValidateChecks {
  bool finite = false;                   // NaN and Inf among the elements are errors
  std::optional<Recipient> recipient{};  // tensors it cannot read are errors
};

// Reads the whole file, headers and elements, in bounded memory, and reports findings as they come.
// An error only for trouble with the file itself (missing, unreadable); a malformed file is a
// finding. "-" is stdin.
BTF_API Status validate(const std::string& path, const FindingSink& report,
                        const OpenOptions& options = {}, const Execution& execution = {},
                        const ValidateChecks& checks = {});

}  // namespace btf
