// The file formats. Adding one is a folder with its reader and a row (docs/adding.md).
#pragma once

#include <span>
#include <string_view>

#include "formats/interface/format.h"

namespace btf {

// In the order in which they are asked whether they recognize a file; BTF, which has no magic
// number, is the last.
std::span<const FormatRow> formats();

// The format of files that no other row recognizes, and of outputs without another choice.
const FormatRow& default_format();

const FormatRow& format_named(std::string_view name);

// The only row of its kind.
const FormatRow& format_with(FormatTrait trait);

// Other rows in place of these, which outlive all use: for a test that has a format of its own.
void replace_formats(std::span<const FormatRow> rows);

}  // namespace btf
