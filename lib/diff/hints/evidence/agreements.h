// When two numbers agree for a search, how that is said, and how likely chance is to make a sample
// agree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diff/hints/evidence/inquiry.h"
#include "diff/pairs/rows.h"

namespace btf::hints {

// Chance must explain no more than 2^-50 of it.
inline constexpr double kNeededBits = 50;

enum class MovedSide : std::uint8_t { actual, golden };

// One element of the sample under a hypothesis; nothing where it says nothing.
using Moved = std::vector<std::optional<long double>>;

// True if `moved` explains the mismatches of the sample, keeps the elements from anywhere right,
// and does so by more than chance. `hypotheses`: how many were tried.
bool convincing(const Inquiry& inquiry, MovedSide side, const Moved& mismatches,
                const Moved& anywhere, double hypotheses);

// A quick look at a few: does `moved` explain the points `which` of the mismatches?
bool promising(const Inquiry& inquiry, MovedSide side, std::span<const std::size_t> which,
               const Moved& moved);

// A quicker one: it explains none of these, and says something of all.
bool hopeless(const Inquiry& inquiry, MovedSide side, std::span<const std::size_t> which,
              const Moved& moved);

// log2 of the number of ways to choose k out of n.
double log2_choices(double n, double k);

// The mismatches that are left where more is accepted than the user does: rare ones are not met in
// a sample of all.

struct Residue {
  std::uint64_t mismatched = 0;
  std::vector<std::uint64_t> sample;  // row-major numbers, ascending: all, or kHintSample of them
};

// One walk over all pairs.
Result<Residue> residue_of(const HintInput& input, const Agreement& agreement);

// Counts different numbers up to a limit.

// Takes numbers until there are kEnough different ones. No NaN.
template <std::size_t kEnough>
class DistinctNumbers {
 public:
  void add(long double number) {
    const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(count_);
    if (!enough() && std::find(numbers_.begin(), end, number) == end) numbers_[count_++] = number;
  }
  bool enough() const { return count_ == kEnough; }

 private:
  std::array<long double, kEnough> numbers_{};
  std::size_t count_ = 0;
};

// Agreement of the pairs of a run, a word of bits at a time.

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

// The meanings of agreement that causes are looked for with.

// The meanings of agreement that causes are looked for with.

// Accepts errors of rounding to the coarser grid, and the noise of floats.
Judge close_judge(const HintInput& input);

// By what the user accepts, and what is the same number once both are rounded to the coarser dtype.
Agreement strict_agreement(const Judge& judge, DType actual, DType golden);

// Not by the grid of the two dtypes, but by one that the bits of a side show.
bool by_shown_grid(const Agreement& agreement);

// The strict one first; then what also accepts more, the narrower before the wider.
std::vector<Agreement> agreements(const HintInput& input, const Sample& sample);

}  // namespace btf::hints
