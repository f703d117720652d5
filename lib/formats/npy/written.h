// The .npy form of an array, by itself or as a member of a .npz.
#pragma once

#include <cstdint>
#include <string>

#include "formats/interface/tensor_writer.h"

namespace btf {

// Row-major arrays only.
Status check_npy_record(const RecordShape& record);

// As NumPy writes it, to the byte.
std::string npy_header_text(const RecordShape& record, bool as_uint);

// 4-bit codes take a byte each.
std::uint64_t npy_data_bytes(const RecordShape& record);

}  // namespace btf
