// From a path to its bytes, decompressed if need be.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "formats/io/byte_source.h"

namespace btf {

// "-" is stdin. What cannot seek is first copied, into memory if it is short, else to an unlinked
// file in $TMPDIR (or /tmp). zstd, known by its magic number, is decompressed: frame by frame as
// they are needed if the file has a seek table, else it is copied in the same way.
// `expected`: the size if the spec or the name of the file is right, or kUnlimited; nothing:
// its first bytes say how much is needed. No more is read of a pipe and of zstd (see
// content_bound.h).
Result<std::unique_ptr<ByteSource>> open_source(
    const std::string& path, std::optional<std::uint64_t> expected = std::nullopt);

// The same of bytes that are there already; `name` is for errors.
Result<std::unique_ptr<ByteSource>> unpacked_source(const std::string& name,
                                                    std::unique_ptr<ByteSource> bytes,
                                                    std::optional<std::uint64_t> expected);

// As open_source(), but nothing is decompressed, and of a pipe everything is read.
Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path);

}  // namespace btf
