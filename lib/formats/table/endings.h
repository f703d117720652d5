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

// Of no format of the table.
std::span<const FileEnding> other_endings();

// Of the name as it is; nothing: it says nothing.
std::optional<FileEnding> find_ending(std::string_view path);

// What the tensors of a file are called after: its path without known endings, and of what trtexec
// dumped the NAME in it.
std::string_view name_in_path(std::string_view path);

}  // namespace btf
