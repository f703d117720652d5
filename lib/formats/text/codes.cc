#include "formats/text/codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <string>
#include <type_traits>

#include "btf/try.h"
#include "core/little_endian.h"
#include "core/names.h"
#include "core/numbers.h"
#include "formats/text/decimal.h"
#include "kernels/cast/cast_reference.h"

namespace btf {
namespace {

// As from_chars() does it, which rounds once.
template <typename T>
TextFault parse_native(std::string_view text, const DTypeInfo&, std::uint64_t& code) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (stop != end || error == std::errc::invalid_argument) return TextFault::no_number;
  const bool made_infinite = std::isinf(value) && !says_no_number(text);
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
  // "1.000e+02" is one too.
  if (!is_number(text)) return TextFault::no_number;
  if (says_no_number(text)) return TextFault::beyond;
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
  unsigned bits;  // 0: any
  ParseText parse;
};

// The first that fits counts.
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
