// Checks of a file: its elements, its frames, and whether a recipient can read it.
#pragma once

#include "btf/file.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"

namespace btf {

// Checks the elements of a record of any format: padding that is not zero, bools that are neither 0
// nor 1, COO indices that are out of range or repeated.

// Reads the payload in bounded memory. Reports at most one finding of a kind per record.
Status check_payload(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                     const Execution& execution, const ValidateChecks& checks = {});

// validate() for files that were not opened from a path, or could not be opened.

Status validate_opened(const Result<TensorFile>& file, const FindingSink& report,
                       const Execution& execution, const ValidateChecks& checks = {});

}  // namespace btf
