// Numbers of a text as the elements of a dtype.
#pragma once

#include <cstdint>

#include "btf/dtype.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/spool.h"

namespace btf {

// As many as there were when they were counted. Each is rounded once, from its decimal digits; one
// that the dtype does not hold is an error with its line and column.
Result<Spool> read_text_values(const ByteSource& source, DType dtype, std::uint64_t count);

}  // namespace btf
