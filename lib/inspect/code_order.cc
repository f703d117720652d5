#include "inspect/code_order.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "btf/value.h"
#include "kernels/number/number.h"

namespace btf {
namespace {

constexpr std::uint8_t kTableBits = 8;

// The order of floats is that of their codes as numbers with a sign and a magnitude.
template <typename Code>
void turn(const std::byte* codes, std::uint64_t count, bool floating, Code sign,
          std::uint64_t* out) {
  const auto* from = reinterpret_cast<const Code*>(codes);
  if (!floating) {
    for (std::uint64_t i = 0; i < count; ++i) out[i] = static_cast<Code>(from[i] ^ sign);
    return;
  }
  constexpr unsigned kTop = sizeof(Code) * 8 - 1;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto negative = static_cast<Code>(-static_cast<Code>(from[i] >> kTop));
    out[i] = static_cast<Code>(from[i] ^ static_cast<Code>(negative | sign));
  }
}

}  // namespace

CodeOrder::CodeOrder(DType dtype) : row_(info(dtype)), widen_(widener<long double>(dtype)) {
  if (row_.bits > kTableBits) {
    sign_ = row_.kind == NumberKind::unsigned_integer ? 0 : number::sign_bit(row_);
    bits_ = number::low_bits(row_.bits);
    return;
  }
  struct Row {
    long double value;
    std::uint8_t code;
  };
  std::vector<Row> rows;
  // A byte of a 4-bit code, or of bool, may hold anything.
  const std::size_t all = std::size_t{1} << 8;
  ordinals_.assign(all, UINT16_MAX);
  for (std::size_t code = 0; code < all; ++code) {
    if (code >> row_.bits != 0) break;
    std::byte bytes[sizeof(std::uint64_t)]{};
    std::memcpy(bytes, &code, sizeof code);
    long double value = 0;
    widen_(bytes, 1, 1, &value);
    if (std::isfinite(value)) rows.push_back({value, static_cast<std::uint8_t>(code)});
  }
  std::ranges::stable_sort(rows, {}, &Row::value);
  for (const Row& row : rows) {
    ordinals_[row.code] = static_cast<std::uint16_t>(codes_.size());
    codes_.push_back(row.code);
  }
}

void CodeOrder::ordinals(const std::byte* codes, std::uint64_t count, std::uint64_t* out) const {
  switch (row_.buffer_bytes()) {
    case 1:
      for (std::uint64_t i = 0; i < count; ++i)
        out[i] = ordinals_[std::to_integer<std::uint8_t>(codes[i])];
      return;
    case 2:
      return turn(codes, count, row_.floating(), static_cast<std::uint16_t>(sign_), out);
    case 4:
      return turn(codes, count, row_.floating(), static_cast<std::uint32_t>(sign_), out);
    default:
      return turn(codes, count, row_.floating(), sign_, out);
  }
}

std::uint64_t CodeOrder::ordinal(std::uint64_t code) const {
  std::uint64_t out = 0;
  ordinals(reinterpret_cast<const std::byte*>(&code), 1, &out);
  return out;
}

std::uint64_t CodeOrder::code(std::uint64_t ordinal) const {
  if (!codes_.empty()) return codes_[ordinal];
  const bool turned = row_.floating() && (ordinal & sign_) == 0;
  return turned ? ~ordinal & bits_ : ordinal ^ sign_;
}

long double CodeOrder::value(std::uint64_t ordinal) const {
  const std::uint64_t bits = code(ordinal);
  long double value = 0;
  widen_(reinterpret_cast<const std::byte*>(&bits), 1, 1, &value);
  return value;
}

OrdinalRange CodeOrder::finite() const {
  if (!codes_.empty()) return {0, codes_.size() - 1};
  if (!row_.floating()) return {0, bits_};
  const std::uint64_t largest = largest_code(row_.dtype);
  return {ordinal(largest | sign_), ordinal(largest)};
}

std::optional<OrdinalRange> CodeOrder::zero() const {
  const std::uint64_t bits = ordinal(0);
  OrdinalRange range{bits, bits};
  if (value(bits) != 0) return std::nullopt;
  widen(range);
  return range;
}

void CodeOrder::widen(OrdinalRange& range) const {
  const std::uint64_t last = codes_.empty() ? bits_ : codes_.size() - 1;
  while (range.least > 0 && value(range.least - 1) == value(range.least)) --range.least;
  while (range.greatest < last && value(range.greatest + 1) == value(range.greatest))
    ++range.greatest;
}

}  // namespace btf
