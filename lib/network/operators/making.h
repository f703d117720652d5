// Operators that choose elements.
#pragma once

#include "network/operators/table.h"

namespace btf::network {

// ArgMax, ArgMin and TopK.

OperatorResult make_arg_max(const Call& call);
OperatorResult make_arg_min(const Call& call);
OperatorResult make_top_k(const Call& call);

}  // namespace btf::network
