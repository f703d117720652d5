// From a path to bytes, the choice of formats of inputs and outputs, and opened files.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/io/byte_source.h"

namespace btf {

// The size according to the spec or the name, for files without a header.
std::optional<std::uint64_t> expected_bytes(const OpenRequest& request);

// The first row that recognizes the source. BTF is last since it has no magic number.
Result<const FormatRow*> recognize_format(const ByteSource& source, const OpenRequest& request);

// The format of the request, else of its spec, else of its name; BTF for other names. Refuses a
// name with the extension of another format, unless the request has a format.
Result<const FormatRow*> format_to_write(const WriteRequest& request);

// Opens a path as bytes, decompressed if necessary.

// "-" is stdin. Inputs that cannot seek are copied first, into memory if they are short, else to an
// unlinked file in $TMPDIR (or /tmp). zstd is recognised by its magic number and decompressed:
// frame by frame on demand if the file has a seek table, else by a copy. `expected` is the size
// according to the spec or the name, or kUnlimited; if unset, the first bytes tell how much is
// needed. No more than that is read of a pipe or of zstd (see ContentBound).
Result<std::unique_ptr<ByteSource>> open_source(
    const std::string& path, std::optional<std::uint64_t> expected = std::nullopt);

// The same for bytes that are already there; `name` is for errors.
Result<std::unique_ptr<ByteSource>> unpacked_source(const std::string& name,
                                                    std::unique_ptr<ByteSource> bytes,
                                                    std::optional<std::uint64_t> expected);

// nullptr if there is no such file, or this user cannot reach it.
Result<std::unique_ptr<ByteSource>> open_if_there(const std::string& path);
// Like open_source(), but decompresses nothing, and reads all of a pipe.
Result<std::unique_ptr<ByteSource>> open_packed_source(const std::string& path);

}  // namespace btf
