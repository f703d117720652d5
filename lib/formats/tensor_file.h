// A path to its bytes, the format of a file and of an output, and the file opened.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/io/byte_source.h"

namespace btf {

// Which row of the table of formats a file is of, and which an output is to be.

// By the spec or the name, of a file whose first bytes say nothing.
std::optional<std::uint64_t> expected_bytes(const OpenRequest& request);

// The first row that recognizes the source; BTF, which has no magic number, is the last.
Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request);

// The format of the request, else of its spec, else of its name (table/endings.h); BTF for others.
// A name with the extension of another format is refused, unless the request has a format.
Result<const FormatRow*> format_to_write(const WriteRequest& request);

// From a path to its bytes, decompressed if need be.

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
