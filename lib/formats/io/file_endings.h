// How names of files end, and what that says. Adding one is a row.
#pragma once

#include <span>
#include <string_view>

namespace btf {

struct FileEnding {
  std::string_view ending;
  std::string_view title;   // of what has such a name, with an article
  std::string_view format;  // that is written under such a name; empty: none of this library's
  bool tensorless = false;  // it holds none, unless what is in it says so
};

std::span<const FileEnding> file_endings();

// Of what is compressed, behind that of what is in it.
inline constexpr std::string_view kCompressedEnding = ".zst";

// Of the name as it is; nullptr: it says nothing.
const FileEnding* find_ending(std::string_view path);

// "x.npy.zst" -> "x.npy": a compressed file is named after what is in it.
bool ends_as_compressed(std::string_view path);
std::string_view content_name(std::string_view path);

// What the tensors of a file are called after: its path without known endings, and of what trtexec
// dumped the NAME in it.
std::string_view name_in_path(std::string_view path);

// In any case.
bool ends_in(std::string_view path, std::string_view ending);

}  // namespace btf
