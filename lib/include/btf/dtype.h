// The element types. One row each; everything else about a type is computed from its row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// A value of an enum and its name in options, reports and other languages.
template <typename Value>
struct Named {
  Value value{};
  std::string_view name;
};

// The numbers are the codes in a BTF file: part of the format, do not change.
// From 128 on: btftool's extension (docs/format.md).
enum class DType : std::uint8_t {
  int8 = 0,
  int16 = 1,
  int32 = 2,
  int64 = 3,
  float32 = 4,
  float64 = 5,
  uint8 = 6,
  uint16 = 7,
  uint32 = 8,
  uint64 = 9,
  float16 = 128,
  bfloat16 = 129,
  float8_e4m3fn = 130,
  float8_e5m2 = 131,
  float8_e8m0fnu = 132,
  float4_e2m1fn = 133,
  int4 = 134,
  uint4 = 135,
  boolean = 136,
  float8_e4m3fnuz = 137,
  float8_e5m2fnuz = 138,
  float8_e3m4 = 139,
  float8_e4m3 = 140,
  float8_e4m3b11fnuz = 141,
};

enum class NumberKind : std::uint8_t { signed_integer, unsigned_integer, floating, boolean };

// Which codes of a float are not numbers.
enum class FloatSpecials : std::uint8_t {
  ieee,      // exponent all ones: Inf (mantissa 0) and NaN
  nan_only,  // all bits below the sign set: NaN; no Inf
  fnuz,      // the sign alone, which would be -0: the one NaN; no Inf
  none,      // every code is a finite number
};

// value = (-1)^sign * 1.mantissa * 2^(exponent - bias), gradual below 2^(1 - bias).
struct FloatGeometry {
  std::uint8_t exponent_bits = 0;
  std::uint8_t mantissa_bits = 0;
  std::int16_t bias = 0;
  FloatSpecials specials = FloatSpecials::ieee;
  bool saturates = false;  // beyond the range: the largest number instead of Inf (docs/dtypes.md)
  bool power_of_two = false;  // E8M0: no sign, no zero, no mantissa, code 0 is 2^-bias
};

// How close two numbers of a dtype are expected to be that were computed in different ways.
struct Closeness {
  double rtol = 0;
  double atol = 0;
};

struct DTypeInfo {
  DType dtype{};
  std::string_view name;                    // ml_dtypes' and NumPy's name
  std::array<std::string_view, 6> aliases;  // names of trtexec, TFRT, safetensors; lower case
  std::uint8_t bits = 0;
  NumberKind kind{};
  FloatGeometry fp{};       // floating only
  Closeness close{};        // integers: none
  std::string_view npy{};   // NumPy's type string without the byte order; empty: none
  std::uint8_t dlpack = 0;  // DLPack's type code (btf/dlpack_abi.h); with `bits` the whole type
  std::string_view torch{};        // PyTorch's name; float4_e2m1fn_x2 is two of them. Empty: none
  std::string_view safetensors{};  // "F8_E4M3"; empty: none
  std::string_view tensorrt{};     // the enumerator of its DataType, "kHALF"; empty: none

  constexpr std::uint8_t code() const { return static_cast<std::uint8_t>(dtype); }
  constexpr bool extension() const { return code() >= 128; }
  constexpr bool floating() const { return kind == NumberKind::floating; }
  // Bytes an element takes in a work buffer; 4-bit elements take a byte of their own there.
  constexpr std::size_t buffer_bytes() const { return bits < 8 ? 1 : bits / 8U; }
};

// All rows, in the order of their codes.
BTF_API std::span<const DTypeInfo> dtypes();

BTF_API const DTypeInfo& info(DType dtype);

// nullptr if no type has this code.
BTF_API const DTypeInfo* find_dtype(std::uint8_t code);

// By any of its names, in any case. The error lists the names there are.
BTF_API Result<DType> parse_dtype(std::string_view name);

// True if every value of `from`, NaN and Inf included, exists in `to`.
BTF_API bool is_lossless(DType from, DType to);

}  // namespace btf
