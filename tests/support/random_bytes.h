// Memory for tests of kernels that move bytes.
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace btf::test {

// What nobody may write over.
inline constexpr std::byte kSentinel{0xa5};

using Bytes = std::vector<std::byte>;

inline Bytes random_bytes(std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

}  // namespace btf::test
