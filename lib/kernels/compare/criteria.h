// Tolerances brought together: what is judged by when two grids meet.
#pragma once

#include "btf/criteria.h"
#include "kernels/number/grid.h"

namespace btf {

// `special` takes precedence over `general`.
Tolerance overlaid(const Tolerance& general, const Tolerance& special);

// `close` becomes what the coarser grid allows (docs/dtypes.md, section 6).
Tolerance effective(const Tolerance& asked, const Grid& a, const Grid& b);

}  // namespace btf
