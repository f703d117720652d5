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

// A line has at most so many bytes, the head and each item: merge parses some of them at a time.
inline constexpr std::uint64_t kMostLineBytes = std::uint64_t{64} << 20;

struct ScannedPart {
  PartHead head{};
  std::uint64_t whole = 0;         // bytes of whole lines: head and items
  std::optional<PartTail> tail{};  // nothing: the part has no end
  std::string digest{};            // of the lines before the end
  std::string trouble{};           // the first line that is none of a part
};

// `take` gets the lines of items and their offsets. An error: it cannot be read, is no regular file
// (a part is read twice), has no head, or a line that is too long.
Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take);

}  // namespace btf::shards
