// Is a name there twice? Of names that stay in a file, however many and long they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

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
