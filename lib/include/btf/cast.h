// Casts: the rules for values that do not fit, and the account of what was lost (docs/dtypes.md).
#pragma once

#include <cstdint>
#include <span>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

enum class Overflow : std::uint8_t {
  saturate,  // the rule of the target's row: the nearest representable value, Inf for IEEE floats
  ieee,      // small floats: Inf beyond the range, NaN of a type that has no Inf
  wrap,      // integers: modulo 2^bits, as NumPy does
  error,     // refuse the whole conversion
};

enum class Rounding : std::uint8_t {
  by_table,  // float to integer: toward zero; E8M0: up; all else: to nearest even
  nearest,   // float to integer: to nearest even; E8M0: to nearest, ties up
  zero,
  up,
  down,
};

// The value of an index that occurs more than once in a COO record.
enum class Duplicates : std::uint8_t { error, sum, first, last };

BTF_API std::span<const Named<Duplicates>> duplicates_names();

// Rounding::by_table has no name: it is what holds without a word.
BTF_API std::span<const Named<Overflow>> overflow_names();
BTF_API std::span<const Named<Rounding>> rounding_names();

struct CastPolicy {
  Overflow overflow = Overflow::saturate;
  Rounding rounding = Rounding::by_table;  // of float to integer and of E8M0 only
  bool lossless = false;                   // refuse the conversion when a value changes
};

// Elements by what became of them. The classes do not overlap: an element counts in the first that
// applies. `nan` is how many NaN were cast, lost or kept; a copy of bits (the same dtype) looks at
// none.
struct LossAccount {
  std::uint64_t elements = 0;
  std::uint64_t overflowed = 0;  // beyond the target's range
  std::uint64_t nan_lost = 0;    // NaN, and the target has none
  std::uint64_t to_zero = 0;     // not zero, became zero
  std::uint64_t inexact = 0;     // any other change of value
  std::uint64_t nan = 0;
  double max_abs = 0;  // largest |result - source| where both are finite
  double max_rel = 0;  // largest |result - source| / |source| likewise

  std::uint64_t changed() const { return overflowed + nan_lost + to_zero + inexact; }
  BTF_API void add(const LossAccount& other);
};

// Refuses a policy that cannot mean anything for this pair, with the reason. One that cannot
// change anything is accepted.
BTF_API Status check_policy(DType from, DType to, const CastPolicy& policy);

}  // namespace btf
