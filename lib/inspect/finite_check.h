// NaN and Inf among the elements of a record.
#pragma once

#include "btf/file.h"
#include "btf/validate.h"
#include "formats/io/byte_source.h"

namespace btf {

// Reports how many there are of each, with the logical index of the first. Reads the payload in
// bounded memory; the indices of a COO record must be known to be sound.
Status check_finite(const ByteSource& source, const TensorInfo& record, const FindingSink& report,
                    const Execution& execution);

}  // namespace btf
