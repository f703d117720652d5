// zstd from front to back: whatever has no seek table, and what cannot seek.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "formats/io/spool.h"

namespace btf::zstd {

// The next compressed bytes, as many as there are up to the size of `out`; 0: the end.
using Pull = std::function<Result<std::size_t>(std::span<std::byte> out)>;

// An upper bound of the content, by headers alone; nothing: it is not known.
using Capacity = std::function<Result<std::optional<std::uint64_t>>()>;

// The bound of a whole file: its frames' sizes, or the most that blocks hold. Nothing: a bad frame.
Result<std::optional<std::uint64_t>> most_content(const ByteSource& file);

struct Unpacked {
  Spool content;
  bool more_follows = false;  // it is of no known kind: the beginning is enough to say so
};

// The content of all frames in a file without a name. Stops at more content than can be wanted (see
// content_bound.h), when that is less than it takes, and before the file system is full.
Result<Unpacked> unpack(const Pull& pull, std::optional<std::uint64_t> expected,
                        const Capacity& capacity = {});

}  // namespace btf::zstd
