// Reads BTF.
#pragma once

#include "formats/format_table.h"

namespace btf {

bool recognizes_btf(const ByteSource& source, const OpenRequest& request);
Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source,
                                               const OpenRequest& request);

}  // namespace btf
