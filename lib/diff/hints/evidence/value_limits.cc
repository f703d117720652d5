#include "diff/hints/evidence/value_limits.h"

#include <cmath>

#include "diff/hints/evidence/lookup.h"
#include "kernels/number/number.h"

namespace btf::hints {

Limits limits_of(DType dtype) {
  const DTypeInfo& row = info(dtype);
  if (row.kind == NumberKind::boolean) return {.lowest = 0, .highest = 1, .rounds_over = 1};
  if (row.kind == NumberKind::unsigned_integer) {
    const long double end = std::ldexp(1.0L, row.bits);
    return {.lowest = 0, .highest = end - 1, .rounds_over = end};
  }
  if (row.kind == NumberKind::signed_integer) {
    const long double end = std::ldexp(1.0L, row.bits - 1);
    return {.lowest = -end, .highest = end - 1, .rounds_over = end};
  }
  const std::uint64_t top = number::max_finite(row.fp);
  const long double highest = value_of(dtype, top);
  const long double below = value_of(dtype, top - 1);
  return {.lowest = row.fp.power_of_two ? value_of(dtype, 0) : -highest,
          .highest = highest,
          .rounds_over = highest + (highest - below) / 2,
          .has_inf = row.fp.specials == FloatSpecials::ieee,
          .has_nan = row.fp.specials != FloatSpecials::none};
}

}  // namespace btf::hints
