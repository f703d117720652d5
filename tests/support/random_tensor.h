// Numbers and bytes that look random and are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // splitmix64
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }

 private:
  std::uint64_t state_;
};

inline std::vector<std::byte> random_bytes(std::uint64_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::byte> bytes(count);
  for (std::uint64_t i = 0; i < count; i += 8) {
    std::uint64_t word = random.next();
    for (std::uint64_t k = i; k < count && k < i + 8; ++k, word >>= 8)
      bytes[k] = static_cast<std::byte>(word);
  }
  return bytes;
}
