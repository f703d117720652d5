// validate() of what was opened otherwise than by a path, or could not be.
#pragma once

#include "btf/validate.h"

namespace btf {

Status validate_opened(const Result<TensorFile>& file, const FindingSink& report,
                       const Execution& execution, const ValidateChecks& checks = {});

}  // namespace btf
