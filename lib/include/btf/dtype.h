// The element types (dtypes), and single elements as text and as numbers (docs/dtypes.md).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "btf/api.h"
#include "btf/error.h"

namespace btf {

// A value of an enum with its name in options, reports and other languages.
template <typename Value>
struct Named {
  Value value{};
  std::string_view name;
};

// The numbers are the codes in a BTF file: part of the format, do not change.
// Numbers from 128 on are btftool's extension (docs/format.md).
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

// Which codes of a float are Inf or NaN.
enum class FloatSpecials : std::uint8_t {
  ieee,      // an exponent of all ones: Inf if the mantissa is 0, else NaN
  nan_only,  // NaN if all bits below the sign are set; no Inf
  fnuz,      // one NaN, the code that would be -0; no Inf
  none,      // every code is a finite number
};

// value = (-1)^sign * 1.mantissa * 2^(exponent - bias), gradual below 2^(1 - bias).
struct FloatGeometry {
  std::uint8_t exponent_bits = 0;
  std::uint8_t mantissa_bits = 0;
  std::int16_t bias = 0;
  FloatSpecials specials = FloatSpecials::ieee;
  bool saturates = false;     // casts beyond the range give the largest number instead of Inf
  bool power_of_two = false;  // E8M0: no sign, no zero, no mantissa; code 0 is 2^-bias
};

// The tolerance to expect between two correct computations in a dtype (Tolerance::close).
struct Closeness {
  double rtol = 0;
  double atol = 0;
};

// The row of a dtype. Everything else about the dtype is computed from it.
struct DTypeInfo {
  DType dtype{};
  std::string_view name;                    // ml_dtypes' and NumPy's name
  std::array<std::string_view, 6> aliases;  // of trtexec, TFRT and safetensors, in lower case
  std::uint8_t bits = 0;                    // 4, 8, 16, 32 or 64
  NumberKind kind{};
  FloatGeometry fp{};  // floating only
  Closeness close{};   // 0 for integers
  // The names below are empty if the format has no such type.
  std::string_view npy{};          // NumPy's type string without the byte order
  std::uint8_t dlpack = 0;         // DLPack's type code (btf/dlpack_abi.h)
  std::string_view torch{};        // float4_e2m1fn_x2 is two elements
  std::string_view safetensors{};  // "F8_E4M3"
  std::string_view tensorrt{};     // enumerator of DataType, "kHALF"

  constexpr std::uint8_t code() const { return static_cast<std::uint8_t>(dtype); }
  constexpr bool extension() const { return code() >= 128; }
  constexpr bool floating() const { return kind == NumberKind::floating; }
  // True if two elements share a byte.
  constexpr bool half_byte() const { return bits == 4; }
  // Bytes that an element takes in a work buffer, where 4-bit elements take one byte each.
  constexpr std::size_t buffer_bytes() const { return half_byte() ? 1 : bits / 8U; }
};

// All rows, in the order of their codes.
BTF_API std::span<const DTypeInfo> dtypes();

BTF_API const DTypeInfo& info(DType dtype);

// nullptr if no type has this code.
BTF_API const DTypeInfo* find_dtype(std::uint8_t code);

// Accepts any name of a dtype in any case. The error lists all names.
BTF_API Result<DType> parse_dtype(std::string_view name);

// True if every value of `from`, NaN and Inf included, exists in `to`.
BTF_API bool is_lossless(DType from, DType to);

// --- One element as text and as a number. `code` holds its bits; higher bits must be zero. ---

// The value with the fewest digits that read back as the same value: "0.1", "-0", "nan", "-inf",
// "true".
BTF_API std::string value_text(DType dtype, std::uint64_t code);

// The code in hexadecimal with one digit for every 4 bits: "0x3c00".
BTF_API std::string code_text(DType dtype, std::uint64_t code);

// The value as a double; 64-bit integers round to nearest even.
BTF_API double value_double(DType dtype, std::uint64_t code);

// The code of the largest finite value.
BTF_API std::uint64_t largest_code(DType dtype);

// A double, with the fewest digits that read back as the same value.
BTF_API std::string number_text(double value);

}  // namespace btf
