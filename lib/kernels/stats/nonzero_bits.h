// Which codes of a run are not zero.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

// Codes of 1, 2, 4 or 8 bytes. Bit i % 64 of word i / 64 is set where code i has a bit set; the
// bits behind the last code are 0. Returns how many are set.
std::uint64_t nonzero_bits(const std::byte* codes, std::uint64_t code_bytes, std::uint64_t count,
                           std::uint64_t* bits);

}  // namespace btf
