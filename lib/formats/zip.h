// The zip format. All numbers are little-endian; docs/formats.md describes what is read.
//
//   FILE      = (local header, name, extra, data, [descriptor])*, directory entry*, end
//   end       = [zip64 end, zip64 locator], end record, comment
//   directory entries repeat the local headers and take precedence.
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

// Sizes without names, extra fields and comments.
inline constexpr std::uint64_t kLocalHeader = 30;
inline constexpr std::uint64_t kEntry = 46;
inline constexpr std::uint64_t kEnd = 22;
inline constexpr std::uint64_t kEnd64 = 56;
inline constexpr std::uint64_t kEnd64Head = 12;  // before the bytes that its size counts
inline constexpr std::uint64_t kLocator = 20;
inline constexpr std::uint64_t kLongestComment = 0xffff;

// Used instead of a number that is in the extra field or in the zip64 end.
inline constexpr std::uint16_t kElsewhere16 = 0xffff;
inline constexpr std::uint32_t kElsewhere32 = 0xffffffff;
inline constexpr std::uint16_t kZip64Extra = 1;

inline constexpr std::uint16_t kStored = 0;
inline constexpr std::uint16_t kDeflated = 8;

// Flag bits for encryption of the member or of its directory entry.
inline constexpr std::uint16_t kEncrypted = 1U << 0 | 1U << 6 | 1U << 13;
inline constexpr std::uint16_t kSizesAfterData = 1U << 3;  // the sizes follow the data
inline constexpr std::uint16_t kUtf8 = 1U << 11;           // of the name

}  // namespace btf::zip

namespace btf {

// The directory of a zip file: its members and their offsets. It alone describes members; local
// headers are only read to find the data (locate()).

struct ZipMember {
  std::uint64_t header_offset = 0;  // of the local header
  std::uint64_t limit = 0;          // where the next member or the directory begins
  std::uint64_t packed = 0;         // size in the file
  std::uint64_t size = 0;           // size of the content
  std::uint32_t crc = 0;            // of the content
  std::uint32_t name_begin = 0;
  std::uint16_t name_bytes = 0;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
};

class ZipDirectory {
 public:
  // Larger directories are refused, since a member takes about as much memory as in the directory.
  static constexpr std::uint64_t kMaxBytes = 64U << 20;

  // Returns true if the source begins like a zip file. If that could also be a long table of BTF
  // records, the end of a zip file is required too.
  static Result<bool> recognizes(const ByteSource& source);

  // Refuses duplicate names, members that share bytes, and contradictions.
  static Result<ZipDirectory> read(const ByteSource& source);

  // In the order of the directory.
  const std::vector<ZipMember>& members() const { return members_; }
  // The name as stored, which is a label and must never be used as a path.
  std::string_view name(const ZipMember& member) const {
    return std::string_view(names_).substr(member.name_begin, member.name_bytes);
  }
  // The number of the member with this name, if there is one.
  std::optional<std::size_t> find(std::string_view name) const;

 private:
  class Reader;

  std::vector<ZipMember> members_;
  std::vector<std::uint32_t> by_name_;
  std::string names_;
};

// The complete content of members, checked against their CRCs.

// A member, and where its packed bytes begin (locate()).
struct ZipPlace {
  const ByteSource& source;
  const ZipDirectory& directory;
  const ZipMember& member;
  std::uint64_t data_offset = 0;
};

using TakeBytes = std::function<Status(std::span<const std::byte>)>;

// An error, which names the member, if the CRC differs from the directory's.
Status check_crc(const ZipPlace& place, std::uint32_t crc);

// Passes the content to `take`, then returns an error if its size or CRC differs from the
// directory's.
Status read_content(const ZipPlace& place, const TakeBytes& take);

// The content of a deflated member.
Result<Spool> inflated(const ZipPlace& place);

// Finding and checking members.

// 'a/b' for messages, cut if it is too long.
std::string quoted_member(std::string_view name);

std::unexpected<Error> overlapping(std::string_view name, const ZipMember& member,
                                   const std::string& other);

// Finds where the packed bytes begin. Refuses members that cannot be read: encrypted, with another
// compression than deflate, with impossible sizes, or with the local header of another member.
Result<std::uint64_t> locate(const ByteSource& source, const ZipDirectory& directory,
                             const ZipMember& member);

// Reads the beginning of a deflated member, for callers that only need a header. Reading backwards
// restarts inflating, and the CRC is not checked.
std::unique_ptr<ByteSource> member_beginning(const ByteSource& source, const ZipMember& member,
                                             std::uint64_t data_offset);

}  // namespace btf
