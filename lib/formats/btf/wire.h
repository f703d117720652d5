// BTF on the wire: what the reader and the writer share. docs/format.md is the text.
//
//   FILE   = u64 num_tensors, u64 record_offset[num_tensors], record*
//   record = u64 rank, u8 dtype, u8 layout, u8 reserved[6], u64 dims[rank], payload, padding
//   COO payload = u64 nnz, u64 rank, u64 indices[nnz][rank], u64 nnz, dtype values[nnz]
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/little_endian.h"

namespace btf::wire {

inline constexpr std::uint64_t kWord = 8;           // bytes; also the alignment of records
inline constexpr std::uint64_t kRecordHeader = 16;  // rank, dtype, layout, reserved

inline constexpr std::uint64_t kDTypeAt = 8;  // offsets within a record
inline constexpr std::uint64_t kLayoutAt = 9;
inline constexpr std::uint64_t kReservedAt = 10;

inline std::uint64_t load_u64(const std::byte* bytes) { return load_little<std::uint64_t>(bytes); }

inline void store_u64(std::byte* bytes, std::uint64_t value) { store_little(bytes, value); }

}  // namespace btf::wire
