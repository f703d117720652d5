// Numbers of the zstd format and of its seekable form. All are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/little_endian.h"

namespace btf::zstd {

inline constexpr std::uint32_t kFrameMagic = 0xFD2FB528;
// 16 magic numbers, in the low four bits whatever the writer likes.
inline constexpr std::uint32_t kSkippableMagic = 0x184D2A50;
inline constexpr std::uint32_t kSeekTableMagic = 0x184D2A5E;  // of the skippable frame
inline constexpr std::uint32_t kSeekableMagic = 0x8F92EAB1;   // the last bytes of the file

inline constexpr std::uint64_t kSkippableHeader = 8;  // magic, bytes that follow
inline constexpr std::uint64_t kFooter = 9;           // frames, descriptor, magic
inline constexpr std::uint8_t kChecksumFlag = 0x80;
inline constexpr std::uint8_t kReservedBits = 0x7C;

constexpr std::uint64_t entry_bytes(bool checksums) { return checksums ? 12 : 8; }

// A bit of a frame header's descriptor, after the magic number.
inline constexpr unsigned kSingleSegmentBit = 0x20;
inline constexpr unsigned kChecksumBit = 0x04;

inline std::uint64_t little_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(bytes[i]);
  return value;
}

inline std::uint32_t load_u32(const std::byte* from) { return load_little<std::uint32_t>(from); }

inline void store_u32(std::byte* to, std::uint32_t value) { store_little(to, value); }

constexpr bool skippable(std::uint32_t magic) { return (magic & ~0xFU) == kSkippableMagic; }

inline constexpr std::size_t kMagicBytes = 4;

// Is it zstd, by its first bytes? A BTF file that began so would have 400 million tensors.
inline bool recognizes(std::span<const std::byte, kMagicBytes> start) {
  const std::uint32_t magic = load_u32(start.data());
  return magic == kFrameMagic || skippable(magic);
}

}  // namespace btf::zstd
