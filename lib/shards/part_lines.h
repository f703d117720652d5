// The file of a part: its lines written, scanned and read back, and the digest of what decides a
// result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/part.h"

namespace btf {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void bytes(std::string_view bytes);
  // With its length, so that where one ends and the next begins counts.
  void text(std::string_view text);
  void number(std::uint64_t number);

  std::string hexadecimal() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::uint64_t hash_of(std::string_view text);
std::string hexadecimal_of(std::uint64_t hash);

}  // namespace btf

namespace btf::shards {

// The lines of a part: JSON of the head, of an item, of the end; and read back.

// The lines of a part: JSON of the head, of an item, of the end; and read back.

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

// A part read line by line, without parsing its items.

// A line has at most so many bytes, the head and each item: merge parses some of them at a time.
inline constexpr std::uint64_t kMaxLineBytes = std::uint64_t{64} << 20;

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
