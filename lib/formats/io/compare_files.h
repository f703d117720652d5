// Two files, byte for byte.
#pragma once

#include <cstdint>
#include <string>

#include "btf/error.h"

namespace btf {

// Which files end at the offset.
enum class FileEnd : std::uint8_t { both, neither, left, right };

struct ByteDifference {
  std::uint64_t offset = 0;  // of the first byte that differs
  FileEnd end = FileEnd::both;
};

// An error names the file that cannot be read.
Result<ByteDifference> compare_files(const std::string& left, const std::string& right);

}  // namespace btf
