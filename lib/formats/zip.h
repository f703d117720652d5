// Zip on the wire. All numbers are little-endian; docs/formats.md says what is read of it.
//
//   FILE      = (local header, name, extra, data, [descriptor])*, directory entry*, end
//   end       = [zip64 end, zip64 locator], end record, comment
//   directory entry and local header say the same twice; what counts is the directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/error.h"
#include "formats/io/byte_source.h"

namespace btf::zip {

inline constexpr std::uint32_t kLocalMagic = 0x04034b50;  // "PK\3\4"
inline constexpr std::uint32_t kEntryMagic = 0x02014b50;
inline constexpr std::uint32_t kEndMagic = 0x06054b50;
inline constexpr std::uint32_t kEnd64Magic = 0x06064b50;
inline constexpr std::uint32_t kLocatorMagic = 0x07064b50;
inline constexpr std::uint32_t kDescriptorMagic = 0x08074b50;

// Bytes, without names, extra fields and comments.
inline constexpr std::uint64_t kLocalHeader = 30;
inline constexpr std::uint64_t kEntry = 46;
inline constexpr std::uint64_t kEnd = 22;
inline constexpr std::uint64_t kEnd64 = 56;
inline constexpr std::uint64_t kEnd64Head = 12;  // before what its size counts
inline constexpr std::uint64_t kLocator = 20;
inline constexpr std::uint64_t kLongestComment = 0xffff;

// Instead of a number that is in the extra field, or in the zip64 end.
inline constexpr std::uint16_t kElsewhere16 = 0xffff;
inline constexpr std::uint32_t kElsewhere32 = 0xffffffff;
inline constexpr std::uint16_t kZip64Extra = 1;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

// Bits of the flags: encrypted, by itself or with its directory entry hidden.
inline constexpr std::uint16_t kEncrypted = 1U << 0 | 1U << 6 | 1U << 13;
inline constexpr std::uint16_t kSizesBehind = 1U << 3;  // the local header does not know them
inline constexpr std::uint16_t kUtf8 = 1U << 11;        // of the name

}  // namespace btf::zip

namespace btf {

// The directory of a zip file: its members and their offsets. Only it describes members; local
// headers, which could be anything, are read for the offset of the data only (member.h).

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
  static constexpr std::uint64_t kMaxBytes = 64U << 20;

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

// The content of members, all of it: read from front to back and compared with its crc.

// A member of a file and where its packed bytes begin (locate()).
struct ZipPlace {
  const ByteSource& source;
  const ZipDirectory& directory;
  const ZipMember& member;
  std::uint64_t data_offset = 0;
};

using TakeBytes = std::function<Status(std::span<const std::byte>)>;

// An error, which names the member, if its content has another crc than the directory says.
Status check_crc(const ZipPlace& place, std::uint32_t crc);

// An error if its size or its crc are not what the directory says, after everything was handed out.
Status read_content(const ZipPlace& place, const TakeBytes& take);

// The content of a deflated member.
Result<Spool> inflated(const ZipPlace& place);

// A member of a zip file: where its bytes are, and whether they are what the directory says.

// 'a/b' for messages, cut where it is too long for one.
std::string quoted_member(std::string_view name);

std::unexpected<Error> overlapping(std::string_view name, const ZipMember& member,
                                   const std::string& other);

// Where the packed bytes begin. Refuses what cannot be read: encrypted, packed otherwise than by
// deflate, with sizes that cannot be, with a local header of another member.
Result<std::uint64_t> locate(const ByteSource& source, const ZipDirectory& directory,
                             const ZipMember& member);

// The content of a deflated member from its beginning, for whoever wants no more than a header:
// what is read anew from further in front is no more work, and nothing is compared with the crc.
std::unique_ptr<ByteSource> beginning_of(const ByteSource& source, const ZipMember& member,
                                         std::uint64_t data_offset);

}  // namespace btf
