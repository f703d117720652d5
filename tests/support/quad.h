// A float of 113 bits, for oracles: long double where that has them, as on aarch64.
#pragma once

#include <cfloat>

#if LDBL_MANT_DIG == 113
using Quad = long double;
#else
__extension__ using Quad = __float128;
#endif
