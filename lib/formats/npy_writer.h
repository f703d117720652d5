// NumPy's .npy as it is written, with 4-bit codes that take a byte each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "btf/dtype.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/io/output.h"

namespace btf {

// 4-bit codes that take a byte each in a file, as a stream with two in a byte, and back.

// From byte `first` on, `count` bytes of the source become half as many. A byte that is no code of
// the dtype is an error (finding nibble-byte) when it is read: two codes in a byte are known so.
// The source outlives the result.
std::unique_ptr<ByteSource> packed_source(const ByteSource& source, std::uint64_t first,
                                          std::uint64_t count, DType dtype);

// The other way round: what is written from byte `first` on takes two bytes of the sink for one,
// `count` in all. The sink outlives the result and is not committed by it.
std::unique_ptr<ByteSink> spread_sink(ByteSink& sink, std::uint64_t first, std::uint64_t count);

// The .npy form of an array, by itself or as a member of a .npz.

// Row-major arrays only.
Status check_npy_record(const RecordShape& record);

// As NumPy writes it, to the byte.
std::string npy_header_text(const RecordShape& record, bool as_uint);

// 4-bit codes take a byte each.
std::uint64_t npy_data_bytes(const RecordShape& record);

}  // namespace btf
