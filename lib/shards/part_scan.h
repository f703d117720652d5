// A part read line by line, without parsing its items.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "btf/shards/part.h"
#include "shards/part_lines.h"

namespace btf::shards {

struct ScannedPart {
  PartHead head{};
  std::uint64_t whole = 0;         // bytes of whole lines: head and items
  std::optional<PartTail> tail{};  // nothing: the part has no end
  std::string digest{};            // of the lines before the end
  std::string trouble{};           // the first line that is none of a part
};

// `take` gets the lines of items and their offsets. An error: it cannot be read, or has no head.
Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take);

}  // namespace btf::shards
