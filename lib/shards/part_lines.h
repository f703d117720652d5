// The lines of a part: JSON of the head, of an item, of the end; and read back.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/shards/part.h"

namespace btf::shards {

inline constexpr std::string_view kPartSchema = "btftool/part/1";

struct PartTail {
  std::uint64_t items = 0;
  std::map<std::string, std::uint64_t> counts{};  // of these, by result
  std::string digest{};                           // of all bytes before it
  std::string results{};                          // of the items' results, in any order
};

std::string head_line(const PartHead& head);
std::string tail_line(const PartTail& tail);

Result<PartHead> read_head(std::string_view line);
Result<PartItem> read_item(std::string_view line);
// Nothing: the line is no end.
std::optional<PartTail> read_tail(std::string_view line);
// The number of an item; nothing: the line is none.
std::optional<std::uint64_t> number_of(std::string_view line);
// A hash of what was found, without times.
std::uint64_t results_of(std::string_view line);
// The files that an item names, in the order of its states.
std::vector<std::string> files_of(std::string_view line);

// "btftool diff --shard 3/7 --part part/3.jsonl out golden"
std::string shard_command(const PartHead& head, std::uint64_t shard, const std::string& part);

}  // namespace btf::shards
