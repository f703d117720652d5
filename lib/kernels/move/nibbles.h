// 4-bit codes: two to a byte where they are stored, a byte each where kernels work.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

// Spreads and packs 4-bit codes. `first` and `count` are in elements; element 2k is the low nibble
// of byte k.
void unpack_nibbles(const std::byte* packed, std::uint64_t first, std::uint64_t count,
                    std::byte* codes);
void pack_nibbles(const std::byte* codes, std::uint64_t count, std::byte* packed);

}  // namespace btf
