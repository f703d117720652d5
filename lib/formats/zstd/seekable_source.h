// The content of a seekable zstd file: a read decompresses the frames that hold it and no others.
#pragma once

#include <memory>
#include <string>

#include "formats/io/byte_source.h"
#include "formats/zstd/seek_table.h"

namespace btf::zstd {

// Larger ones are not kept in memory: such a file is read front to back.
inline constexpr std::uint32_t kLargestFrame = 8U << 20;

// `table` is that of `file`, and has no frame above kLargestFrame. `name` is for errors.
std::unique_ptr<ByteSource> seekable_source(std::string name, std::unique_ptr<ByteSource> file,
                                            SeekTable table);

}  // namespace btf::zstd
