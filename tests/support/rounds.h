// How long random tests go on, and from where: docs/testing.md, section 2.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

// Rounds [first, first + count) of a random test. BTF_ROUNDS says how many instead of `count`,
// BTF_SEED which: other seeds are other rounds.
struct Rounds {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  explicit Rounds(std::uint64_t usual)
      : first(number("BTF_SEED", 0) << 32), count(number("BTF_ROUNDS", usual)) {}

  std::uint64_t end() const { return first + count; }

 private:
  static std::uint64_t number(const char* name, std::uint64_t usual) {
    const char* text = std::getenv(name);
    return text != nullptr ? std::stoull(text) : usual;
  }
};
