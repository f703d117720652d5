// Casts doubles to any dtype. A dtype is described by constants, so that a new row of the dtype
// table needs no loop of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "btf/cast.h"
#include "btf/dtype.h"

namespace btf {

enum class TargetKind : std::uint8_t {
  floating,      // with fewer digits than a double
  double_,       // the double itself
  integer,       // of up to 32 bits
  wide_integer,  // of 64 bits
  boolean,
  power_of_two,
};

struct Narrowing {
  TargetKind kind{};
  Rounding rounding{};  // for integers; never by_table
  bool wraps = false;   // for integers
  std::uint64_t nan_code = 0;
  std::uint64_t nan_sign = 0;  // the sign bit if NaN keeps its sign
  bool has_nan = false;

  // Floats. Adding a number whose last digit is the last one of the result rounds. That number is
  // made of the bits of the result's binade, the same bits shifted by `drop`, and `to_addend`; then
  // the low bits of the sum are the code.
  int drop = 0;  // digits that a double has in addition
  std::uint64_t sign_bit = 0;
  std::uint64_t least_normal = 0;
  std::uint64_t to_addend = 0;
  double over = 0;    // the least magnitude that is rounded beyond the largest number
  double cut = 0;     // magnitudes are clamped to this, which has the code of all larger ones
  double beyond = 0;  // the value of that code: the largest number, Inf or NaN
  bool has_minus_zero = true;

  // Integers, including the zero point. For 64 bits, `most` is the largest number plus 1.
  double least = 0;
  double most = 0;
  double modulus = 0;
  double zero_point = 0;

  // E8M0: added to the bits to reach the next binade when rounding up.
  std::uint64_t lift = 0;
};

Narrowing make_narrowing(DType to, const CastPolicy& policy, std::int64_t zero_point = 0);

// The most elements of a chunk: few enough that all arrays stay in the first-level cache.
inline constexpr std::size_t kNarrowChunk = 512;

// The size of arrays, with space for the last vector.
inline constexpr std::size_t kNarrowRoom = kNarrowChunk + 8;

using NarrowNumbers = std::array<double, kNarrowRoom>;

// How the numbers of a chunk are computed.
enum class NumberSource : std::uint8_t {
  plain,     // numbers
  split,     // numbers + low; each sum is an integer of 64 bits
  quotient,  // numbers / scales; the account is that of value * scale against the number
  product,   // (numbers - zero_points) * scales
};

// All arrays have kNarrowRoom elements; those after the chunk may be written.
struct NarrowChunk {
  double* numbers = nullptr;
  double* low = nullptr;  // split
  // For quotient and product: positive scales that are normal floats. A quotient's may also be
  // zero, and all its results are then 0. `each`: one for each number, otherwise one for all.
  double* scales = nullptr;
  double* zero_points = nullptr;
  bool each = false;
  std::size_t count = 0;
};

// The codes of a chunk, in 32 or 64 bits each.
union NarrowCodes {
  alignas(64) std::array<std::uint32_t, kNarrowRoom> narrow;
  std::array<std::uint64_t, kNarrowRoom> wide;
};

using NarrowFn = void (*)(const Narrowing& to, const NarrowChunk& chunk, NarrowCodes& codes,
                          LossAccount& account);

// The function for the instruction set in use. Its account is the same as that of the reference.
NarrowFn find_narrow(TargetKind kind, NumberSource source);

// Returns true if the instruction set in use has a fused multiply-add. Without it, the error of a
// quotient beyond the range is exact only if value * scale is a double.
bool narrow_is_fused();

// Writes each code in `element_bytes` bytes.
void pack_codes(const NarrowCodes& codes, std::size_t count, std::size_t element_bytes,
                std::byte* target);

// Splits integers of 64 bits into sums of two doubles. Returns false if each is a single double.
bool split_integers(const std::byte* source, std::size_t count, bool has_sign, double* high,
                    double* low);

}  // namespace btf
