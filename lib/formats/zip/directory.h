// The directory of a zip file: its members and their offsets. Only it describes members; local
// headers, which could be anything, are read for the offset of the data only (member.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf {

struct ZipMember {
  std::uint64_t header_offset = 0;  // of the local header
  std::uint64_t limit = 0;          // where the next member or the directory begins
  std::uint64_t packed = 0;         // bytes in the file
  std::uint64_t size = 0;           // bytes of its content
  std::uint32_t crc = 0;            // of the content
  std::uint32_t name_begin = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

class ZipDirectory {
 public:
  // Larger ones are refused: a member takes about as many bytes in memory as in the directory.
  static constexpr std::uint64_t kMostBytes = 64U << 20;

  // Does it begin as a zip file does? Where that could also be a long table of BTF records, only
  // with the end of a zip file.
  static Result<bool> recognizes(const ByteSource& source);

  // Refuses members with one name, with bytes in common, and whatever is not said in one way.
  static Result<ZipDirectory> read(const ByteSource& source);

  // In the order of the directory.
  const std::vector<ZipMember>& members() const { return members_; }
  // Bytes as they are there; a label, never a path.
  std::string_view name(const ZipMember& member) const {
    return std::string_view(names_).substr(member.name_begin, member.name_bytes);
  }
  // Its number, if there is one with this name.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  class Reader;

  std::vector<ZipMember> members_;
  std::vector<std::uint32_t> by_name_;
  std::string names_;
};

}  // namespace btf
