#include "formats/text/decimal.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/numbers.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

using number::kTopBit;

// Beyond the exponents of every dtype.
constexpr std::int32_t kFarExponent = 100'000;

struct Parsed {
  double value = 0;
  bool out_of_range = false;  // too small as well as too large
};

std::optional<Parsed> parse_double(std::string_view text) {
  Parsed parsed;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed.value);
  if (text.empty() || stop != end || error == std::errc::invalid_argument) return std::nullopt;
  // Some libraries give Inf or 0 for numbers that are too large or too small.
  parsed.out_of_range = error == std::errc::result_out_of_range ||
                        (std::isinf(parsed.value) && !says_no_number(text));
  return parsed;
}

// The digits of the exact value of a finite number that is not zero.
Digits digits_of_double(double value) {
  // As many as the smallest double has.
  constexpr int kMostDigits = 770;
  const int binary = std::ilogb(value);
  const int needed = std::min(kMostDigits, 60 + std::abs(binary));
  std::array<char, kMostDigits + 20> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value),
                                 std::chars_format::scientific, needed);
  return digits_of({text.data(), end.ptr});
}

// The sign of |text| - |value|.
int compare_magnitudes(std::string_view text, double value) {
  const Digits exact = digits_of(text);
  // Whole numbers below 10^15, and powers of ten up to 10^22, are doubles.
  if (exact.digits.size() <= 15) {
    const std::int64_t scale = exact.point - static_cast<std::int64_t>(exact.digits.size());
    if (scale >= -22 && scale <= 22) {
      const auto whole = static_cast<double>(*parse_number<std::int64_t>(exact.digits));
      const double power = *parse_number<double>("1e" + std::to_string(std::abs(scale)));
      const double rest = scale < 0 ? -std::fma(std::fabs(value), power, -whole)
                                    : std::fma(whole, power, -std::fabs(value));
      return rest < 0 ? -1 : rest > 0 ? 1 : 0;
    }
  }
  const Digits found = digits_of_double(value);
  if (exact.point != found.point) return exact.point < found.point ? -1 : 1;
  const int order = exact.digits.compare(found.digits);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// May what a double leaves out decide to which code of the dtype the number is rounded? Only in the
// midst between two, and where any fraction counts.
bool rest_counts(const Number& number, const DTypeInfo& row) {
  const std::uint64_t half = kTopBit >> (row.fp.mantissa_bits + 1U);
  if (row.fp.power_of_two) return number.significand == kTopBit;
  if ((number.significand & (half - 1)) != 0) return false;
  return (number.significand & half) != 0 || number.exponent < 1 - row.fp.bias;
}

// The least that a Number can be away from it.
Number nudged(Number number, int direction) {
  if (direction > 0) number.significand |= 1;
  if (direction >= 0) return number;
  if (number.significand == kTopBit)
    return {~0ULL, number.exponent - 1, number.negative, number.kind};
  --number.significand;
  return number;
}

}  // namespace

bool says_no_number(std::string_view text) { return text.find_first_of("nN") != text.npos; }

bool is_number(std::string_view text) { return parse_double(text).has_value(); }

Digits digits_of(std::string_view text) {
  Digits found;
  found.negative = text.starts_with('-');
  if (found.negative) text.remove_prefix(1);
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  for (const char c : mantissa)
    if (c != '.') found.digits += c;
  const std::size_t zeros = std::min(found.digits.find_first_not_of('0'), found.digits.size());
  found.digits.erase(0, zeros);
  found.digits.erase(found.digits.find_last_not_of('0') + 1);
  std::string_view exponent = text.substr(std::min(mark + 1, text.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t power = 0;
  if (!exponent.empty()) {
    // An exponent that fits no 64 bits is beyond every dtype.
    constexpr std::int64_t kFar = kFarExponent;
    power = std::clamp(
        parse_number<std::int64_t>(exponent).value_or(exponent.front() == '-' ? -kFar : kFar),
        -kFar, kFar);
  }
  found.point = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(zeros) + power;
  return found;
}

std::optional<Number> number_of(std::string_view text, const DTypeInfo& row) {
  const auto parsed = parse_double(text);
  if (!parsed) return std::nullopt;
  if (parsed->out_of_range || parsed->value == 0) {
    const Digits exact = digits_of(text);
    if (exact.digits.empty()) return Number{0, 0, exact.negative, Number::Class::zero};
    const std::int32_t exponent = exact.point > 0 ? kFarExponent : -kFarExponent;
    return Number{kTopBit, exponent, exact.negative, Number::Class::finite};
  }
  const Number number = decode_one(DType::float64, std::bit_cast<std::uint64_t>(parsed->value));
  if (number.kind != Number::Class::finite || !rest_counts(number, row)) return number;
  return nudged(number, compare_magnitudes(text, parsed->value));
}

}  // namespace btf
