#include <algorithm>
#include <array>

#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

// The tolerance of --close: rtol, atol and, if steps differ from element to element, half a step of
// the coarser grid.
struct Close {
  Closeness most;
  bool half_step = false;
};

bool scaled(const Grid& a, const Grid& b) { return a.codes || b.codes; }
bool integer(const Grid& a, const Grid& b) { return a.integers() || b.integers(); }
bool text(const Grid& a, const Grid& b) { return a.text() || b.text(); }
bool any(const Grid&, const Grid&) { return true; }

// Includes the float that codes are compared with, which may be the coarser one. Steps of float32
// and float64 are within the error of the arithmetic.
bool differing_steps(const Grid& grid) {
  if (grid.codes) return !grid.even_half_step();
  return grid.text() || (info(grid.dtype).floating() && info(grid.dtype).bits < 32);
}

Close by_scale(const Grid& a, const Grid& b) {
  const double even = std::max(a.even_half_step().value_or(0), b.even_half_step().value_or(0));
  return {{kScaleArithmetic, even}, differing_steps(a) || differing_steps(b)};
}

Close exact(const Grid&, const Grid&) { return {}; }

Close by_dtype(const Grid& a, const Grid& b) {
  const Closeness left = info(a.dtype).close;
  const Closeness right = info(b.dtype).close;
  return {{std::max(left.rtol, right.rtol), std::max(left.atol, right.atol)}};
}

Close by_digits(const Grid& a, const Grid& b) { return {by_dtype(a, b).most, true}; }

// The table of docs/dtypes.md, section 6. The first row that matches a pair applies.
struct PairKind {
  bool (*is)(const Grid& a, const Grid& b);
  Close (*close)(const Grid& a, const Grid& b);
};
constexpr auto kPairKinds = std::to_array<PairKind>({
    {scaled, by_scale},
    {integer, exact},
    {text, by_digits},
    {any, by_dtype},
});

}  // namespace

Tolerance overlaid(const Tolerance& general, const Tolerance& special) {
  Tolerance tolerance = general;
  if (special.rtol) tolerance.rtol = special.rtol;
  if (special.atol) tolerance.atol = special.atol;
  if (special.ulp) tolerance.ulp = special.ulp;
  tolerance.close = tolerance.close || special.close;
  if (special.close_as) tolerance.close_as = special.close_as;
  return tolerance;
}

Tolerance effective(const Tolerance& asked, const Grid& a, const Grid& b) {
  Tolerance tolerance = asked;
  if (!tolerance.close) return tolerance;
  tolerance.close = false;
  const auto kind = std::ranges::find_if(kPairKinds, [&](const auto& row) { return row.is(a, b); });
  Close close = kind->close(a, b);
  if (tolerance.close_as && !scaled(a, b) && !integer(a, b)) {
    const Closeness& held = info(*tolerance.close_as).close;
    close.most = {std::max(close.most.rtol, held.rtol), std::max(close.most.atol, held.atol)};
  }
  tolerance.close_as.reset();
  if (!tolerance.rtol) tolerance.rtol = close.most.rtol;
  // An explicit atol replaces the half step.
  tolerance.half_step = close.half_step && !tolerance.atol;
  if (!tolerance.atol) tolerance.atol = close.most.atol;
  return tolerance;
}

}  // namespace btf
