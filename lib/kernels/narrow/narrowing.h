// The effect of a dtype on doubles, as numbers for loops that know no dtype: a new row of the dtype
// table needs no loop of its own.
#pragma once

#include <cstdint>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf {

enum class TargetKind : std::uint8_t {
  floating,      // fewer digits than a double's
  double_,       // the double itself
  integer,       // of up to 32 bits
  wide_integer,  // of 64 bits
  boolean,
  power_of_two,
};

struct Narrowing {
  TargetKind kind{};
  Rounding rounding{};  // of integers: by_table is resolved
  bool wraps = false;   // integers
  std::uint64_t nan_code = 0;
  std::uint64_t nan_sign = 0;  // the sign's bit if NaN keeps it
  bool has_nan = false;

  // Floats. A number whose last place is that of the result is added: its bits are those of the
  // result's binade, and again by `drop` lower, and the addend; then the sum's low bits are the
  // code.
  int drop = 0;  // digits that a double has more
  std::uint64_t sign_bit = 0;
  std::uint64_t least_normal = 0;
  std::uint64_t to_addend = 0;
  double over = 0;    // the least magnitude that is rounded beyond the largest number
  double cut = 0;     // magnitudes are cut off here, which gives the code of all larger ones
  double beyond = 0;  // what that stands for: the largest number, Inf or NaN
  bool has_minus_zero = true;

  // Integers, before the zero point is taken off. Of 64 bits, `most` is the largest number and 1.
  double least = 0;
  double most = 0;
  double modulus = 0;
  double zero_point = 0;

  // E8M0: what lifts bits into the next binade where it is rounded up.
  std::uint64_t lift = 0;
};

Narrowing make_narrowing(DType to, const CastPolicy& policy, std::int64_t zero_point = 0);

}  // namespace btf
