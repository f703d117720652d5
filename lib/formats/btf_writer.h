// Writing BTF: records, the name table, and attributes as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "btf/attributes.h"
#include "btf/error.h"
#include "core/numbers.h"
#include "formats/format.h"
#include "formats/io/byte_source.h"
#include "formats/json.h"

namespace btf {

// Parses the attributes of a BTF file, which are JSON. Errors are findings `names-attributes`.
Result<FileAttributes> read_attributes(const ByteSource& source, JsonExtent extent,
                                       std::uint64_t tensors);

// Canonical: equal attributes give equal bytes. Empty if there are no attributes.
std::string attributes_text(const FileAttributes& attributes);

// Writes the parts of a BTF file other than elements. The result is canonical: records in order,
// contiguous, each zero-padded to 8 bytes, reserved bytes zero.
// contiguous, each zero-padded to 8 bytes, reserved bytes zero.

// Size of a COO payload; unset if it does not fit 64 bits.
Checked coo_payload_bytes(std::uint64_t nnz, std::size_t rank, unsigned bits);

std::unique_ptr<TensorWriter> btf_writer();

}  // namespace btf
