// What every cast must give and count, worked out from the definitions in docs/dtypes.md by
// comparing exact values. Shares no code and no table with the library.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf::test {

// Then it holds every value of every dtype, and the midpoint of any two neighbours, exactly.
static_assert(std::numeric_limits<long double>::digits >= 64 &&
              std::numeric_limits<long double>::max_exponent >= 16384);

enum class Loss : std::uint8_t { none, inexact, to_zero, overflowed, nan_lost };
inline constexpr int kLossCount = 5;

struct OracleCast {
  std::uint64_t code = 0;
  Loss loss = Loss::none;
};

long double oracle_value(DType dtype, std::uint64_t code);

OracleCast oracle_cast(DType from, DType to, std::uint64_t code, const CastPolicy& policy);

// The values of codes 0, 1, ... of a float of at most 16 bits, up to its largest number, and behind
// it the number that would follow if the exponent had no limit.
std::span<const long double> oracle_magnitudes(DType dtype);

}  // namespace btf::test
