// Which members of a zip file are arrays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/zip/directory.h"

namespace btf {

inline constexpr std::string_view kNpyEnding = ".npy";

struct NpzMembers {
  ZipDirectory directory;
  std::vector<std::uint32_t> arrays;   // numbers in the directory
  std::vector<std::uint32_t> skipped;  // the others

  const ZipMember& array(std::uint64_t index) const { return directory.members()[arrays[index]]; }
  // As the array is called: what NumPy put an ending behind.
  std::string name(std::uint64_t index) const;
};

// Refuses zip files of other programs, and those without arrays.
Result<NpzMembers> read_npz_members(const ByteSource& source);

}  // namespace btf
