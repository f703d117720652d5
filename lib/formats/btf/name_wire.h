// The name table on the wire: what its reader and its writer share. docs/format.md is the text.
//
//   TABLE  = magic, u32 version, u32 flags, u64 num_tensors, u64 name bytes, u64 attribute bytes,
//   u64 0,
//            u32 name_end[num_tensors], names, attributes, zeros to a multiple of 8, FOOTER
//   FOOTER = u64 bytes of the table, u64 XXH64 of all before it, magic
#pragma once

#include <cstdint>
#include <string_view>

#include "core/checked_math.h"
#include "formats/btf/wire.h"

namespace btf::wire {

inline constexpr std::string_view kNamesBegin =
    "\x89"
    "BTFN\r\n\x1a";
inline constexpr std::string_view kNamesEnd =
    "\x89"
    "BTFE\r\n\x1a";

inline constexpr std::uint32_t kNamesVersion = 1;
inline constexpr std::uint64_t kNamesHeader = 48;
inline constexpr std::uint64_t kNamesFooter = 24;
inline constexpr std::uint64_t kNameEnd = 4;  // bytes of an entry of name_end
inline constexpr std::uint64_t kLeastNames = kNamesHeader + kNamesFooter;

inline constexpr std::uint64_t kLongestName = 65535;  // bytes
inline constexpr std::uint64_t kMostNameBytes = UINT32_MAX;
inline constexpr std::uint64_t kMostAttributeBytes = std::uint64_t{64} << 20;
inline constexpr std::uint64_t kMostTableBytes = std::uint64_t{8} << 30;

// Size of a whole table; nullopt if it is longer than a table may be.
inline Checked name_table_bytes(std::uint64_t tensors, std::uint64_t names,
                                std::uint64_t attributes) {
  if (names > kMostNameBytes || attributes > kMostAttributeBytes) return {};
  const Checked ends = checked_mul(tensors, kNameEnd);
  const Checked content = checked_add(checked_add(ends, kNamesHeader), names + attributes);
  const Checked bytes = checked_add(round_up(content, kWord), kNamesFooter);
  return bytes && *bytes <= kMostTableBytes ? bytes : Checked();
}

}  // namespace btf::wire
