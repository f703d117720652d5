// Values of a trtexec output, out of its text.
#pragma once

#include "btf/dtype.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/spool.h"
#include "formats/trtexec/outputs.h"

namespace btf {

// As the elements of a row-major tensor of this dtype, 4-bit ones two in a byte. The number of
// values is that of the output.
Result<Spool> read_trtexec_values(const ByteSource& source, const TrtexecOutput& output,
                                  DType dtype);

}  // namespace btf
