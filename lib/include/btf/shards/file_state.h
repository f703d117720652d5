// How a file was when it was looked at: does what was read of it still hold?
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "btf/api.h"

namespace btf {

struct FileState {
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileState&) const = default;

  // Nothing: there is none.
  BTF_API static std::optional<FileState> of(const std::string& path);
};

}  // namespace btf
