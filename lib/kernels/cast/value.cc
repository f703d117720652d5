#include <array>
#include <charconv>
#include <cmath>

#include "btf/dtype.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

template <typename T>
std::string shortest(T value) {
  if (std::isnan(value)) return "nan";
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

}  // namespace

std::string number_text(double value) { return shortest(value); }

double value_double(DType dtype, std::uint64_t code) {
  return number::to_double(decode_one(dtype, code));
}

std::string value_text(DType dtype, std::uint64_t code) {
  const DTypeInfo& row = info(dtype);
  const Number number = decode_one(dtype, code);
  switch (row.kind) {
    case NumberKind::boolean:
      return number.kind == Number::Class::zero ? "false" : "true";
    case NumberKind::floating: {
      const double value = number::to_double(number);
      return row.bits <= 32 ? shortest(static_cast<float>(value)) : shortest(value);
    }
    case NumberKind::signed_integer:
    case NumberKind::unsigned_integer:
      break;
  }
  if (number.kind == Number::Class::zero) return "0";
  const std::uint64_t magnitude = number.significand >> (63 - number.exponent);
  return (number.negative ? "-" : "") + std::to_string(magnitude);
}

std::string code_text(DType dtype, std::uint64_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (unsigned shift = info(dtype).bits; shift > 0; shift -= 4)
    text += kDigits[code >> (shift - 4) & 0xf];
  return text;
}

std::uint64_t largest_code(DType dtype) {
  const DTypeInfo& row = info(dtype);
  switch (row.kind) {
    case NumberKind::floating:
      return number::max_finite(row.fp);
    case NumberKind::boolean:
      return 1;
    case NumberKind::signed_integer:
      return number::low_bits(row.bits) >> 1;
    case NumberKind::unsigned_integer:
      break;
  }
  return number::low_bits(row.bits);
}

}  // namespace btf
