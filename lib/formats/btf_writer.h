// Writes the parts of a BTF file that are not elements. The result is canonical: records in order,
// contiguous, each zero-padded to 8 bytes, reserved bytes zero.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "btf/layout.h"
#include "core/checked_math.h"
#include "formats/byte_sink.h"

namespace btf {

// What a record says of itself before its payload.
struct RecordShape {
  std::uint8_t dtype_code = 0;
  std::uint8_t layout_code = 0;
  Dims dims;
};

// Bytes of the record with its padding; nothing if they do not fit 64 bits.
Checked record_bytes(std::size_t rank, Checked payload_bytes);

// Bytes of a COO payload; nothing if they do not fit 64 bits.
Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits);

// The header and the table; `records` are the sizes of all records, one after the other.
Status write_offset_table(ByteSink& sink, std::span<const std::uint64_t> records);

// The record's header and dims at `offset`; returns where the payload begins.
Result<std::uint64_t> write_record_header(ByteSink& sink, std::uint64_t offset,
                                          const RecordShape& record);

// Zeros from `offset` to the next multiple of 8.
Status write_padding(ByteSink& sink, std::uint64_t offset);

}  // namespace btf
