#include "shards/part_scan.h"

#include <fstream>
#include <system_error>
#include <utility>

#include "shards/digest.h"

namespace btf::shards {
namespace {

Error no_part(const std::string& why) {
  return {ErrorCode::malformed, "is not a part of btftool: " + why};
}

}  // namespace

Result<ScannedPart> scan_part(
    const std::string& path,
    const std::function<void(std::string_view line, std::uint64_t offset)>& take) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::unexpected(
        Error{ErrorCode::io, std::generic_category().message(errno)}.in_file(path));
  ScannedPart part;
  Digest digest;
  std::string line;
  for (std::uint64_t number = 1; std::getline(file, line); ++number) {
    if (file.eof()) break;  // a line without an end is torn
    if (number == 1) {
      auto head = read_head(line);
      if (!head) return std::unexpected(no_part(head.error().message).in_file(path));
      part.head = *std::move(head);
    } else if (part.tail) {
      part.trouble = "line " + std::to_string(number) + " is behind the end";
      break;
    } else if (const auto tail = read_tail(line)) {
      part.tail = tail;
      continue;
    } else if (number_of(line)) {
      take(line, part.whole);
    } else {
      part.trouble = "line " + std::to_string(number) + " is no item";
      break;
    }
    line += '\n';
    digest.bytes(line);
    part.whole += line.size();
  }
  if (file.bad()) return fail(ErrorCode::io, path + ": cannot be read");
  if (part.whole == 0) return std::unexpected(no_part("it has no whole line").in_file(path));
  part.digest = digest.hexadecimal();
  return part;
}

}  // namespace btf::shards
