// Which row of the table of formats a file is of, and which an output is to be.
#pragma once

#include <optional>
#include <string_view>

#include "formats/interface/format.h"

namespace btf {

// By the spec or the name, of a file whose first bytes say nothing.
std::optional<std::uint64_t> expected_bytes(const OpenRequest& request);

// The first row that recognizes the source; BTF, which has no magic number, is the last.
Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request);

// What was said, else by the spec and then by the name (table/endings.h); BTF for all others. A
// name that says something else than what would be written is refused, unless the format was said.
Result<const FormatRow*> format_to_write(const WriteRequest& request);

}  // namespace btf
