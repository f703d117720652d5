// The same factors along another dim: numbers that were dequantised along the wrong one.
#include <algorithm>
#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/placed_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/pairs/sparse.h"

namespace btf::hints {
namespace {

constexpr std::uint64_t kMostFactors = 4096;
constexpr std::size_t kLookedUp = 192;     // mismatches whose mirror image is looked at
constexpr std::size_t kLeastMirrored = 8;  // of these
constexpr std::size_t kReferences = 16;    // elements that may give a factor
constexpr std::uint64_t kPerFactor = 4;    // elements that bear out each of them
constexpr double kRoundings = 4;           // of factors and of their sources
constexpr double kMostAccepted = 0.01;

// Two dims of one size: actual / golden is s[second] / s[first], with one s.
struct AxisPair {
  std::size_t first = 0;
  std::size_t second = 0;
  Along rows;
  Along columns;

  std::uint64_t at(std::uint64_t number, std::uint64_t row, std::uint64_t column) const {
    number = rows.number(rows.row(number), row);
    return columns.number(columns.row(number), column);
  }
};

struct Ratios {
  std::vector<long double> actual;
  std::vector<long double> golden;

  // Nothing where it is unknown.
  std::optional<long double> operator[](std::size_t i) const {
    if (actual[i] == 0 || golden[i] == 0 || !std::isfinite(actual[i] / golden[i]))
      return std::nullopt;
    return actual[i] / golden[i];
  }
};

Result<Ratios> ratios_at(const Inquiry& inquiry, const std::vector<std::uint64_t>& numbers) {
  Ratios ratios;
  BTF_ASSIGN(ratios.actual, inquiry.actual->values(numbers));
  BTF_ASSIGN(ratios.golden, inquiry.golden->values(numbers));
  return ratios;
}

// The tolerance of numbers bounds the error of their ratio, as long as a factor can still be seen.
bool near_one(long double ratio, const Inquiry& inquiry) {
  const double accepted = std::min(inquiry.agreement.judge.rtol, kMostAccepted);
  return std::abs(ratio - 1) <= kRoundings * std::max(relative_slack(inquiry.agreement), accepted);
}

// The ratio at [i][j] is one over that at [j][i], and 1 where i = j.
Result<bool> mirrors(const Inquiry& inquiry, const AxisPair& pair) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < std::min(kLookedUp, inquiry.rarest.size()); ++i) {
    const std::uint64_t number = inquiry.mismatches[inquiry.rarest[i]].number;
    const std::uint64_t row = pair.rows.index(number);
    const std::uint64_t column = pair.columns.index(number);
    if (row == column) return false;
    for (const std::uint64_t other :
         {number, pair.at(number, column, row), pair.at(number, row, row)})
      numbers.push_back(other);
  }
  BTF_ASSIGN(const Ratios ratios, ratios_at(inquiry, numbers));
  std::size_t mirrored = 0;
  std::size_t failures = 0;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    const auto here = ratios[i];
    const auto there = ratios[i + 1];
    const auto diagonal = ratios[i + 2];
    if (diagonal && !near_one(*diagonal, inquiry)) ++failures;
    if (!here || !there) continue;
    ++(near_one(*here * *there, inquiry) ? mirrored : failures);
  }
  return mirrored >= kLeastMirrored && failures * 16 <= mirrored;
}

// Elements that a factor and others, that are known, have a part in.
struct References {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> known;
  std::vector<bool> across;  // the element is at [known][unknown], not the reverse
};

References references_of(const Inquiry& inquiry, const AxisPair& pair, std::uint64_t unknown,
                         const std::vector<std::uint64_t>& known) {
  References all;
  const std::size_t step = std::max<std::size_t>(1, known.size() / kReferences);
  for (std::size_t i = unknown % step; i < known.size(); i += step)
    for (const bool across : {true, false}) {
      // Anywhere along the other dims.
      const Point& point = inquiry.mismatches[(unknown + i) % inquiry.mismatches.size()];
      all.numbers.push_back(across ? pair.at(point.number, known[i], unknown)
                                   : pair.at(point.number, unknown, known[i]));
      all.known.push_back(known[i]);
      all.across.push_back(across);
    }
  return all;
}

// From factors that are known to those that are not.
Result<std::vector<long double>> factors_of(const Inquiry& inquiry, const AxisPair& pair) {
  std::vector<long double> factors(pair.rows.size, 0);
  std::vector<std::uint64_t> known{pair.rows.index(inquiry.mismatches.front().number)};
  factors[known[0]] = 1;
  for (std::size_t before = 0; before < known.size() && known.size() < factors.size();) {
    before = known.size();
    for (std::uint64_t unknown = 0; unknown < factors.size(); ++unknown) {
      if (factors[unknown] != 0) continue;
      const References all = references_of(inquiry, pair, unknown, known);
      BTF_ASSIGN(const Ratios ratios, ratios_at(inquiry, all.numbers));
      long double largest = 0;  // rounding matters least there
      for (std::size_t i = 0; i < all.numbers.size(); ++i)
        if (ratios[i] && std::abs(ratios.golden[i]) > largest) {
          largest = std::abs(ratios.golden[i]);
          const long double other = factors[all.known[i]];
          factors[unknown] = all.across[i] ? *ratios[i] * other : other / *ratios[i];
        }
      if (factors[unknown] != 0) known.push_back(unknown);
    }
  }
  // A channel that is 0 throughout has no factor.
  std::ranges::replace(factors, 0.0L, 1.0L);
  return factors;
}

// By all elements, from a first idea of them.
Result<std::vector<long double>> refined(const Inquiry& inquiry, const AxisPair& pair,
                                         const std::vector<long double>& rough) {
  std::vector<long double> products(rough.size());
  std::vector<long double> squares(rough.size());
  BTF_TRY(visit_finite(inquiry, [&](std::uint64_t number, long double actual, long double golden) {
    const std::uint64_t row = pair.rows.index(number);
    const std::uint64_t column = pair.columns.index(number);
    if (row == column) return;
    products[column] += actual * rough[row] * golden;
    squares[column] += golden * golden;
  }));
  std::vector<long double> factors = rough;
  for (std::size_t i = 0; i < factors.size(); ++i)
    if (squares[i] > 0 && products[i] != 0) factors[i] = products[i] / squares[i];
  return factors;
}

SearchResult try_pair(const Inquiry& inquiry, const AxisPair& pair) {
  BTF_ASSIGN(const bool mirrored, mirrors(inquiry, pair));
  if (!mirrored) return std::nullopt;
  BTF_ASSIGN(const std::vector<long double> rough, factors_of(inquiry, pair));
  BTF_ASSIGN(const std::vector<long double> factors, refined(inquiry, pair, rough));
  const PlacedMap map{
      .side = MovedSide::golden,
      .apply =
          [&](std::uint64_t number, long double golden) {
            const long double row = factors[pair.rows.index(number)];
            const long double column = factors[pair.columns.index(number)];
            return golden * column / row;
          },
      .slack = Slack{.relative = kRoundings * relative_slack(inquiry.agreement), .most = HUGE_VAL}};
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all) || all.confirmed < kPerFactor * factors.size()) return std::nullopt;
  const std::size_t rank = inquiry.input.golden.dims().size();
  const auto name = [&](std::size_t dim) {
    return dim_text(static_cast<std::uint32_t>(dim), rank);
  };
  return Finding{
      {Cause::scale_axis,
       "actual has along " + name(pair.second) + " the " + std::to_string(factors.size()) +
           " factors that golden has along " + name(pair.first) + ": " +
           fitting_text(inquiry, all) + residual_text(all)},
      all.exceptions + all.near};
}

}  // namespace

SearchResult find_scale_axis(const Inquiry& inquiry) {
  const HintInput& input = inquiry.input;
  const Dims& dims = input.golden.dims();
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr || inquiry.rounded ||
      !info(input.actual.dtype()).floating() || !info(input.golden.dtype()).floating())
    return std::nullopt;
  for (std::size_t a = 0; a < dims.size(); ++a)
    for (std::size_t b = a + 1; b < dims.size(); ++b) {
      if (dims[a] != dims[b] || dims[a] < 2 || dims[a] > kMostFactors) continue;
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_pair(inquiry, {a, b, along(dims, a), along(dims, b)}));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace btf::hints
