#include "ops/hints/significance.h"

#include <algorithm>
#include <cmath>

namespace btf::hints {
namespace {

// A pair as it would be, and as it is.
struct Trial {
  long double moved = 0;
  long double stays = 0;   // the other side's
  long double before = 0;  // what `moved` replaces
  MovedSide side{};

  bool explained(const Agreement& agreement) const {
    return side == MovedSide::actual ? agrees(moved, stays, agreement)
                                     : agrees(stays, moved, agreement);
  }
  bool agreed_before(const Agreement& agreement) const {
    return side == MovedSide::actual ? agrees(before, stays, agreement)
                                     : agrees(stays, before, agreement);
  }
  // Is there a difference between what the hypothesis says and what is there?
  bool telling(const Agreement& agreement) const {
    return side == MovedSide::actual ? !agrees(before, moved, agreement)
                                     : !agrees(moved, before, agreement);
  }
};

Trial trial_of(MovedSide side, const Point& point, long double moved) {
  const bool actual = side == MovedSide::actual;
  return {moved, actual ? point.golden : point.actual, actual ? point.actual : point.golden, side};
}

bool same_number(long double a, long double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

bool few(std::size_t failures, std::size_t of) { return failures * 50 <= of; }

// How surprising it is that the other side's value meets its like, by how many of those that the
// hypothesis puts anywhere are like it.
double surprise(const Inquiry& inquiry, const Trial& trial, const Moved& anywhere) {
  std::size_t all = 0;
  std::size_t like = 0;
  Trial random = trial;
  for (const std::optional<long double>& moved : anywhere) {
    if (!moved) continue;
    random.moved = *moved;
    ++all;
    if (random.explained(inquiry.agreement)) ++like;
  }
  if (all == 0) return 0;
  return std::log2(static_cast<double>(all)) - std::log2(std::max(static_cast<double>(like), 0.5));
}

}  // namespace

bool promising(const Inquiry& inquiry, MovedSide side, std::span<const std::size_t> which,
               const Moved& moved) {
  std::size_t tried = 0;
  std::size_t failures = 0;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!moved[i]) continue;
    ++tried;
    const Trial trial = trial_of(side, inquiry.mismatches[which[i]], *moved[i]);
    if (!trial.explained(inquiry.agreement)) ++failures;
  }
  return tried * 2 >= which.size() && failures <= (tried >= 8 ? 1U : 0U);
}

bool convincing(const Inquiry& inquiry, MovedSide side, const Moved& mismatches,
                const Moved& anywhere, double hypotheses) {
  const Agreement& agreement = inquiry.agreement;
  std::size_t tried = 0;
  std::size_t explained = 0;
  std::size_t telling = 0;
  double bits = 0;
  std::optional<Trial> last;
  for (std::size_t i = 0; i < mismatches.size(); ++i) {
    if (!mismatches[i]) continue;
    ++tried;
    const Trial trial = trial_of(side, inquiry.mismatches[i], *mismatches[i]);
    if (!trial.explained(agreement)) continue;
    ++explained;
    if (trial.telling(agreement)) ++telling;
    // The same pair of numbers over and over, as in a constant block, says no more than once.
    if (last && same_number(last->moved, trial.moved) && same_number(last->stays, trial.stays) &&
        same_number(last->before, trial.before))
      continue;
    bits += surprise(inquiry, trial, anywhere);
    last = trial;
  }
  if (2 * tried < mismatches.size() || !few(tried - explained, tried)) return false;
  if (10 * telling < 9 * explained) return false;
  if (bits < kNeededBits + std::log2(std::max(hypotheses, 1.0))) return false;

  std::size_t checked = 0;
  std::size_t wrong = 0;
  std::size_t confirmed = 0;
  std::size_t undecided = 0;
  for (std::size_t i = 0; i < anywhere.size(); ++i) {
    if (!anywhere[i]) continue;
    ++checked;
    const Trial trial = trial_of(side, inquiry.anywhere[i], *anywhere[i]);
    if (!trial.explained(agreement)) ++wrong;
    if (!trial.explained(agreement) || !trial.telling(agreement)) continue;
    // Within the tolerance of both: not a sign of anything.
    ++(trial.agreed_before(agreement) ? undecided : confirmed);
  }
  return few(wrong, checked + 50) && undecided <= confirmed;
}

double log2_choices(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

}  // namespace btf::hints
