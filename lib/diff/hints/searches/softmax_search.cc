// A softmax, or its logarithm, applied to one side only.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/placed_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostRows = 128U << 10;  // whose sums are kept at a time
constexpr std::size_t kPointsLookedAt = 32;
constexpr std::size_t kPartnersLookedAt = 16;  // of each
constexpr std::size_t kLeastAlike = 8;
constexpr double kRoundingsOfTwo = 4;  // of both sides' numbers

// `raw` is the side that it was not applied to.
struct Softmax {
  MovedSide raw{};
  bool logarithm = false;

  long double before(const Point& point) const {
    return raw == MovedSide::actual ? point.actual : point.golden;
  }
  long double after(const Point& point) const {
    return raw == MovedSide::actual ? point.golden : point.actual;
  }
  bool may_be_after(long double value) const {
    return logarithm ? value <= 0 : value >= 0 && value <= 1;
  }
  long double logarithm_of(long double after) const { return logarithm ? after : std::log(after); }
};

bool may_be(const Inquiry& inquiry, const Softmax& softmax) {
  for (const auto* points : {&inquiry.mismatches, &inquiry.anywhere})
    if (!std::ranges::all_of(*points, [&](const Point& point) {
          return softmax.may_be_after(softmax.after(point));
        }))
      return false;
  return true;
}

// Below the normal numbers rounding is too much of one for its logarithm.
bool fine_enough(const Inquiry& inquiry, const Softmax& softmax, long double after) {
  return softmax.logarithm || after >= std::ldexp(1.0L, inquiry.agreement.grid.least_exponent);
}

struct Both {
  std::vector<long double> actual;
  std::vector<long double> golden;
};

Result<Both> values_at(const Inquiry& inquiry, const std::vector<std::uint64_t>& numbers) {
  Both both;
  BTF_ASSIGN(both.actual, inquiry.actual->values(numbers));
  BTF_ASSIGN(both.golden, inquiry.golden->values(numbers));
  return both;
}

// Another element of its row, the largest of some: of a row with a peak most are next to nothing.
Result<Point> partner_of(const Inquiry& inquiry, const Softmax& softmax, const Along& place,
                         std::uint64_t number) {
  std::vector<std::uint64_t> numbers;
  const std::uint64_t others = place.size - 1;
  const std::uint64_t step = std::max<std::uint64_t>(1, others / kPartnersLookedAt);
  for (std::uint64_t k = 1; k <= others && numbers.size() < kPartnersLookedAt; k += step)
    numbers.push_back(place.number(place.row(number), (place.index(number) + k) % place.size));
  BTF_ASSIGN(const Both both, values_at(inquiry, numbers));
  Point best{.actual = both.actual[0], .golden = both.golden[0]};
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    const Point other{.actual = both.actual[i], .golden = both.golden[i]};
    if (softmax.after(other) > softmax.after(best)) best = other;
  }
  return best;
}

// Within a row, logarithms differ as much as what they were made of.
Result<bool> differ_alike(const Inquiry& inquiry, const Softmax& softmax, const Along& place) {
  const double close = inquiry.agreement.close ? inquiry.agreement.close->rtol : 0;
  const double slack =
      std::max({relative_slack(inquiry.agreement), inquiry.agreement.judge.rtol, close});
  std::size_t alike = 0;
  std::size_t others = 0;
  for (const std::size_t i : inquiry.rarest) {
    const Point& point = inquiry.mismatches[i];
    if (!fine_enough(inquiry, softmax, softmax.after(point))) continue;
    BTF_ASSIGN(const Point other, partner_of(inquiry, softmax, place, point.number));
    if (!fine_enough(inquiry, softmax, softmax.after(other))) continue;
    const long double raw = softmax.before(point) - softmax.before(other);
    const long double made =
        softmax.logarithm_of(softmax.after(point)) - softmax.logarithm_of(softmax.after(other));
    if (!std::isfinite(raw) || !std::isfinite(made)) continue;
    const long double size =
        1 + std::abs(softmax.before(point)) + std::abs(softmax.before(other)) + std::abs(made);
    ++(std::abs(raw - made) <= kRoundingsOfTwo * slack * size ? alike : others);
    if (others > kPointsLookedAt / 8) return false;
    if (alike + others == kPointsLookedAt) break;
  }
  return alike >= kLeastAlike && 8 * others <= alike;
}

struct RowSum {
  long double largest = -std::numeric_limits<long double>::infinity();
  long double sum = 0;  // of exp(x - largest)

  void add(long double x) {
    if (x > largest) {
      sum = sum * std::exp(largest - x) + 1;
      largest = x;
    } else if (std::isfinite(x)) {
      sum += std::exp(x - largest);
    }
  }
};

// exp makes relative errors of what rounding did to the sizes of its arguments: half a step of the
// element's and of the largest of its row.
Slack slack_of(const Inquiry& inquiry, const Softmax& softmax, double widest) {
  constexpr double kMost = 0.25;
  Slack slack{.relative = relative_slack(inquiry.agreement)};
  if (softmax.logarithm)
    slack.amplified = [](double value, double relative) { return std::abs(value) * relative / 2; };
  else
    slack.relative += std::min(widest * slack.relative / 2, kMost);
  return slack;
}

SearchResult try_softmax(const Inquiry& inquiry, const Softmax& softmax, std::size_t dim) {
  const Along place = along(inquiry.input.golden.dims(), dim);
  BTF_ASSIGN(const bool alike, differ_alike(inquiry, softmax, place));
  if (!alike) return std::nullopt;
  std::vector<RowSum> rows(inquiry.elements / place.size);
  long double widest = 0;
  BTF_TRY(visit_finite(inquiry, [&](std::uint64_t number, long double actual, long double golden) {
    const long double raw = softmax.raw == MovedSide::actual ? actual : golden;
    rows[place.row(number)].add(raw);
    widest = std::max(widest, std::abs(raw));
  }));
  const PlacedMap map{.side = softmax.raw,
                      .apply =
                          [&](std::uint64_t number, long double value) {
                            const RowSum& row = rows[place.row(number)];
                            const long double shifted = value - row.largest;
                            return softmax.logarithm ? shifted - std::log(row.sum)
                                                     : std::exp(shifted) / row.sum;
                          },
                      .slack = slack_of(inquiry, softmax, static_cast<double>(widest))};
  const double hypotheses = 4.0 * static_cast<double>(inquiry.input.golden.dims().size());
  if (!convincing(inquiry, map.side, fitted_values(inquiry, map, inquiry.mismatches),
                  fitted_values(inquiry, map, inquiry.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  const bool missing = softmax.raw == MovedSide::actual;
  return Finding{
      {Cause::activation,
       (missing ? "golden" : "actual") + std::string(" = ") +
           (softmax.logarithm ? "log-softmax of " : "softmax of ") +
           (missing ? "actual" : "golden") + " along " +
           dim_text(static_cast<std::uint32_t>(dim), inquiry.input.golden.dims().size()) + ": " +
           fitting_text(inquiry, all)},
      all.exceptions};
}

}  // namespace

SearchResult find_softmax(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  const Dims& dims = input.golden.dims();
  // Elements that a COO tensor does not store are 0, which no softmax is.
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr) return std::nullopt;
  for (const MovedSide raw : {MovedSide::actual, MovedSide::golden})
    for (const bool logarithm : {false, true}) {
      const Softmax softmax{raw, logarithm};
      if (!may_be(inquiry, softmax)) continue;
      for (std::size_t d = dims.size(); d-- > 0;) {
        if (dims[d] < 2 || inquiry.elements / dims[d] > kMostRows) continue;
        BTF_ASSIGN(std::optional<Finding> finding, try_softmax(inquiry, softmax, d));
        if (finding) return finding;
      }
    }
  return std::nullopt;
}

}  // namespace btf::hints
