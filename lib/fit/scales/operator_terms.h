// Operators that are made of what a dump has.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/measure/dump_measures.h"
#include "network/evaluation.h"
#include "network/network.h"

namespace btf {

inline constexpr std::uint64_t kMostOperatorTerms = 1U << 24;  // of what is computed to make one

network::FindStored stored_in_dump(const Dump& dump);

// Products in one sum of each node's result; 0: it is none of that kind, or not known.
std::vector<double> terms_of(const network::Network& network, const Dump& dump,
                             const DumpMeasures& measures);

}  // namespace btf
