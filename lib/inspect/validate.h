// Checks of a file: its elements, its frames, and what the program that it is made for takes.
#pragma once

#include "btf/file.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"

namespace btf {

// Oddities in the elements of a record of any format: padding that is not zero, bools
// that are neither 0 nor 1, COO indices out of range or twice.

// Reads the payload in bounded memory. At most one finding of a kind per record.
Status check_payload(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                     const Execution& execution, const ValidateChecks& checks = {});

// validate() of what was opened otherwise than by a path, or could not be.

Status validate_opened(const Result<TensorFile>& file, const FindingSink& report,
                       const Execution& execution, const ValidateChecks& checks = {});

}  // namespace btf
