// When two numbers agree for a search, how a sentence calls that, and how likely chance is to make
// a sample agree.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diff/hints/evidence/search_context.h"
#include "diff/sides/rows.h"

namespace btf::hints {

// An explanation must be less likely by chance than 2^-50.
inline constexpr double kNeededBits = 50;

enum class TransformedSide : std::uint8_t { actual, golden };

// Elements of the sample as a hypothesis predicts them; unset where it predicts nothing.
using Predictions = std::vector<std::optional<long double>>;

// Returns true if `predicted` explains the mismatches of the sample, keeps the elements from
// anywhere right, and is better than chance after `hypotheses` attempts.
bool convincing(const SearchContext& context, TransformedSide side, const Predictions& mismatches,
                const Predictions& anywhere, double hypotheses);

// A quick look at a few points, `which` are indices of mismatches: does `predicted` explain them?
bool promising(const SearchContext& context, TransformedSide side,
               std::span<const std::size_t> which, const Predictions& predicted);

// A still quicker look: `predicted` has a prediction for each of the points and explains none.
bool hopeless(const SearchContext& context, TransformedSide side,
              std::span<const std::size_t> which, const Predictions& predicted);

// log2 of the number of ways to choose k out of n.
double log2_choices(double n, double k);

// The mismatches that remain when more is accepted than the user's tolerance. Rare ones do not
// occur in a sample of all mismatches.

struct Residue {
  std::uint64_t mismatched = 0;
  std::vector<std::uint64_t> sample;  // row-major numbers, ascending: all, or kHintSample of them
};

// Walks over all pairs once.
Result<Residue> residue_of(const HintInput& input, const Agreement& agreement);

// Counts distinct numbers (no NaN), up to kEnough.
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

// A bit for each pair of a run, beginning with the lowest of the first word; those after the last
// pair are 0.
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
  // Calls visit(i) for every bit that is set, in ascending order.
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

// agrees() for each of at most kPairRun pairs.
template <typename Real>
PairBits agreeing(const Real* actual, const Real* golden, std::uint64_t count,
                  const Agreement& agreement);

// accepted() for each of at most kPairRun pairs.
template <typename Real>
PairBits accepted_pairs(const Real* actual, const Real* golden, std::uint64_t count,
                        const Agreement& agreement);

// The rules of agreement with which causes are searched for.

// Accepts rounding to the coarser grid, and the noise of floats.
Judge close_judge(const HintInput& input);

// Accepts what the user accepts, and numbers that are equal once rounded to the coarser dtype.
Agreement strict_agreement(const Judge& judge, DType actual, DType golden);

// Whether the grid is inferred from the bits of a side instead of following from the two dtypes.
bool uses_inferred_grid(const Agreement& agreement);

// The strict rule first, then more lenient ones in ascending order of tolerance.
std::vector<Agreement> agreements(const HintInput& input, const Sample& sample);

}  // namespace btf::hints
