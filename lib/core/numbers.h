// Numbers that come from a file or from text: arithmetic that detects overflow, little-endian
// bytes, and digits.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace btf {

using Checked = std::optional<std::uint64_t>;

constexpr Checked checked_add(Checked a, Checked b) {
  std::uint64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

constexpr Checked checked_mul(Checked a, Checked b) {
  std::uint64_t product = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &product)) return std::nullopt;
  return product;
}

constexpr std::uint64_t ceil_div(std::uint64_t n, std::uint64_t divisor) {
  return n / divisor + (n % divisor != 0 ? 1 : 0);
}

// The least multiple of `unit`, which must not be 0, that is not below n.
constexpr Checked round_up(Checked n, std::uint64_t unit) {
  if (!n) return std::nullopt;
  return checked_mul(ceil_div(*n, unit), unit);
}

// Bytes of n elements of `bits` bits without padding.
constexpr Checked stream_bytes(Checked n, std::uint64_t bits) {
  if (!n) return std::nullopt;
  if (bits % 8 == 0) return checked_mul(n, bits / 8);
  return ceil_div(*n, 8 / bits);
}

// The product of the dims. Unset if the product of those that are not 0 wraps: the answer must not
// depend on the position of a 0 (NumPy has the same rule).
constexpr Checked element_count(std::span<const std::uint64_t> dims) {
  Checked product = 1;
  bool empty = false;
  for (const std::uint64_t dim : dims) {
    if (dim == 0) empty = true;
    if (dim != 0) product = checked_mul(product, dim);
  }
  if (!product) return std::nullopt;
  return empty ? 0 : *product;
}

// Returns true if [offset, offset + length) is inside a file of `size` bytes.
constexpr bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

// Little-endian numbers at any address. The copy becomes one load or store at any optimisation
// level that is shipped; a loop over bytes does not.
template <typename Unsigned>
constexpr Unsigned load_little(const std::byte* from) {
  std::array<std::byte, sizeof(Unsigned)> bytes;
  std::copy_n(from, bytes.size(), bytes.begin());
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  return std::bit_cast<Unsigned>(bytes);
}

template <typename Unsigned>
constexpr void store_little(std::byte* to, Unsigned value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(Unsigned)>>(value);
  if constexpr (std::endian::native == std::endian::big) std::ranges::reverse(bytes);
  std::ranges::copy(bytes, to);
}

// Parses a text that consists of a number alone, without spaces or a plus sign; otherwise unset.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace btf
