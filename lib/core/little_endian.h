// Numbers as files have them, little-endian, wherever they stand.
#pragma once

#include <cstddef>
#include <cstdint>

namespace btf {

template <typename Unsigned>
constexpr Unsigned load_little(const std::byte* from) {
  Unsigned value = 0;
  for (unsigned i = 0; i < sizeof(Unsigned); ++i)
    value = static_cast<Unsigned>(value | std::to_integer<Unsigned>(from[i]) << (8 * i));
  return value;
}

template <typename Unsigned>
constexpr void store_little(std::byte* to, Unsigned value) {
  for (unsigned i = 0; i < sizeof(Unsigned); ++i)
    to[i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

}  // namespace btf
