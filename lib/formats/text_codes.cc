#include "formats/text_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "btf/try.h"
#include "core/errors.h"
#include "core/names.h"
#include "core/numbers.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

using number::kTopBit;

// Beyond the exponents of every dtype.
constexpr std::int32_t kFarExponent = 100'000;

struct Parsed {
  double value = 0;
  bool out_of_range = false;  // too small or too large
};

std::optional<Parsed> parse_double(std::string_view text) {
  Parsed parsed;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, parsed.value);
  if (text.empty() || stop != end || error == std::errc::invalid_argument) return std::nullopt;
  // Some libraries return Inf or 0 for numbers that are out of range.
  parsed.out_of_range =
      error == std::errc::result_out_of_range || (std::isinf(parsed.value) && !is_nan_or_inf(text));
  return parsed;
}

enum class NonFinite : std::uint8_t { infinity, nan, either };

struct NonFiniteWord {
  std::string_view word;  // case is ignored
  NonFinite meaning;
  bool padded = false;  // zeros and an exponent of zeros may follow
};

// What C libraries, Python, Java, .NET, Fortran and AIX print. C libraries of Windows before 2015
// treat the letters like decimals: zeros fill the requested number of decimals, and fewer decimals
// round the last letter up, so that '#INF' and '#IND' become '#J'. Their indefinite NaN is always
// negative.
constexpr auto kNonFiniteWords = std::to_array<NonFiniteWord>({
    {"inf", NonFinite::infinity},
    {"infinity", NonFinite::infinity},
    {"\xe2\x88\x9e", NonFinite::infinity},
    {"nan", NonFinite::nan},
    {"nanq", NonFinite::nan},
    {"nans", NonFinite::nan},
    {"qnan", NonFinite::nan},
    {"snan", NonFinite::nan},
    {"1.#inf", NonFinite::infinity, true},
    {"1.#ind", NonFinite::nan, true},
    {"1.#qnan", NonFinite::nan, true},
    {"1.#snan", NonFinite::nan, true},
    {"1.#qnb", NonFinite::nan, true},
    {"1.#snb", NonFinite::nan, true},
    {"1.#qo", NonFinite::nan, true},
    {"1.#so", NonFinite::nan, true},
    {"1.#io", NonFinite::either, true},
    {"1.#r", NonFinite::nan, true},
    {"1.#t", NonFinite::nan, true},
    {"1.#j", NonFinite::either, true},
    {"1.$", NonFinite::either, true},
});

// "", "00", "00e+000".
bool is_padding(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  if (text.empty()) return true;
  if (ascii_lower(text.front()) != 'e') return false;
  text.remove_prefix(1);
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of('0') == text.npos;
}

// "(ind)", "(0x8000000000000)": what C99 allows after "nan".
bool is_payload(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('(') || !text.ends_with(')')) return false;
  return std::ranges::all_of(text.substr(1, text.size() - 2), [](char c) {
    const char lower = ascii_lower(c);
    return c == '_' || (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'z');
  });
}

std::optional<NonFinite> meaning_of(std::string_view word) {
  constexpr std::string_view kNan = "nan";
  if (same_name(word.substr(0, kNan.size()), kNan) && is_payload(word.substr(kNan.size())))
    return NonFinite::nan;
  for (const NonFiniteWord& row : kNonFiniteWords)
    if (same_name(word.substr(0, row.word.size()), row.word) &&
        (word.size() == row.word.size() ||
         (row.padded && is_padding(word.substr(row.word.size())))))
      return row.meaning;
  return std::nullopt;
}

// The digits of the exact value of a finite nonzero number.
Digits digits_of_double(double value) {
  // The smallest double has this many digits.
  constexpr int kMaxDigits = 770;
  const int binary = std::ilogb(value);
  const int needed = std::min(kMaxDigits, 60 + std::abs(binary));
  std::array<char, kMaxDigits + 20> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::fabs(value),
                                 std::chars_format::scientific, needed);
  return digits_of({text.data(), end.ptr});
}

// The sign of |text| - |value|.
int compare_magnitudes(std::string_view text, double value) {
  const Digits exact = digits_of(text);
  // Integers below 10^15 and powers of ten up to 10^22 are exact doubles.
  if (exact.digits.size() <= 15) {
    const std::int64_t scale = exact.point - static_cast<std::int64_t>(exact.digits.size());
    if (scale >= -22 && scale <= 22) {
      const auto whole = static_cast<double>(*parse_number<std::int64_t>(exact.digits));
      const double power = *parse_number<double>(concat("1e", std::abs(scale)));
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

// Returns true if digits beyond a double may decide how the number is rounded: exactly halfway
// between two codes, and where any fraction is an error.
bool rest_counts(const Number& number, const DTypeInfo& row) {
  const std::uint64_t half = kTopBit >> (row.fp.mantissa_bits + 1U);
  if (row.fp.power_of_two) return number.significand == kTopBit;
  if ((number.significand & (half - 1)) != 0) return false;
  return (number.significand & half) != 0 || number.exponent < 1 - row.fp.bias;
}

// The nearest larger or smaller Number.
Number nudged(Number number, int direction) {
  if (direction > 0) number.significand |= 1;
  if (direction >= 0) return number;
  if (number.significand == kTopBit)
    return {~0ULL, number.exponent - 1, number.negative, number.kind};
  --number.significand;
  return number;
}

}  // namespace

std::string_view normalised_number(std::string_view word) {
  // printf() can print a plus sign.
  const bool negative = word.starts_with('-');
  const bool plus = word.starts_with('+') && !word.starts_with("+-");
  const std::string_view unsigned_word = word.substr(negative || plus ? 1 : 0);
  // Fast path: most words begin with a digit and contain nothing of the table.
  if (unsigned_word.find_first_of("nN#\x9e") == word.npos) return plus ? unsigned_word : word;
  switch (meaning_of(unsigned_word).value_or(NonFinite::either)) {
    case NonFinite::infinity:
      return negative ? "-inf" : "inf";
    case NonFinite::nan:
      return negative ? "-nan" : "nan";
    case NonFinite::either:
      break;
  }
  return plus ? unsigned_word : word;
}

std::string why_not_number(std::string_view word) {
  const bool sign = word.starts_with('-') || word.starts_with('+');
  if (meaning_of(word.substr(sign ? 1 : 0)) == NonFinite::either)
    return "is what a C library of Windows makes of Inf and of NaN alike when it prints few "
           "decimals, so it cannot be told which it was; print six decimals or more";
  if (word.contains('#'))
    return "is not a number; a comment begins with a # in front of a word, not inside one";
  return {};
}

bool is_nan_or_inf(std::string_view text) { return text.find_first_of("nN") != text.npos; }

bool is_number(std::string_view text) { return parse_double(normalised_number(text)).has_value(); }

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
    // An exponent that does not fit 64 bits is beyond every dtype.
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

namespace {

// Uses from_chars(), which rounds once.
template <typename T>
TextFault parse_native(std::string_view text, const DTypeInfo&, std::uint64_t& code) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return TextFault::no_number;
  const bool made_infinite = std::isinf(value) && !is_nan_or_inf(text);
  if (error == std::errc::result_out_of_range || made_infinite) {
    const Digits digits = digits_of(text);
    if (digits.point > 0) return TextFault::beyond;
    value = digits.negative ? -T{0} : T{0};
  }
  code = std::bit_cast<Bits>(value);
  return TextFault::nothing;
}

TextFault parse_narrow(std::string_view text, const DTypeInfo& row, std::uint64_t& code) {
  const auto number = number_of(text, row);
  if (!number) return TextFault::no_number;
  if (row.fp.power_of_two && (number->negative || number->kind == Number::Class::zero))
    return TextFault::beyond;
  LossAccount account;
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  encoder(row.dtype)(&*number, 1, bytes.data(), row.buffer_bytes(), CastPolicy{}, account);
  if (account.overflowed > 0 || account.nan_lost > 0) return TextFault::beyond;
  code = load_little<std::uint64_t>(bytes.data());
  return TextFault::nothing;
}

TextFault store_whole(bool negative, std::uint64_t magnitude, const DTypeInfo& row,
                      std::uint64_t& code) {
  const std::uint64_t mask = number::low_bits(row.bits);
  const bool has_sign = row.kind == NumberKind::signed_integer;
  const std::uint64_t most = has_sign ? (mask >> 1) + (negative ? 1 : 0) : negative ? 0 : mask;
  if (magnitude > most) return TextFault::beyond;
  code = (negative ? 0 - magnitude : magnitude) & mask;
  return TextFault::nothing;
}

TextFault parse_whole(std::string_view text, const DTypeInfo& row, std::uint64_t& code) {
  const bool negative = text.starts_with('-');
  if (const auto magnitude = parse_number<std::uint64_t>(text.substr(negative ? 1 : 0)))
    return store_whole(negative, *magnitude, row, code);
  // "1.000e+02" is an integer too.
  if (!is_number(text)) return TextFault::no_number;
  if (is_nan_or_inf(text)) return TextFault::beyond;
  Digits digits = digits_of(text);
  if (digits.digits.empty()) return store_whole(false, 0, row, code);
  if (digits.point < static_cast<std::int64_t>(digits.digits.size())) return TextFault::fraction;
  if (digits.point > 20) return TextFault::beyond;
  digits.digits.resize(static_cast<std::size_t>(digits.point), '0');
  const auto magnitude = parse_number<std::uint64_t>(digits.digits);
  return magnitude ? store_whole(digits.negative, *magnitude, row, code) : TextFault::beyond;
}

TextFault parse_bool(std::string_view text, const DTypeInfo& row, std::uint64_t& code) {
  const bool yes = same_name(text, "true");
  if (yes || same_name(text, "false")) {
    code = yes ? 1 : 0;
    return TextFault::nothing;
  }
  const TextFault wrong = parse_whole(text, row, code);
  return wrong == TextFault::nothing && code > 1 ? TextFault::beyond : wrong;
}

struct ParseRow {
  NumberKind kind;
  unsigned bits;  // 0 for any
  ParseText parse;
};

// The first match wins.
constexpr auto kParsers = std::to_array<ParseRow>({
    {NumberKind::floating, 32, parse_native<float>},
    {NumberKind::floating, 64, parse_native<double>},
    {NumberKind::floating, 0, parse_narrow},
    {NumberKind::signed_integer, 0, parse_whole},
    {NumberKind::unsigned_integer, 0, parse_whole},
    {NumberKind::boolean, 0, parse_bool},
});

}  // namespace

ParseText text_parser(const DTypeInfo& row) {
  return std::ranges::find_if(kParsers,
                              [&](const ParseRow& parser) {
                                return parser.kind == row.kind &&
                                       (parser.bits == 0 || parser.bits == row.bits);
                              })
      ->parse;
}

Status CodeSpool::add(std::uint64_t code) {
  if (bits_ < 8) {
    if ((count_++ & 1) == 0) {
      low_ = code;
      return {};
    }
    code = low_ | code << bits_;
  }
  return put(code);
}

Result<Spool> CodeSpool::finish() {
  if ((count_ & 1) != 0) BTF_TRY(put(low_));
  BTF_TRY(spool_.append(block_));
  return std::move(spool_);
}

Status CodeSpool::put(std::uint64_t code) {
  const std::size_t at = block_.size();
  block_.resize(at + std::max(bits_ / 8U, 1U));
  for (std::size_t i = at; i < block_.size(); ++i, code >>= 8)
    block_[i] = static_cast<std::byte>(code & 0xff);
  if (block_.size() < kBlock) return {};
  BTF_TRY(spool_.append(block_));
  block_.clear();
  return {};
}

}  // namespace btf
