// A softmax, or its logarithm, that one side has been through and the other has not.
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
constexpr std::size_t kPointsLookedAt = 16;
constexpr std::size_t kLeastAlike = 8;
constexpr double kRoundingsOfTwo = 4;  // of both sides' numbers

// `raw` is the side that has not been through it.
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

// Within a row, logarithms differ as much as what they were made of.
Result<bool> differ_alike(const Inquiry& inquiry, const Softmax& softmax, const Along& place) {
  std::vector<std::uint64_t> numbers;
  std::vector<const Point*> points;
  for (std::size_t i = 0; i < std::min(kPointsLookedAt, inquiry.rarest.size()); ++i) {
    const Point& point = inquiry.mismatches[inquiry.rarest[i]];
    const std::uint64_t index = (place.index(point.number) + 1 + i % (place.size - 1)) % place.size;
    numbers.push_back(place.number(place.row(point.number), index));
    points.push_back(&point);
  }
  BTF_ASSIGN(const std::vector<long double> actual, inquiry.actual->values(numbers));
  BTF_ASSIGN(const std::vector<long double> golden, inquiry.golden->values(numbers));
  std::size_t alike = 0;
  std::size_t others = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Point other{.actual = actual[i], .golden = golden[i]};
    const long double raw = softmax.before(*points[i]) - softmax.before(other);
    const long double made = softmax.logarithm_of(softmax.after(*points[i])) -
                             softmax.logarithm_of(softmax.after(other));
    if (!std::isfinite(raw) || !std::isfinite(made)) continue;
    const long double size =
        1 + std::abs(softmax.before(*points[i])) + std::abs(softmax.before(other)) + std::abs(made);
    const double close = inquiry.agreement.close ? inquiry.agreement.close->rtol : 0;
    const double slack =
        std::max({relative_slack(inquiry.input), inquiry.agreement.judge.rtol, close});
    ++(std::abs(raw - made) <= kRoundingsOfTwo * slack * size ? alike : others);
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

SearchResult try_softmax(const Inquiry& inquiry, const Softmax& softmax, std::size_t dim) {
  const Along place = along(inquiry.input.golden.dims(), dim);
  BTF_ASSIGN(const bool alike, differ_alike(inquiry, softmax, place));
  if (!alike) return std::nullopt;
  std::vector<RowSum> rows(inquiry.elements / place.size);
  BTF_TRY(visit_finite(inquiry, [&](std::uint64_t number, long double actual, long double golden) {
    rows[place.row(number)].add(softmax.raw == MovedSide::actual ? actual : golden);
  }));
  // exp makes relative errors of what rounding did to the sizes of its arguments.
  const PlacedMap map{.side = softmax.raw,
                      .apply =
                          [&](std::uint64_t number, long double value) {
                            const RowSum& row = rows[place.row(number)];
                            const long double shifted = value - row.largest;
                            return softmax.logarithm ? shifted - std::log(row.sum)
                                                     : std::exp(shifted) / row.sum;
                          },
                      .slack = Slack{.relative = relative_slack(inquiry.input)}};
  const double hypotheses = 4.0 * static_cast<double>(inquiry.input.golden.dims().size());
  if (!convincing(inquiry, map.side, mapped(map, inquiry.mismatches), mapped(map, inquiry.anywhere),
                  hypotheses))
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
           share_text(all.elements - all.exceptions, all.elements)},
      all.exceptions};
}

}  // namespace

SearchResult find_softmax(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  const Dims& dims = input.golden.dims();
  // What a COO tensor does not store is 0, which no softmax is.
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
