// Zip on the wire. All numbers are little-endian; docs/formats.md says what is read of it.
//
//   FILE      = (local header, name, extra, data, [descriptor])*, directory entry*, end
//   end       = [zip64 end, zip64 locator], end record, comment
//   directory entry and local header say the same twice; what counts is the directory.
#pragma once

#include <cstddef>
#include <cstdint>

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
