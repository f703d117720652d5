// The file of a part: writing, scanning and parsing its lines, and the digest of options and
// inputs.
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
  // Includes its length, so that boundaries between texts matter.
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

// The lines of a part: JSON of the head, of items, and of the end.

inline constexpr std::string_view kPartSchema = "btftool/part/1";

struct PartTail {
  std::uint64_t items = 0;
  std::map<std::string, std::uint64_t> counts{};  // number of items by result
  std::string digest{};                           // of all bytes before it
  std::string results{};  // of the items' results, independent of their order
};

std::string head_line(const PartHead& head);
std::string tail_line(const PartTail& tail);

Result<PartHead> read_head(std::string_view line);
Result<PartItem> read_item(std::string_view line);

// Unset if the line is not an end.
std::optional<PartTail> read_tail(std::string_view line);

// The number of an item; unset if the line is not an item.
std::optional<std::uint64_t> number_of(std::string_view line);

// A hash of the results without times.
std::uint64_t results_of(std::string_view line);

// The files of an item, in the order of its states.
std::vector<std::string> files_of(std::string_view line);

// "btftool diff --shard 3/7 --part part/3.jsonl out golden"
std::string shard_command(const PartHead& head, std::uint64_t shard, const std::string& part);

// Scans a part line by line without parsing its items.

// The maximal length of the head and of items, since merge parses several of them at a time.
inline constexpr std::uint64_t kMaxLineBytes = std::uint64_t{64} << 20;

struct ScannedPart {
  PartHead head{};
  std::uint64_t whole = 0;         // size of the complete lines: head and items
  std::optional<PartTail> tail{};  // unset if the part has no end
  std::string digest{};            // of the lines before the end
  std::string trouble{};           // describes the first line that does not belong in a part
};

// `take` receives the lines of items and their offsets. An error if the file cannot be read, is not
// a regular file (since a part is read twice), has no head, or has a line that is too long.
Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take);

}  // namespace btf::shards
