// Names of files: globs, as the shell has them (`*` matches slashes too), endings of compressed
// files, and equal names.
#pragma once

#include <fnmatch.h>

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "btf/error.h"
#include "btf/tensor_spec.h"
#include "core/names.h"
#include "formats/io/byte_source.h"

namespace btf {

// Names by globs, as the shell has them; `*` matches slashes too.

inline bool glob_matches(const std::string& glob, const std::string& name) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// The last rule whose glob matches the name; nullptr: none does.
inline const TensorSpec* spec_by_name(std::span<const NamedSpec> rules, const std::string& name) {
  for (const NamedSpec& rule : rules | std::views::reverse)
    if (glob_matches(rule.glob, name)) return &rule.spec;
  return nullptr;
}

// Names of files: their ends, and that of compression behind them.

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

// Is a name there twice? Of names that stay in a file, however many and long they are.

struct NamePlace {
  std::uint64_t at = 0;  // of its first byte
  std::uint64_t bytes = 0;
};

Result<std::string> name_at(const ByteSource& source, const NamePlace& place);

// Numbers of two that are the same, of several such pairs the one whose second comes first. Takes
// 16 bytes a name.
Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> find_same_names(
    const ByteSource& source, std::span<const NamePlace> names);

}  // namespace btf
