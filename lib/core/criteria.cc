#include "core/criteria.h"

#include <algorithm>

namespace btf {

Tolerance overlaid(const Tolerance& general, const Tolerance& special) {
  Tolerance tolerance = general;
  if (special.rtol) tolerance.rtol = special.rtol;
  if (special.atol) tolerance.atol = special.atol;
  if (special.ulp) tolerance.ulp = special.ulp;
  tolerance.close = tolerance.close || special.close;
  return tolerance;
}

Tolerance effective(const Tolerance& general, const Tolerance* special, DType a, DType b) {
  Tolerance tolerance = special == nullptr ? general : overlaid(general, *special);
  if (tolerance.close) {
    const Closeness left = info(a).close;
    const Closeness right = info(b).close;
    if (!tolerance.rtol) tolerance.rtol = std::max(left.rtol, right.rtol);
    if (!tolerance.atol) tolerance.atol = std::max(left.atol, right.atol);
    tolerance.close = false;
  }
  return tolerance;
}

}  // namespace btf
