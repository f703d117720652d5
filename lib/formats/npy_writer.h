// Writing NumPy's .npy, and 4-bit codes with one byte each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "btf/dtype.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {

// Packs 4-bit codes that have a byte each: from byte `first` on, `count` bytes of the source become
// half as many. A byte that is not a code of the dtype is an error (finding nibble-byte) when it is
// read, since it probably holds two codes. The source must outlive the result.
std::unique_ptr<ByteSource> packed_source(const ByteSource& source, std::uint64_t first,
                                          std::uint64_t count, DType dtype);

// The reverse: bytes written from `first` on become two bytes of the sink each, `count` in all. The
// sink must outlive the result and is not committed by it.
std::unique_ptr<ByteSink> spread_sink(ByteSink& sink, std::uint64_t first, std::uint64_t count);

// The .npy form of an array, by itself or as a member of a .npz.

// An error if the record is not a row-major array.
Status check_npy_record(const RecordShape& record);

// Byte for byte as NumPy writes it.
std::string npy_header_text(const RecordShape& record, bool as_uint);

// 4-bit codes take a byte each.
std::uint64_t npy_data_bytes(const RecordShape& record);

}  // namespace btf
