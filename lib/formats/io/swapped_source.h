// Big-endian elements as little-endian ones.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/io/byte_source.h"

namespace btf {

// From byte `first` to the end of the source, elements of `width` bytes (2, 4 or 8) are turned
// round as they are read. The source outlives the result.
std::unique_ptr<ByteSource> swapped_source(const ByteSource& source, std::uint64_t first,
                                           std::uint64_t width);

}  // namespace btf
