// Exact percentiles and histograms of a tensor, by counting the codes of its dtype in numeric
// order.
// their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "btf/dtype.h"
#include "kernels/number/widen.h"

namespace btf {

// The codes of a dtype in numeric order. Each has an ordinal, which is larger for larger numbers.
// Codes of equal numbers (zeros) are adjacent.

struct OrdinalRange {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;  // inclusive
};

class CodeOrder {
 public:
  explicit CodeOrder(DType dtype);

  // Codes have buffer_bytes() each. NaN and Inf have ordinals outside those of finite numbers.
  void ordinals(const std::byte* codes, std::uint64_t count, std::uint64_t* out) const;
  std::uint64_t ordinal(std::uint64_t code) const;

  std::uint64_t code_bytes() const { return row_.buffer_bytes(); }

  // The code of an ordinal between those of two finite numbers.
  std::uint64_t code(std::uint64_t ordinal) const;
  long double value(std::uint64_t ordinal) const;

  // The ordinals of all finite numbers, and of zeros.
  OrdinalRange finite() const;
  std::optional<OrdinalRange> zero() const;

  // Extends both ends to ordinals of the same number.
  void widen(OrdinalRange& range) const;

 private:
  const DTypeInfo& row_;
  WidenFn<long double> widen_;
  // For up to 8 bits: tables from code to ordinal and back.
  std::vector<std::uint16_t> ordinals_;
  std::vector<std::uint8_t> codes_;
  // For others: the bits that are inverted. Negative floats have all other bits inverted too.
  std::uint64_t sign_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace btf
