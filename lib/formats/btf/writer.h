// Writes the parts of a BTF file that are not elements. The result is canonical: records in order,
// contiguous, each zero-padded to 8 bytes, reserved bytes zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/checked_math.h"
#include "formats/interface/tensor_writer.h"

namespace btf {

// Bytes of a COO payload; nothing if they do not fit 64 bits.
Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits);

std::unique_ptr<TensorWriter> btf_writer();

}  // namespace btf
