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

// The format of the request, else of its spec, else of its name (table/endings.h); BTF for others.
// A name with the extension of another format is refused, unless the request has a format.
Result<const FormatRow*> format_to_write(const WriteRequest& request);

}  // namespace btf
