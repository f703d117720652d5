// Numbers that went through a dtype that does not hold them, or lost their last bits.
#include <cmath>
#include <vector>

#include "btf/try.h"
#include "diff/hints/evidence/wording.h"
#include "diff/hints/models/cast_map.h"
#include "diff/hints/searches/searches.h"

namespace btf::hints {
namespace {

constexpr int kFewestBits = 3;

// So many significant bits of a number, the others cleared or rounded to the nearest.
ElementMap bits_map(MovedSide side, int bits, bool truncated) {
  return value_map(side, [bits, truncated](auto value) {
    using Real = decltype(value);
    if (value == 0 || !std::isfinite(value)) return value;
    int exponent = 0;
    const Real scaled = std::ldexp(std::frexp(value, &exponent), bits);
    const Real whole = truncated ? std::trunc(scaled) : std::nearbyint(scaled);
    return static_cast<Real>(std::ldexp(whole, exponent - bits));
  });
}

std::string bits_text(int bits) {
  if (bits == 8) return "bfloat16's 8 significant bits";
  if (bits == 11) return "TF32's 11 significant bits";
  return std::to_string(bits) + " significant bits";
}

// Numbers that were rounded are not changed by it once more: a tolerance may be wider than what
// rounding does.
bool unchanged_by(const Inquiry& inquiry, const ElementMap& map_of_actual) {
  Agreement strict = inquiry.agreement;
  strict.close.reset();
  const Moved again = mapped(inquiry, map_of_actual, inquiry.anywhere);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < again.size(); ++i) {
    const long double actual = inquiry.anywhere[i].actual;
    if (!std::isnan(actual) && !sampled_agree(actual, *again[i], strict)) ++changed;
  }
  return 50 * changed <= again.size();
}

SearchResult try_lost(const Inquiry& inquiry, const ElementMap& map,
                      const ElementMap& map_of_actual, const std::string& words,
                      double hypotheses) {
  if (!unchanged_by(inquiry, map_of_actual) || !fits_anywhere(inquiry, map) ||
      !convincing(inquiry, map.side, mapped(inquiry, map, inquiry.mismatches),
                  mapped(inquiry, map, inquiry.anywhere), hypotheses))
    return std::nullopt;
  BTF_ASSIGN(const MapTally all, tally(inquiry, map));
  if (!bears_out(inquiry, all)) return std::nullopt;
  return Finding{
      {Cause::rounding, words + ": " + share_text(all.elements - all.exceptions, all.elements)},
      all.exceptions};
}

}  // namespace

SearchResult find_lost_precision(const Inquiry& inquiry) {
  const DType actual = inquiry.input.actual.dtype();
  const DType golden = inquiry.input.golden.dtype();
  for (const DTypeInfo& row : dtypes()) {
    // bool and powers of two keep too little to be recognised.
    if (row.kind == NumberKind::boolean || row.fp.power_of_two || is_lossless(golden, row.dtype))
      continue;
    BTF_ASSIGN(std::optional<Finding> finding,
               try_lost(inquiry, cast_map(MovedSide::golden, golden, row.dtype),
                        cast_map(MovedSide::actual, actual, row.dtype),
                        "actual is golden rounded to " + name_of(row.dtype),
                        static_cast<double>(dtypes().size())));
    if (finding) return finding;
  }
  return std::nullopt;
}

SearchResult find_lost_bits(const Inquiry& inquiry) {
  const DTypeInfo& golden = info(inquiry.input.golden.dtype());
  const DTypeInfo& actual = info(inquiry.input.actual.dtype());
  if (!golden.floating() || !actual.floating()) return std::nullopt;
  // Rounding to actual's own dtype is a rounding mode.
  const int most = std::min<int>(golden.fp.mantissa_bits, actual.fp.mantissa_bits);
  for (const bool truncated : {true, false})
    for (int bits = most; bits >= kFewestBits; --bits) {
      const std::string how = truncated ? "truncated" : "rounded";
      BTF_ASSIGN(std::optional<Finding> finding,
                 try_lost(inquiry, bits_map(MovedSide::golden, bits, truncated),
                          bits_map(MovedSide::actual, bits, truncated),
                          "actual is golden " + how + " to " + bits_text(bits), 2.0 * most));
      if (finding) return finding;
    }
  return std::nullopt;
}

}  // namespace btf::hints
