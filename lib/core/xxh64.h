// XXH64, the checksum of zstd frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace btf {

// With seed 0.
std::uint64_t xxh64(std::span<const std::byte> bytes);

}  // namespace btf
