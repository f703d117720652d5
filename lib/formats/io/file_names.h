// File names: globs as in the shell (but `*` matches slashes too), extensions of compressed files,
// and duplicate names.
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

inline bool glob_matches(const std::string& glob, const std::string& name) {
  return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
}

// The spec of the last rule whose glob matches the name; nullptr if none does.
inline const TensorSpec* spec_by_name(std::span<const NamedSpec> rules, const std::string& name) {
  for (const NamedSpec& rule : rules | std::views::reverse)
    if (glob_matches(rule.glob, name)) return &rule.spec;
  return nullptr;
}

// The extension of compressed files, which follows that of the content.
inline constexpr std::string_view kCompressedEnding = ".zst";

// Ignores upper and lower case.
inline bool ends_in(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         same_name(ending, path.substr(path.size() - ending.size()));
}

inline bool ends_as_compressed(std::string_view path) { return ends_in(path, kCompressedEnding); }

// "x.npy.zst" -> "x.npy": a compressed file is named after its content.
inline std::string_view content_name(std::string_view path) {
  if (ends_as_compressed(path)) path.remove_suffix(kCompressedEnding.size());
  return path;
}

// Finds duplicate names that remain in a file, however many and long they are.

struct NamePlace {
  std::uint64_t at = 0;  // offset of its first byte
  std::uint64_t bytes = 0;
};

Result<std::string> name_at(const ByteSource& source, const NamePlace& place);

// The numbers of two equal names; of several such pairs the one whose second number is lowest.
// Needs 16 bytes of memory per name.
Result<std::optional<std::pair<std::uint64_t, std::uint64_t>>> find_same_names(
    const ByteSource& source, std::span<const NamePlace> names);

}  // namespace btf
