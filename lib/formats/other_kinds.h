// Files that are known and hold no tensors, or hold them in a way that is not read: they are called
// by their names instead of being misread.
#pragma once

#include <string_view>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

// An error that says what the file is, if it is one of these, by its first bytes or else by the end
// of its name.
Status refuse_other_kinds(const ByteSource& source, std::string_view path);

}  // namespace btf
