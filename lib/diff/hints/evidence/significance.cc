#include "diff/hints/evidence/significance.h"

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
    return side == MovedSide::actual ? sampled_agree(moved, stays, agreement)
                                     : sampled_agree(stays, moved, agreement);
  }
  bool agreed_before(const Agreement& agreement) const {
    return side == MovedSide::actual ? sampled_agree(before, stays, agreement)
                                     : sampled_agree(stays, before, agreement);
  }
  // Is there a difference between what the hypothesis says and what is there?
  bool telling(const Agreement& agreement) const {
    return side == MovedSide::actual ? !sampled_agree(before, moved, agreement)
                                     : !sampled_agree(moved, before, agreement);
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
  return tried * 4 >= which.size() && failures <= (tried >= 8 ? 1U : 0U);
}

bool hopeless(const Inquiry& inquiry, MovedSide side, std::span<const std::size_t> which,
              const Moved& moved) {
  for (std::size_t i = 0; i < which.size(); ++i)
    if (!moved[i] ||
        trial_of(side, inquiry.mismatches[which[i]], *moved[i]).explained(inquiry.agreement))
      return false;
  return which.size() > 1;
}

namespace {

// How surprising it is that all of these are explained.
double total_surprise(const Inquiry& inquiry, const std::vector<Trial>& explained,
                      const Moved& anywhere) {
  double bits = 0;
  const Trial* last = nullptr;
  for (const Trial& trial : explained) {
    // The same pair of numbers over and over, as in a constant block, says no more than once.
    if (last != nullptr && same_number(last->moved, trial.moved) &&
        same_number(last->stays, trial.stays) && same_number(last->before, trial.before))
      continue;
    bits += surprise(inquiry, trial, anywhere);
    last = &trial;
  }
  return bits;
}

// Elements from anywhere are as they should be, and where the hypothesis makes a difference the
// sides really differ.
bool right_elsewhere(const Inquiry& inquiry, MovedSide side, const Moved& anywhere) {
  const Agreement& agreement = inquiry.agreement;
  std::size_t checked = 0;
  std::size_t wrong = 0;
  std::size_t confirmed = 0;
  std::size_t undecided = 0;
  for (std::size_t i = 0; i < anywhere.size(); ++i) {
    if (!anywhere[i]) continue;
    ++checked;
    const Trial trial = trial_of(side, inquiry.anywhere[i], *anywhere[i]);
    const bool explained = trial.explained(agreement);
    if (!explained) ++wrong;
    if (!explained || !trial.telling(agreement)) continue;
    // Within the tolerance of both: not a sign of anything.
    ++(trial.agreed_before(agreement) ? undecided : confirmed);
  }
  return few(wrong, checked + 50) && undecided <= confirmed;
}

}  // namespace

bool convincing(const Inquiry& inquiry, MovedSide side, const Moved& mismatches,
                const Moved& anywhere, double hypotheses) {
  std::size_t tried = 0;
  std::size_t telling = 0;
  std::vector<Trial> explained;
  for (std::size_t i = 0; i < mismatches.size(); ++i) {
    if (!mismatches[i]) continue;
    ++tried;
    const Trial trial = trial_of(side, inquiry.mismatches[i], *mismatches[i]);
    if (!trial.explained(inquiry.agreement)) continue;
    explained.push_back(trial);
    if (trial.telling(inquiry.agreement)) ++telling;
  }
  return 5 * tried >= 2 * mismatches.size() && few(tried - explained.size(), tried) &&
         10 * telling >= 9 * explained.size() && right_elsewhere(inquiry, side, anywhere) &&
         total_surprise(inquiry, explained, anywhere) >=
             kNeededBits + std::log2(std::max(hypotheses, 1.0));
}

double log2_choices(double n, double k) {
  return (std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1)) / std::log(2.0);
}

}  // namespace btf::hints
