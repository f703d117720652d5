#include "formats/pickle/integers.h"

#include <algorithm>

namespace btf {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

bool is_negative(std::string_view bytes) {
  return !bytes.empty() && (byte_at(bytes, bytes.size() - 1) & 0x80U) != 0;
}

// Without the bytes at its end that only repeat the sign.
std::string_view shortest(std::string_view bytes) {
  while (bytes.size() > 1) {
    const std::uint8_t sign = is_negative(bytes.substr(0, bytes.size() - 1)) ? 0xff : 0;
    if (byte_at(bytes, bytes.size() - 1) != sign) break;
    bytes.remove_suffix(1);
  }
  return bytes;
}

std::string magnitude(std::string_view bytes) {
  std::string absolute(bytes);
  if (!is_negative(bytes)) return absolute;
  unsigned carry = 1;
  for (char& c : absolute) {
    const unsigned sum = (~static_cast<unsigned>(static_cast<std::uint8_t>(c)) & 0xffU) + carry;
    c = static_cast<char>(sum & 0xffU);
    carry = sum >> 8;
  }
  return absolute;
}

std::string decimal(std::string_view bytes) {
  __extension__ using Wide = unsigned __int128;
  Wide value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | byte_at(bytes, i);
  std::string digits;
  do digits += static_cast<char>('0' + static_cast<int>(value % 10));
  while ((value /= 10) != 0);
  std::ranges::reverse(digits);
  return digits;
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;) {
    digits += kDigits[byte_at(bytes, i) >> 4];
    digits += kDigits[byte_at(bytes, i) & 0xf];
  }
  return digits;
}

}  // namespace

std::optional<std::int64_t> short_integer(std::string_view bytes) {
  bytes = shortest(bytes);
  if (bytes.size() > 8) return std::nullopt;
  std::uint64_t value = is_negative(bytes) ? ~std::uint64_t{0} : 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | byte_at(bytes, i);
  return static_cast<std::int64_t>(value);
}

std::string integer_digits(std::string_view bytes) {
  std::string absolute = magnitude(shortest(bytes));
  while (absolute.size() > 1 && absolute.back() == '\0') absolute.pop_back();
  return (is_negative(bytes) ? "-" : "") +
         (absolute.size() <= 16 ? decimal(absolute) : hexadecimal(absolute));
}

bool is_integer(std::string_view digits) {
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  return !digits.empty() &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace btf
