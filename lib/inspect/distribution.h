// Percentiles and histogram of a tensor, exact, by counting the codes of its dtype in the order of
// their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "btf/dtype.h"
#include "kernels/number/widen.h"

namespace btf {

// The codes of a dtype in the order of their numbers, each with an ordinal: what is greater has a
// greater one. Numbers that are equal but for their code (zeros) stand side by side.

struct OrdinalRange {
  std::uint64_t least = 0;
  std::uint64_t greatest = 0;  // included
};

class CodeOrder {
 public:
  explicit CodeOrder(DType dtype);

  // Codes of buffer_bytes() each. NaN and Inf lie outside of the ordinals of finite numbers.
  void ordinals(const std::byte* codes, std::uint64_t count, std::uint64_t* out) const;
  std::uint64_t ordinal(std::uint64_t code) const;

  std::uint64_t code_bytes() const { return row_.buffer_bytes(); }

  // The code of an ordinal between those of two finite numbers.
  std::uint64_t code(std::uint64_t ordinal) const;
  long double value(std::uint64_t ordinal) const;

  // The ordinals of all finite numbers; of those that are 0.
  OrdinalRange finite() const;
  std::optional<OrdinalRange> zero() const;

  // Adds the neighbours of both ends that are the same number.
  void widen(OrdinalRange& range) const;

 private:
  const DTypeInfo& row_;
  WidenFn<long double> widen_;
  // Up to 8 bits: by code, and back.
  std::vector<std::uint16_t> ordinals_;
  std::vector<std::uint8_t> codes_;
  // Others: what a code is turned by. Floats with a sign have all other bits turned too.
  std::uint64_t sign_ = 0;
  std::uint64_t bits_ = 0;
};

}  // namespace btf
