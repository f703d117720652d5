// Casts between dtypes: what happens to values that the target cannot represent, and counts of what
// was lost (docs/dtypes.md).
#pragma once

#include <cstdint>
#include <span>

#include "btf/api.h"
#include "btf/dtype.h"
#include "btf/error.h"

namespace btf {

enum class Overflow : std::uint8_t {
  saturate,  // the target's own rule: the nearest representable value, or Inf for IEEE floats
  ieee,      // for small floats: Inf, or NaN if the type has no Inf
  wrap,      // for integers: modulo 2^bits, as NumPy does
  error,     // the conversion is refused
};

enum class Rounding : std::uint8_t {
  by_table,  // float to integer: toward zero; to E8M0: up; everything else: to nearest even
  nearest,   // float to integer: to nearest even; to E8M0: to nearest, ties up
  zero,
  up,
  down,
};

// How entries of a COO tensor with the same index are combined.
enum class Duplicates : std::uint8_t { error, sum, first, last };

BTF_API std::span<const Named<Duplicates>> duplicates_names();

// Rounding::by_table, the default, has no name.
BTF_API std::span<const Named<Overflow>> overflow_names();
BTF_API std::span<const Named<Rounding>> rounding_names();

// The defaults convert everything, and LossAccount counts what was lost.
struct CastPolicy {
  Overflow overflow = Overflow::saturate;
  // Only for casts from float to integer and to E8M0; other values are rounded to nearest even.
  Rounding rounding = Rounding::by_table;
  // Refuses the conversion if any value changes.
  bool lossless = false;
};

// Counts of elements by what the cast did to them. Each element is counted once, in the first class
// that applies.
struct LossAccount {
  std::uint64_t elements = 0;
  std::uint64_t overflowed = 0;  // beyond the target's range
  std::uint64_t nan_lost = 0;    // NaN that the target has no code for
  std::uint64_t to_zero = 0;     // nonzero numbers that became zero
  std::uint64_t inexact = 0;     // any other change of value
  std::uint64_t nan = 0;         // all NaN of the source; 0 if bits were only copied
  double max_abs = 0;            // largest |result - source| if both are finite
  double max_rel = 0;            // largest |result - source| / |source| if both are finite
  std::uint64_t sign_lost = 0;   // of `inexact`: below 0, and the target has no signs (E8M0)

  std::uint64_t changed() const { return overflowed + nan_lost + to_zero + inexact; }
  BTF_API void add(const LossAccount& other);
};

// An error if the policy has no meaning for this pair of dtypes. A policy that merely has no effect
// is accepted.
BTF_API Status check_policy(DType from, DType to, const CastPolicy& policy);

}  // namespace btf
