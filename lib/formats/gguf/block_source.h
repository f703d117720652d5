// Blocks of codes as the float32 numbers that they stand for.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/gguf/types.h"
#include "formats/io/byte_source.h"

namespace btf {

// The blocks begin at byte `first` of the source, which outlives the result, and have `elements`
// elements in all, which fill them. Read anywhere: a block is decoded if a byte of it is wanted.
std::unique_ptr<ByteSource> block_source(const ByteSource& source, std::uint64_t first,
                                         std::uint64_t elements, const GgmlType& type);

}  // namespace btf
