// Reads BTF.
#pragma once

#include "formats/format_table.h"

namespace btf {

bool recognizes_btf(const ByteSource& source, std::string_view path);
Result<std::unique_ptr<TensorReader>> open_btf(const ByteSource& source);

}  // namespace btf
