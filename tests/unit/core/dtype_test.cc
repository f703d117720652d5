#include "btf/dtype.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/said.h"

using btf::DType;

namespace {

struct Expected {
  DType dtype;
  int code;
  int bits;
  std::vector<std::string> names;
};

const std::vector<Expected>& expected_dtypes() {
  static const std::vector<Expected> rows{
      {DType::int8, 0, 8, {"int8", "i8"}},
      {DType::int16, 1, 16, {"int16", "i16"}},
      {DType::int32, 2, 32, {"int32", "i32"}},
      {DType::int64, 3, 64, {"int64", "i64"}},
      {DType::float32, 4, 32, {"float32", "fp32", "f32", "float", "single"}},
      {DType::float64, 5, 64, {"float64", "fp64", "f64", "double"}},
      {DType::uint8, 6, 8, {"uint8", "u8", "ui8"}},
      {DType::uint16, 7, 16, {"uint16", "u16", "ui16"}},
      {DType::uint32, 8, 32, {"uint32", "u32", "ui32"}},
      {DType::uint64, 9, 64, {"uint64", "u64", "ui64"}},
      {DType::float16, 128, 16, {"float16", "fp16", "f16", "half"}},
      {DType::bfloat16, 129, 16, {"bfloat16", "bf16"}},
      {DType::float8_e4m3fn,
       130,
       8,
       {"float8_e4m3fn", "fp8", "F8_E4M3", "F8_E4M3FN", "e4m3fn", "e4m3"}},
      {DType::float8_e5m2, 131, 8, {"float8_e5m2", "F8_E5M2", "e5m2"}},
      {DType::float8_e8m0fnu,
       132,
       8,
       {"float8_e8m0fnu", "e8m0", "F8_E8M0", "F8_E8M0FNU", "float8_e8m0", "e8m0fnu"}},
      {DType::float4_e2m1fn,
       133,
       4,
       {"float4_e2m1fn", "fp4", "F4", "F4_E2M1", "float4_e2m1", "e2m1fn", "e2m1"}},
      {DType::int4, 134, 4, {"int4", "i4"}},
      {DType::uint4, 135, 4, {"uint4", "u4", "ui4"}},
      {DType::boolean, 136, 8, {"bool", "boolean", "i1"}},
      {DType::float8_e4m3fnuz, 137, 8, {"float8_e4m3fnuz", "F8_E4M3FNUZ", "e4m3fnuz"}},
      {DType::float8_e5m2fnuz, 138, 8, {"float8_e5m2fnuz", "F8_E5M2FNUZ", "e5m2fnuz"}},
      {DType::float8_e3m4, 139, 8, {"float8_e3m4", "F8_E3M4", "e3m4"}},
      {DType::float8_e4m3, 140, 8, {"float8_e4m3"}},
      {DType::float8_e4m3b11fnuz, 141, 8, {"float8_e4m3b11fnuz", "F8_E4M3B11FNUZ", "e4m3b11fnuz"}},
  };
  return rows;
}

std::string changed_case(const std::string& name, bool alternate) {
  std::string changed;
  for (const char c : name) {
    const bool upper = !alternate || changed.size() % 2 == 0;
    const auto byte = static_cast<unsigned char>(c);
    changed += static_cast<char>(upper ? std::toupper(byte) : std::tolower(byte));
  }
  return changed;
}

// The numbers that a dtype of up to 16 bits can hold, by the words of its standard.
struct Values {
  std::set<double> numbers;
  bool nan = false;
  bool infinity = false;
};

Values integers(int low, int high) {
  Values values;
  for (int i = low; i <= high; ++i) values.numbers.insert(i);
  return values;
}

struct Decoded {
  enum { number, nan, infinity } kind = number;
  double value = 0;
};

// IEEE 754's interchange form with these widths.
Decoded ieee(unsigned code, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(code >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(code) & ((1 << mantissa_bits) - 1);
  const double sign = (code >> (mantissa_bits + exponent_bits)) != 0 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return {mantissa == 0 ? Decoded::infinity : Decoded::nan, 0};
  if (exponent == 0)
    return {Decoded::number, sign * std::ldexp(mantissa, 1 - bias - mantissa_bits)};
  return {Decoded::number,
          sign * std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias - mantissa_bits)};
}

Values ieee_values(int exponent_bits, int mantissa_bits) {
  Values values;
  for (unsigned code = 0; code < 1U << (1 + exponent_bits + mantissa_bits); ++code) {
    const Decoded decoded = ieee(code, exponent_bits, mantissa_bits);
    if (decoded.kind == Decoded::number) values.numbers.insert(decoded.value);
    values.nan = values.nan || decoded.kind == Decoded::nan;
    values.infinity = values.infinity || decoded.kind == Decoded::infinity;
  }
  return values;
}

Values e4m3fn_values() {
  Values values;
  values.nan = true;
  for (unsigned code = 0; code < 0x7f; ++code) {
    const int exponent = static_cast<int>(code >> 3);
    const int mantissa = static_cast<int>(code & 7);
    const double value =
        exponent == 0 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, exponent - 10);
    values.numbers.insert({value, -value});
  }
  return values;
}

// All codes are numbers, but for that of -0.
Values fnuz_values(int mantissa_bits, int bias) {
  Values values;
  values.nan = true;
  for (int code = 0; code < 0x80; ++code) {
    const int exponent = code >> mantissa_bits;
    const int mantissa = code & ((1 << mantissa_bits) - 1);
    const int significand = exponent == 0 ? mantissa : (1 << mantissa_bits) + mantissa;
    const double value = std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
    values.numbers.insert({value, -value});
  }
  return values;
}

Values e8m0fnu_values() {
  Values values;
  values.nan = true;
  for (int code = 0; code < 255; ++code) values.numbers.insert(std::ldexp(1, code - 127));
  return values;
}

const std::map<DType, Values>& small_values() {
  static const std::map<DType, Values> values{
      {DType::int4, integers(-8, 7)},
      {DType::uint4, integers(0, 15)},
      {DType::int8, integers(-128, 127)},
      {DType::uint8, integers(0, 255)},
      {DType::int16, integers(-32768, 32767)},
      {DType::uint16, integers(0, 65535)},
      {DType::boolean, integers(0, 1)},
      {DType::float16, ieee_values(5, 10)},
      {DType::bfloat16, ieee_values(8, 7)},
      {DType::float8_e5m2, ieee_values(5, 2)},
      {DType::float8_e4m3fn, e4m3fn_values()},
      {DType::float8_e3m4, ieee_values(3, 4)},
      {DType::float8_e4m3, ieee_values(4, 3)},
      {DType::float8_e4m3fnuz, fnuz_values(3, 8)},
      {DType::float8_e5m2fnuz, fnuz_values(2, 16)},
      {DType::float8_e4m3b11fnuz, fnuz_values(3, 11)},
      {DType::float8_e8m0fnu, e8m0fnu_values()},
      {DType::float4_e2m1fn,
       {{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.5, -1, -1.5, -2, -3, -4, -6}, false, false}},
  };
  return values;
}

bool integer_between(double value, double low, double below) {
  return value == std::floor(value) && value >= low && value < below;
}

bool can_hold(DType dtype, double value) {
  if (const auto row = small_values().find(dtype); row != small_values().end())
    return row->second.numbers.contains(value);
  switch (dtype) {
    case DType::int32:
      return integer_between(value, -0x1p31, 0x1p31);
    case DType::uint32:
      return integer_between(value, 0, 0x1p32);
    case DType::int64:
      return integer_between(value, -0x1p63, 0x1p63);
    case DType::uint64:
      return integer_between(value, 0, 0x1p64);
    case DType::float32:
      return static_cast<double>(static_cast<float>(value)) == value;
    default:
      return true;  // float64
  }
}

bool has_nan(DType dtype) {
  if (const auto row = small_values().find(dtype); row != small_values().end())
    return row->second.nan;
  return dtype == DType::float32 || dtype == DType::float64;
}

bool has_infinity(DType dtype) {
  if (const auto row = small_values().find(dtype); row != small_values().end())
    return row->second.infinity;
  return dtype == DType::float32 || dtype == DType::float64;
}

}  // namespace

TEST_CASE("dtypes have the codes and sizes of the format") {
  REQUIRE(btf::dtypes().size() == expected_dtypes().size());
  std::size_t row = 0;
  for (const Expected& expected : expected_dtypes()) {
    CAPTURE(expected.names.front());
    const btf::DTypeInfo& info = btf::info(expected.dtype);
    CHECK(info.name == expected.names.front());
    CHECK(info.code() == expected.code);
    CHECK(info.bits == expected.bits);
    CHECK(info.buffer_bytes() == static_cast<std::size_t>(std::max(expected.bits, 8) / 8));
    CHECK(info.extension() == (expected.code >= 128));
    CHECK(btf::dtypes()[row++].dtype == expected.dtype);
  }
}

TEST_CASE("dtypes are found by their codes and by no others") {
  for (unsigned code = 0; code < 256; ++code) {
    const auto expected =
        std::ranges::find(expected_dtypes(), static_cast<int>(code), &Expected::code);
    const btf::DTypeInfo* found = btf::find_dtype(static_cast<std::uint8_t>(code));
    CAPTURE(code);
    REQUIRE((found != nullptr) == (expected != expected_dtypes().end()));
    if (found != nullptr) CHECK(found->dtype == expected->dtype);
  }
}

TEST_CASE("dtypes answer to all of their names in any case") {
  for (const Expected& expected : expected_dtypes()) {
    for (const std::string& name : expected.names) {
      CAPTURE(name);
      CHECK(btf::parse_dtype(name) == expected.dtype);
      CHECK(btf::parse_dtype(changed_case(name, false)) == expected.dtype);
      CHECK(btf::parse_dtype(changed_case(name, true)) == expected.dtype);
    }
  }
}

TEST_CASE("a dtype's name belongs to one dtype") {
  std::map<std::string, std::string_view> owners;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    std::vector<std::string_view> names{row.name};
    for (const std::string_view alias : row.aliases)
      if (!alias.empty()) names.push_back(alias);
    for (const std::string_view name : names) {
      const bool added = owners.emplace(changed_case(std::string(name), false), row.name).second;
      CAPTURE(name);
      CHECK(added);
    }
  }
}

TEST_CASE("an unknown dtype's error lists the names there are") {
  const std::pair<std::string, std::string> words[] = {
      {"fp12", "fp32"},  {"", ""},  {"int", "int8"},   {"float33", "float32"},
      {"int8 ", "int8"}, {"f", ""}, {"quaternion", ""}};
  for (const auto& [name, meant] : words) {
    const auto parsed = btf::parse_dtype(name);
    CAPTURE(name);
    REQUIRE(!parsed);
    CHECK(parsed.error().code == btf::ErrorCode::invalid_argument);
    CHECK(said(parsed.error()) ==
          "unknown dtype '" + name + "'" +
              (meant.empty() ? "" : " (did you mean '" + meant + "'?)") +
              "; there are int8, int16, int32, int64, float32, float64, uint8, uint16, uint32, "
              "uint64, float16, bfloat16, float8_e4m3fn, float8_e5m2, float8_e8m0fnu, "
              "float4_e2m1fn, int4, uint4, bool, float8_e4m3fnuz, float8_e5m2fnuz, float8_e3m4, "
              "float8_e4m3, float8_e4m3b11fnuz");
  }
}

TEST_CASE("is_lossless agrees with the sets of values, from small dtypes") {
  for (const auto& [from, values] : small_values()) {
    for (const btf::DTypeInfo& to : btf::dtypes()) {
      bool all = (!values.nan || has_nan(to.dtype)) && (!values.infinity || has_infinity(to.dtype));
      for (const double value : values.numbers) {
        if (!all) break;
        all = can_hold(to.dtype, value);
      }
      CAPTURE(btf::info(from).name, to.name);
      CHECK(btf::is_lossless(from, to.dtype) == all);
    }
  }
}

TEST_CASE("is_lossless from large dtypes") {
  const std::map<DType, std::set<DType>> holders{
      {DType::int32, {DType::int32, DType::int64, DType::float64}},
      {DType::uint32, {DType::uint32, DType::int64, DType::uint64, DType::float64}},
      {DType::int64, {DType::int64}},
      {DType::uint64, {DType::uint64}},
      {DType::float32, {DType::float32, DType::float64}},
      {DType::float64, {DType::float64}},
  };
  for (const auto& [from, targets] : holders) {
    for (const btf::DTypeInfo& to : btf::dtypes()) {
      CAPTURE(btf::info(from).name, to.name);
      CHECK(btf::is_lossless(from, to.dtype) == targets.contains(to.dtype));
    }
  }
}

TEST_CASE("is_lossless, pairs worth knowing") {
  CHECK(btf::is_lossless(DType::float8_e8m0fnu, DType::bfloat16));  // 2^-127 is a subnormal
  CHECK(btf::is_lossless(DType::float8_e8m0fnu, DType::float32));
  CHECK(!btf::is_lossless(DType::float8_e8m0fnu, DType::float16));
  CHECK(!btf::is_lossless(DType::boolean, DType::float8_e8m0fnu));  // no zero
  CHECK(btf::is_lossless(DType::boolean, DType::int4));
  CHECK(btf::is_lossless(DType::float8_e4m3fn, DType::float16));
  CHECK(btf::is_lossless(DType::float8_e5m2, DType::float16));
  CHECK(!btf::is_lossless(DType::float8_e5m2, DType::float8_e4m3fn));
  CHECK(btf::is_lossless(DType::float4_e2m1fn, DType::float8_e4m3fn));
  CHECK(btf::is_lossless(DType::int4, DType::float8_e5m2));    // 7 is 1.11b
  CHECK(!btf::is_lossless(DType::uint4, DType::float8_e5m2));  // 9 is 1.001b
  CHECK(btf::is_lossless(DType::uint4, DType::float8_e4m3fn));
  CHECK(btf::is_lossless(DType::float8_e4m3fnuz, DType::float16));
  CHECK(btf::is_lossless(DType::float8_e5m2fnuz, DType::float16));
  CHECK(!btf::is_lossless(DType::float8_e4m3fn, DType::float8_e4m3));  // 448
  CHECK(!btf::is_lossless(DType::float8_e4m3, DType::float8_e4m3fn));  // Inf
  CHECK(btf::is_lossless(DType::float8_e4m3b11fnuz, DType::float16));
  CHECK(btf::is_lossless(DType::int4, DType::float8_e3m4));
  CHECK(!btf::is_lossless(DType::uint4, DType::float8_e5m2fnuz));
  CHECK(btf::is_lossless(DType::int8, DType::bfloat16));
  CHECK(btf::is_lossless(DType::uint8, DType::bfloat16));
  CHECK(!btf::is_lossless(DType::int16, DType::float16));
  CHECK(btf::is_lossless(DType::int16, DType::float32));
  CHECK(!btf::is_lossless(DType::float16, DType::bfloat16));
  CHECK(!btf::is_lossless(DType::bfloat16, DType::float16));
}
