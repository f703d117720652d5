// Which elements are the largest: ArgMax and TopK.
#pragma once

#include "network/operators/table.h"

namespace btf::network {

MadeOperator make_arg_max(const Call& call);
MadeOperator make_arg_min(const Call& call);
MadeOperator make_top_k(const Call& call);

}  // namespace btf::network
