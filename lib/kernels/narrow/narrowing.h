// The effect of a dtype on doubles, as numbers for loops that know no dtype: a new row of the dtype
// table needs no loop of its own.
#pragma once

#include <array>
#include <cstddef>
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

// Doubles to codes, a chunk at a time, one function per kind of target and instruction set; with
// the account that the reference gives.

// Elements of a chunk at most: few enough that all of its arrays stay in the first-level cache.
inline constexpr std::size_t kNarrowChunk = 512;

// Room for the last vector.
inline constexpr std::size_t kNarrowRoom = kNarrowChunk + 8;

using NarrowNumbers = std::array<double, kNarrowRoom>;

// Where a chunk's numbers come from.
enum class NumberSource : std::uint8_t {
  plain,     // numbers
  split,     // numbers + low, each sum an integer of 64 bits
  quotient,  // numbers / scales; the account is that of value * scale against the number
  product,   // (numbers - zero_points) * scales
};

// A chunk's arrays have room for the last vector, and may be written there.
struct NarrowChunk {
  double* numbers = nullptr;
  double* low = nullptr;  // split
  // quotient and product. Positive scales that are normal floats, or zero for a quotient: then all
  // is as 0. `each`: one for every number, else one for all.
  double* scales = nullptr;
  double* zero_points = nullptr;
  bool each = false;
  std::size_t count = 0;
};

// A chunk's codes, 32 bits or 64.
union NarrowCodes {
  alignas(64) std::array<std::uint32_t, kNarrowRoom> narrow;
  std::array<std::uint64_t, kNarrowRoom> wide;
};

using NarrowFn = void (*)(const Narrowing& to, const NarrowChunk& chunk, NarrowCodes& codes,
                          LossAccount& account);

NarrowFn find_narrow(TargetKind kind, NumberSource source);

// Does the instruction set in use round a product and a sum once? Without, the error of a quotient
// beyond the range is exact only if value * scale is a double.
bool narrow_is_fused();

// The codes, each in the bytes that a target's element takes.
void pack_codes(const NarrowCodes& codes, std::size_t count, std::size_t element_bytes,
                std::byte* target);

// Integers of 64 bits as sums of two doubles. False if each is a double alone.
bool split_integers(const std::byte* source, std::size_t count, bool has_sign, double* high,
                    double* low);

}  // namespace btf
