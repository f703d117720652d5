// Tolerances brought together: what is judged by when two dtypes meet.
#pragma once

#include "btf/criteria.h"
#include "btf/dtype.h"

namespace btf {

// What `special` gives goes before `general`.
Tolerance overlaid(const Tolerance& general, const Tolerance& special);

// `special` goes before `general`; `close` becomes the larger tolerances of both dtypes.
Tolerance effective(const Tolerance& general, const Tolerance* special, DType a, DType b);

}  // namespace btf
