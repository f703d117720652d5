// Searches for ranges: numbers that were clipped at a limit, and scales that were applied along
// another dim.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/agreements.h"
#include "diff/hints/evidence/grids.h"
#include "diff/hints/evidence/search_context.h"
#include "diff/hints/models/element_map.h"
#include "diff/hints/searches/searches.h"
#include "diff/sides/rows.h"

namespace btf::hints {
namespace {

constexpr long double kInf = std::numeric_limits<long double>::infinity();

// What a cut must fulfil: a least number of mismatches, and how unlikely it must be that they are
// exactly those whose golden is beyond it.
struct Demand {
  std::uint64_t least = 0;
  double bits = 0;
};

constexpr Demand kOverflow{2, 24};    // Inf or NaN where the range of a dtype ends
constexpr Demand kOwnLimit{2, 16};    // at the limit of the side's own dtype
constexpr Demand kKnownLimit{8, 24};  // at the largest number of a dtype
constexpr Demand kCodeLimit{4, 24};   // the same, times a scale
constexpr Demand kAnyLimit{24, 50};
constexpr std::size_t kMinCutOff = 4;  // distinct numbers of golden

bool enough(const MapTally& tally, const Demand& demand) {
  if (tally.confirmed < demand.least || tally.telling == 0) return false;
  const double rarity =
      std::log2(static_cast<double>(tally.elements) / static_cast<double>(tally.telling));
  return static_cast<double>(tally.confirmed) * rarity >= demand.bits;
}

// True if holds() is true for all points but the allowed exceptions.
template <typename Coverage>
bool hold_nearly_all(const SearchContext& context, Coverage&& holds) {
  std::size_t wrong = 0;
  for (const Point& point : context.mismatches)
    if (!holds(point) && 50 * ++wrong > context.mismatches.size()) return false;
  return true;
}

// The number that nearly all the values are.
std::optional<long double> common(const std::vector<long double>& values) {
  if (values.empty()) return std::nullopt;
  // A majority value remains when different values are removed in pairs.
  long double most = values.front();
  std::size_t ahead = 0;
  for (const long double value : values) {
    if (ahead == 0) most = value;
    value == most ? ++ahead : --ahead;
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(values, most));
  if (50 * (values.size() - count) <= values.size()) return most;
  return std::nullopt;
}

// All dtypes, beginning with the side's own.
std::vector<DType> dtypes_from(DType own) {
  std::vector<DType> all{own};
  for (const DTypeInfo& row : dtypes())
    if (row.dtype != own) all.push_back(row.dtype);
  return all;
}

struct Cut {
  long double low = -kInf;
  long double high = kInf;
};

// Numbers are often clipped at 6, 7 or 30 for other reasons than a dtype, so dtypes with small
// limits are named only if one of the sides has them.
bool can_be_named(const DTypeInfo& row, const HintInput& input) {
  if (row.kind == NumberKind::boolean || row.fp.power_of_two) return false;
  return limits_of(row.dtype).highest >= 100 || row.dtype == input.actual.dtype() ||
         row.dtype == input.golden.dtype();
}

// The dtype that has these limits.
std::optional<DType> dtype_of(const Cut& cut, const HintInput& input, TransformedSide cut_side) {
  const DType own =
      cut_side == TransformedSide::actual ? input.actual.dtype() : input.golden.dtype();
  for (const DType dtype : dtypes_from(own)) {
    if (!can_be_named(info(dtype), input)) continue;
    const Limits limits = limits_of(dtype);
    const bool low = cut.low == -kInf || cut.low == limits.lowest;
    const bool high = cut.high == kInf || cut.high == limits.highest;
    if (low && high) return dtype;
  }
  return std::nullopt;
}

// The dtype of codes for multiples of `step`. Some quantisers do not use the lowest code.
std::optional<DType> dtype_of_codes(const Cut& cut, double step) {
  if (step == 0) return std::nullopt;
  const auto at = [step](long double limit, long double code) {
    return std::abs(limit / step - code) < 0.01L;
  };
  for (const DTypeInfo& row : dtypes()) {
    if (row.floating() || row.kind == NumberKind::boolean || row.bits > 16) continue;
    const Limits limits = limits_of(row.dtype);
    const bool low = cut.low == -kInf || at(cut.low, limits.lowest) ||
                     (limits.lowest < 0 && at(cut.low, -limits.highest));
    if (low && (cut.high == kInf || at(cut.high, limits.highest))) return row.dtype;
  }
  return std::nullopt;
}

// Numbers of `cut_side` are at the cut, which is a limit of `whose`.
std::string sentence(const Cut& cut, const std::string& whose, TransformedSide cut_side,
                     const MapTally& tally) {
  const bool of_actual = cut_side == TransformedSide::actual;
  const std::string count =
      mismatches_text(tally.confirmed) + " have " + (of_actual ? "actual" : "golden");
  const std::string other = of_actual ? "golden" : "actual";
  const std::string low = number_text(cut.low);
  const std::string high = number_text(cut.high);
  const auto named = [&](const std::string& which) {
    return whose.empty() ? "" : whose + which + ", ";
  };
  if (cut.high == kInf && cut.low == 0)
    return count + " 0 where " + other + " is below it: negative numbers were " +
           (of_actual ? "" : "not ") + "cut off";
  if (cut.high == kInf)
    return count + " at " + named("smallest") + low + ", where " + other + " is below it";
  if (cut.low == -kInf)
    return count + " at " + named("largest") + high + ", where " + other + " is above it";
  return count + " at " + named("limits") + low + " or " + high + ", where " + other + " is beyond";
}

// "; the other 80000 are within float16's rounding": mismatches that no limit explains.
std::string others_text(const SearchContext& context, const MapTally& tally) {
  if (tally.lenient == 0) return "";
  return "; the other " + std::to_string(tally.lenient) + (tally.lenient == 1 ? " is" : " are") +
         " within " + context.agreement.lenience;
}

// The one or two limits at which the numbers of one side are that differ.
std::optional<Cut> cut_of(const SearchContext& context, TransformedSide cut_side) {
  const HintInput& input = context.input;
  const Limits own =
      limits_of((cut_side == TransformedSide::actual ? input.actual : input.golden).dtype());
  bool at_own_limits = true;
  std::vector<long double> lows;
  std::vector<long double> highs;
  DistinctNumbers<kMinCutOff> distinct;
  for (const Point& point : context.mismatches) {
    if (std::isnan(point.actual) || std::isnan(point.golden)) continue;
    const bool of_actual = cut_side == TransformedSide::actual;
    const long double at = of_actual ? point.actual : point.golden;
    const long double other = of_actual ? point.golden : point.actual;
    (at < other ? highs : lows).push_back(at);
    distinct.add(other);
    at_own_limits = at_own_limits && at == (at < other ? own.highest : own.lowest);
  }
  if (!distinct.enough() && !at_own_limits) return std::nullopt;
  // A few numbers count as exceptions.
  const auto few = [&](const auto& some) { return 50 * some.size() <= lows.size() + highs.size(); };
  if (few(lows)) lows.clear();
  if (few(highs)) highs.clear();
  Cut cut;
  if (!highs.empty()) cut.high = common(highs).value_or(cut.low);
  if (!lows.empty()) cut.low = common(lows).value_or(cut.high);
  if (!(cut.low < cut.high) || std::isinf(highs.empty() ? cut.low : cut.high)) return std::nullopt;
  return cut;
}

// Golden has numbers other than those at its cut, and they are not rare.
bool varies_within(const SearchContext& context, const Cut& cut) {
  constexpr std::size_t kMinWithin = 8;
  constexpr std::size_t kMinOfFourBits = 6;  // 4-bit codes have seven above 0
  DistinctNumbers<kMinWithin> within;
  DistinctNumbers<kMinOfFourBits> within_four_bits;
  std::size_t count = 0;
  for (const Point& point : context.anywhere) {
    if (point.golden == cut.low || point.golden == cut.high) continue;
    if (std::isnan(point.golden)) continue;
    within.add(point.golden);
    within_four_bits.add(point.golden);
    ++count;
  }
  const HintInput& input = context.input;
  const bool four_bits =
      std::min(info(input.actual.dtype()).bits, info(input.golden.dtype()).bits) == 4;
  return (four_bits ? within_four_bits.enough() : within.enough()) &&
         count * 10 >= context.anywhere.size();
}

SearchResult try_cut(const SearchContext& context, TransformedSide cut_side) {
  if (context.rounded) return std::nullopt;
  const std::optional<Cut> found = cut_of(context, cut_side);
  if (!found) return std::nullopt;
  const Cut cut = *found;
  const bool of_actual = cut_side == TransformedSide::actual;
  const ElementMap map =
      value_map(of_actual ? TransformedSide::golden : TransformedSide::actual, [cut](auto value) {
        using Real = decltype(value);
        // NaN stays NaN.
        if (value < static_cast<Real>(cut.low)) return static_cast<Real>(cut.low);
        return value > static_cast<Real>(cut.high) ? static_cast<Real>(cut.high) : value;
      });
  const std::optional<DType> dtype = dtype_of(cut, context.input, cut_side);
  if (!fits_anywhere(context, map)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  // Golden is assumed to be right, except where its own dtype ends.
  const bool known = of_actual ? dtype.has_value() : dtype == context.input.golden.dtype();
  if (!of_actual && !known && !varies_within(context, cut)) return std::nullopt;
  // Multiples that end exactly where codes end.
  const double step = 2 * context.agreement.half_step_of_actual;
  const auto codes = of_actual && !dtype ? dtype_of_codes(cut, step) : std::nullopt;
  const bool own = of_actual && dtype == context.input.actual.dtype();
  const Demand& demand = own ? kOwnLimit : known ? kKnownLimit : codes ? kCodeLimit : kAnyLimit;
  if (!confirms(context, all) || !enough(all, demand)) return std::nullopt;
  const std::string whose = dtype   ? name_of(*dtype) + "'s "
                            : codes ? short_number_text(step) + " times " + name_of(*codes) + "'s "
                                    : "";
  return Finding{
      {Cause::saturation, sentence(cut, whose, cut_side, all) + others_text(context, all)},
      all.exceptions};
}

// Golden is beyond the range of `dtype` where actual is Inf, or NaN if the dtype has no Inf.
SearchResult try_overflow(const SearchContext& context, DType dtype) {
  const Limits limits = limits_of(dtype);
  const ElementMap map = value_map(TransformedSide::golden, [limits](auto golden) {
    using Real = decltype(golden);
    if (!(std::abs(golden) >= static_cast<Real>(limits.rounds_over))) return golden;
    return limits.has_inf ? std::copysign(std::numeric_limits<Real>::infinity(), golden)
                          : std::numeric_limits<Real>::quiet_NaN();
  });
  const bool nearly_all = hold_nearly_all(context, [&](const Point& point) {
    const bool gone = limits.has_inf ? std::isinf(point.actual) : std::isnan(point.actual);
    return gone && std::abs(point.golden) >= limits.rounds_over;
  });
  if (!nearly_all) return std::nullopt;
  // Inf is beyond the range of every dtype.
  const bool all_inf = std::ranges::all_of(
      context.mismatches, [](const Point& point) { return std::isinf(point.golden); });
  if (all_inf && dtype != context.input.actual.dtype()) return std::nullopt;
  if (!fits_anywhere(context, map)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  const Demand& demand = dtype == context.input.actual.dtype() ? kOwnLimit : kOverflow;
  if (!confirms(context, all) || !enough(all, demand)) return std::nullopt;
  return Finding{
      {Cause::saturation, mismatches_text(all.confirmed) + " have actual " +
                              (limits.has_inf ? "Inf" : "NaN") + " where golden is beyond " +
                              name_of(dtype) + "'s largest, " + number_text(limits.highest) +
                              others_text(context, all)},
      all.exceptions};
}

// NaN has no sign: the other side's number must be at one of the limits.
SearchResult try_largest_nan(const SearchContext& context, DType dtype, TransformedSide nan_side) {
  const Limits limits = limits_of(dtype);
  const bool of_golden = nan_side == TransformedSide::golden;
  const bool nearly_all = hold_nearly_all(context, [&](const Point& point) {
    const long double at = of_golden ? point.actual : point.golden;
    return std::isnan(of_golden ? point.golden : point.actual) &&
           (at == limits.highest || at == limits.lowest);
  });
  if (!nearly_all) return std::nullopt;
  const ElementMap map = value_map(of_golden ? TransformedSide::actual : TransformedSide::golden,
                                   [limits](auto value) {
                                     using Real = decltype(value);
                                     return value == static_cast<Real>(limits.highest) ||
                                                    value == static_cast<Real>(limits.lowest)
                                                ? std::numeric_limits<Real>::quiet_NaN()
                                                : value;
                                   });
  if (!fits_anywhere(context, map)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all) || !enough(all, kOverflow)) return std::nullopt;
  const std::string largest = name_of(dtype) + "'s largest, " + number_text(limits.highest);
  return Finding{
      {Cause::saturation, mismatches_text(all.confirmed) +
                              (of_golden ? " have actual at " + largest + ", where golden is NaN"
                                         : " have actual NaN where golden is at " + largest) +
                              others_text(context, all)},
      all.exceptions};
}

// Inf on one side (NaN if the dtype has no Inf) is the largest number of `dtype` on the other.
SearchResult try_largest(const SearchContext& context, DType dtype, TransformedSide inf_side) {
  const long double highest = limits_of(dtype).highest;
  if (!limits_of(dtype).has_inf) return try_largest_nan(context, dtype, inf_side);
  const bool of_golden = inf_side == TransformedSide::golden;
  const bool nearly_all = hold_nearly_all(context, [&](const Point& point) {
    const long double inf = of_golden ? point.golden : point.actual;
    return std::isinf(inf) &&
           (of_golden ? point.actual : point.golden) == std::copysign(highest, inf);
  });
  if (!nearly_all) return std::nullopt;
  const ElementMap map = value_map(inf_side, [highest](auto value) {
    using Real = decltype(value);
    return std::isinf(value) ? std::copysign(static_cast<Real>(highest), value) : value;
  });
  if (!fits_anywhere(context, map)) return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all) || !enough(all, kOverflow)) return std::nullopt;
  const std::string largest = name_of(dtype) + "'s largest, " + number_text(highest);
  return Finding{
      {Cause::saturation, mismatches_text(all.confirmed) +
                              (of_golden ? " have actual at " + largest + ", where golden is Inf"
                                         : " have actual Inf where golden is at " + largest) +
                              others_text(context, all)},
      all.exceptions};
}

}  // namespace

SearchResult find_saturation(const SearchContext& context) {
  for (const DType dtype : dtypes_from(context.input.actual.dtype())) {
    if (!info(dtype).floating() || info(dtype).fp.power_of_two || !limits_of(dtype).has_nan)
      continue;
    BTF_ASSIGN(std::optional<Finding> finding, try_overflow(context, dtype));
    for (const TransformedSide inf_side : {TransformedSide::golden, TransformedSide::actual})
      if (!finding) {
        BTF_ASSIGN(finding, try_largest(context, dtype, inf_side));
      }
    if (finding) return finding;
  }
  BTF_ASSIGN(std::optional<Finding> finding, try_cut(context, TransformedSide::actual));
  return finding ? finding : try_cut(context, TransformedSide::golden);
}

namespace {

// The same factors along another dim: numbers that were dequantised along the wrong one.

constexpr std::uint64_t kMaxFactors = 4096;
constexpr std::size_t kLookedUp = 192;   // mismatches whose transposed element is read
constexpr std::size_t kMinMirrored = 8;  // of these
constexpr std::size_t kReferences = 16;  // elements from which a factor may be computed
constexpr std::uint64_t kPerFactor = 4;  // elements that confirm each factor
constexpr double kRoundings = 4;         // of factors and of the elements they are computed from
constexpr double kMaxAccepted = 0.01;

// Two dims of equal size: actual / golden is s[second] / s[first] for one s.
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

  // Unset where it cannot be computed.
  std::optional<long double> operator[](std::size_t i) const {
    if (actual[i] == 0 || golden[i] == 0 || !std::isfinite(actual[i] / golden[i]))
      return std::nullopt;
    return actual[i] / golden[i];
  }
};

Result<Ratios> ratios_at(const SearchContext& context, const std::vector<std::uint64_t>& numbers) {
  Ratios ratios;
  BTF_ASSIGN(ratios.actual, context.actual->values(numbers));
  BTF_ASSIGN(ratios.golden, context.golden->values(numbers));
  return ratios;
}

// The tolerance of numbers bounds the error of their ratio, up to where a factor can still be seen.
bool near_one(long double ratio, const SearchContext& context) {
  const double accepted = std::min(context.agreement.judge.rtol, kMaxAccepted);
  return std::abs(ratio - 1) <=
         kRoundings * std::max(rounding_tolerance(context.agreement), accepted);
}

// Whether the ratio at [i][j] is the reciprocal of that at [j][i], and 1 where i = j.
Result<bool> mirrors(const SearchContext& context, const AxisPair& pair) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < std::min(kLookedUp, context.rarest.size()); ++i) {
    const std::uint64_t number = context.mismatches[context.rarest[i]].number;
    const std::uint64_t row = pair.rows.index(number);
    const std::uint64_t column = pair.columns.index(number);
    if (row == column) return false;
    for (const std::uint64_t other :
         {number, pair.at(number, column, row), pair.at(number, row, row)})
      numbers.push_back(other);
  }
  BTF_ASSIGN(const Ratios ratios, ratios_at(context, numbers));
  std::size_t mirrored = 0;
  std::size_t failures = 0;
  for (std::size_t i = 0; i < numbers.size(); i += 3) {
    const auto here = ratios[i];
    const auto there = ratios[i + 1];
    const auto diagonal = ratios[i + 2];
    if (diagonal && !near_one(*diagonal, context)) ++failures;
    if (!here || !there) continue;
    ++(near_one(*here * *there, context) ? mirrored : failures);
  }
  return mirrored >= kMinMirrored && failures * 16 <= mirrored;
}

// Elements that depend on an unknown factor and on known ones.
struct References {
  std::vector<std::uint64_t> numbers;
  std::vector<std::uint64_t> known;
  std::vector<bool> across;  // the element is at [known][unknown] instead of [unknown][known]
};

References references_of(const SearchContext& context, const AxisPair& pair, std::uint64_t unknown,
                         const std::vector<std::uint64_t>& known) {
  References all;
  const std::size_t step = std::max<std::size_t>(1, known.size() / kReferences);
  for (std::size_t i = unknown % step; i < known.size(); i += step)
    for (const bool across : {true, false}) {
      // Anywhere along the other dims.
      const Point& point = context.mismatches[(unknown + i) % context.mismatches.size()];
      all.numbers.push_back(across ? pair.at(point.number, known[i], unknown)
                                   : pair.at(point.number, unknown, known[i]));
      all.known.push_back(known[i]);
      all.across.push_back(across);
    }
  return all;
}

// Computes unknown factors from known ones, beginning with one.
Result<std::vector<long double>> factors_of(const SearchContext& context, const AxisPair& pair) {
  std::vector<long double> factors(pair.rows.size, 0);
  std::vector<std::uint64_t> known{pair.rows.index(context.mismatches.front().number)};
  factors[known[0]] = 1;
  for (std::size_t before = 0; before < known.size() && known.size() < factors.size();) {
    before = known.size();
    for (std::uint64_t unknown = 0; unknown < factors.size(); ++unknown) {
      if (factors[unknown] != 0) continue;
      const References all = references_of(context, pair, unknown, known);
      BTF_ASSIGN(const Ratios ratios, ratios_at(context, all.numbers));
      long double largest = 0;  // rounding has the least effect on it
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

// Refines the factors with all elements.
Result<std::vector<long double>> refined(const SearchContext& context, const AxisPair& pair,
                                         const std::vector<long double>& rough) {
  std::vector<long double> products(rough.size());
  std::vector<long double> squares(rough.size());
  BTF_TRY(visit_finite(context, [&](std::uint64_t number, long double actual, long double golden) {
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

SearchResult try_pair(const SearchContext& context, const AxisPair& pair) {
  BTF_ASSIGN(const bool mirrored, mirrors(context, pair));
  if (!mirrored) return std::nullopt;
  BTF_ASSIGN(const std::vector<long double> rough, factors_of(context, pair));
  BTF_ASSIGN(const std::vector<long double> factors, refined(context, pair, rough));
  const IndexedMap map{
      .side = TransformedSide::golden,
      .apply =
          [&](std::uint64_t number, long double golden) {
            const long double row = factors[pair.rows.index(number)];
            const long double column = factors[pair.columns.index(number)];
            return golden * column / row;
          },
      .tolerance = FitTolerance{.relative = kRoundings * rounding_tolerance(context.agreement),
                                .most = HUGE_VAL}};
  BTF_ASSIGN(const MapTally all, tally(context, map));
  if (!confirms(context, all) || all.confirmed < kPerFactor * factors.size()) return std::nullopt;
  const std::size_t rank = context.input.golden.dims().size();
  const auto name = [&](std::size_t dim) {
    return dim_text(static_cast<std::uint32_t>(dim), rank);
  };
  return Finding{{Cause::scale_axis, "actual has along " + name(pair.second) + " the " +
                                         std::to_string(factors.size()) +
                                         " factors that golden has along " + name(pair.first) +
                                         ": " + fitting_text(context, all) + residual_text(all)},
                 all.exceptions + all.near};
}

}  // namespace

SearchResult find_scale_axis(const SearchContext& context) {
  const HintInput& input = context.input;
  const Dims& dims = input.golden.dims();
  if (input.actual.storage() == nullptr || input.golden.storage() == nullptr || context.rounded ||
      !info(input.actual.dtype()).floating() || !info(input.golden.dtype()).floating())
    return std::nullopt;
  for (std::size_t a = 0; a < dims.size(); ++a)
    for (std::size_t b = a + 1; b < dims.size(); ++b) {
      if (dims[a] != dims[b] || dims[a] < 2 || dims[a] > kMaxFactors) continue;
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_pair(context, {a, b, along(dims, a), along(dims, b)}));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace btf::hints
