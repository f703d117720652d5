// The table of file formats, and file extensions.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "formats/format.h"

namespace btf {

// File extensions of the formats in the table, and of files that have no tensors or are not read.
// Adding one of the latter is a row.

struct FileEnding {
  std::string_view ending;
  std::string_view title;        // describes such a file, with an article
  bool tensorless = false;       // has no tensors unless its contents say otherwise
  std::string_view format = {};  // format of outputs with this extension; empty if none
};

// Extensions that belong to no format of the table.
std::span<const FileEnding> other_endings();

// The extension of the name; unset if it is not a known one.
std::optional<FileEnding> find_ending(std::string_view path);

// The name that a path gives its tensors: the path without known extensions, or the tensor's name
// in file names of trtexec.
std::string_view name_in_path(std::string_view path);

// The file formats. docs/adding.md describes how to add one.

// In the order in which they are tried. BTF is last since it has no magic number.
std::span<const FormatRow> formats();

// The format of files that no other row recognizes, and of outputs without another choice.
const FormatRow& default_format();

const FormatRow& format_named(std::string_view name);

// The trait must belong to a single row.
const FormatRow& format_with(FormatTrait trait);

// Replaces the table; the rows must outlive all use. For a test that has its own format.
void replace_formats(std::span<const FormatRow> rows);

}  // namespace btf
