// Sources of which something is known besides their path, and what they know besides their bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "formats/byte_source.h"

namespace btf {

// As open_source(). `told`: so many bytes are there if what was said of the file is right, or
// kNobodyKnows; nothing: its first bytes say what can be wanted of it. Of a pipe and of zstd no more
// is read (see content_bound.h).
Result<std::unique_ptr<ByteSource>> open_told_source(const std::string& path,
                                                     std::optional<std::uint64_t> told);

// A pipe whose end was not waited for: more follows than can be wanted, and size() is what was read
// of it.
bool goes_on(const ByteSource& source);

}  // namespace btf
