// How names of files end: those of the table of formats, and those of files that are no tensors or
// are not read. Adding one of the latter is a row.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace btf {

struct FileEnding {
  std::string_view ending;
  std::string_view title;        // of what has such a name, with an article
  bool tensorless = false;       // it holds none, unless what is in it says so
  std::string_view format = {};  // that is written under such a name; empty: none
};

// Extensions of no format of the table.
std::span<const FileEnding> other_endings();

// The extension of the name as it is; nothing: it has no known one.
std::optional<FileEnding> find_ending(std::string_view path);

// The name that a path gives its tensors: the path without known extensions; the NAME in those of
// trtexec's dumps.
std::string_view name_in_path(std::string_view path);

}  // namespace btf
