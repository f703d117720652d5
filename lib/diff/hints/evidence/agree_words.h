// Agreement of the pairs of a run, a word of bits at a time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "diff/hints/evidence/agreement.h"
#include "diff/pairs/rows.h"

namespace btf::hints {

// A bit for each pair of a run, from the lowest of the first word on; those behind the last are 0.
struct PairBits {
  std::array<std::uint64_t, kPairRun / 64> words{};

  bool operator[](std::uint64_t i) const { return (words[i / 64] >> i % 64 & 1) != 0; }
  static PairBits first(std::uint64_t count) {
    PairBits bits;
    for (std::size_t w = 0; w * 64 < count; ++w)
      bits.words[w] = count - w * 64 >= 64 ? ~0ULL : (1ULL << (count - w * 64)) - 1;
    return bits;
  }
  void set(std::uint64_t i) { words[i / 64] |= std::uint64_t{1} << i % 64; }
  PairBits& operator&=(const PairBits& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= other.words[w];
    return *this;
  }
  PairBits& operator|=(const PairBits& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] |= other.words[w];
    return *this;
  }
  void take_out(const PairBits& other) {
    for (std::size_t w = 0; w < words.size(); ++w) words[w] &= ~other.words[w];
  }
  // visit(i), ascending
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t w = 0; w < words.size(); ++w)
      for (std::uint64_t left = words[w]; left != 0; left &= left - 1)
        visit(w * 64 + static_cast<std::uint64_t>(std::countr_zero(left)));
  }
  std::uint64_t count() const {
    std::uint64_t all = 0;
    for (const std::uint64_t word : words) all += static_cast<std::uint64_t>(std::popcount(word));
    return all;
  }
};

// As agrees() says of each of at most kPairRun pairs.
template <typename Real>
PairBits agreeing(const Real* actual, const Real* golden, std::uint64_t count,
                  const Agreement& agreement);

// Likewise as accepted() says.
template <typename Real>
PairBits accepted_pairs(const Real* actual, const Real* golden, std::uint64_t count,
                        const Agreement& agreement);

}  // namespace btf::hints
