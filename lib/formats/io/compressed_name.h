// Names of files: their ends, and that of compression behind them.
#pragma once

#include <string_view>

#include "core/names.h"

namespace btf {

// The extension of compressed files, after that of the content.
inline constexpr std::string_view kCompressedEnding = ".zst";

// In any case.
inline bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         same_name(ending, path.substr(path.size() - ending.size()));
}

inline bool ends_as_compressed(std::string_view path) { return ends_in(path, kCompressedEnding); }

// "x.npy.zst" -> "x.npy": a compressed file is named after what is in it.
inline std::string_view content_name(std::string_view path) {
  if (ends_as_compressed(path)) path.remove_suffix(kCompressedEnding.size());
  return path;
}

}  // namespace btf
