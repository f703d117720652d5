// Numbers that come from a file or from text: arithmetic that notices when it would wrap, little-
// endian bytes, and digits.
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

// The least multiple of `unit` that is not below n. unit > 0.
constexpr Checked round_up(Checked n, std::uint64_t unit) {
  if (!n) return std::nullopt;
  return checked_mul(ceil_div(*n, unit), unit);
}

// Bytes of n elements of `bits` bits in one unbroken stream.
constexpr Checked stream_bytes(Checked n, std::uint64_t bits) {
  if (!n) return std::nullopt;
  if (bits % 8 == 0) return checked_mul(n, bits / 8);
  return ceil_div(*n, 8 / bits);  // 4-bit types: two in a byte
}

// Product of the dims; 0 if one of them is 0. Nothing if the product of the others wraps, so that
// the answer does not depend on where the 0 stands (NumPy has the same rule).
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

// Does [offset, offset + length) lie inside a file of `size` bytes?
constexpr bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size) {
  return offset <= size && length <= size - offset;
}

// Numbers as files have them, little-endian, wherever they stand.

// By way of a copy, which becomes one load or store at any level of optimisation that is shipped; a
// loop over bytes does not.
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

// Numbers in text.

// Numbers in text.

// The number that the text is, all of it, or nothing: no sign but a minus, no spaces.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace btf
