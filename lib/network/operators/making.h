// Operators that make numbers of shapes and indices, and those that choose elements: ArgMax, TopK.
#pragma once

#include "network/operators/table.h"

namespace btf::network {

// Which elements are the largest: ArgMax and TopK.

MadeOperator make_arg_max(const Call& call);
MadeOperator make_arg_min(const Call& call);
MadeOperator make_top_k(const Call& call);

}  // namespace btf::network
