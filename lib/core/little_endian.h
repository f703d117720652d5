// Numbers as files have them, little-endian, wherever they stand.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace btf {

// By way of a copy, which becomes one load or store at any level of optimisation that is shipped; a
// loop over bytes does not.
template <typename Unsigned>
constexpr Unsigned load_little(const std::byte* from) {
  std::array<std::byte, sizeof(Unsigned)> bytes;
  std::copy_n(from, bytes.size(), bytes.begin());
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  return std::bit_cast<Unsigned>(bytes);
}

template <typename Unsigned>
constexpr void store_little(std::byte* to, Unsigned value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(Unsigned)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  std::ranges::copy(bytes, to);
}

}  // namespace btf
