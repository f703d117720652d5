// The range of a dtype, computed from its row.
#pragma once

#include "btf/dtype.h"

namespace btf::hints {

struct Limits {
  long double lowest = 0;  // finite numbers
  long double highest = 0;
  long double rounds_over = 0;  // floats: from here on the nearest number would be above `highest`
  bool has_inf = false;
  bool has_nan = false;
};

Limits limits_of(DType dtype);

// A number brought into the range of a dtype that saturates; as it is for one with Inf.
template <typename Real>
Real saturated(Real value, const Limits& limits) {
  if (limits.has_inf) return value;
  if (value > static_cast<Real>(limits.highest)) return static_cast<Real>(limits.highest);
  if (value < static_cast<Real>(limits.lowest)) return static_cast<Real>(limits.lowest);
  return value;
}

}  // namespace btf::hints
