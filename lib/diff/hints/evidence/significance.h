// Could it be chance? A hypothesis replaces the values of one side; this measures on the sample how
// well they agree with the other side, and how surprising that is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "diff/hints/evidence/inquiry.h"

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

}  // namespace btf::hints
