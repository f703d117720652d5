// The number of digits that a program printed numbers with.
#pragma once

#include <cstdint>
#include <string_view>

namespace btf {

// Few digits say that numbers are round rather than that they were rounded: fewer than these count
// as exact.
inline constexpr unsigned kLeastDigits = 4;    // significant
inline constexpr unsigned kLeastDecimals = 3;  // behind the point, where all numbers have as many

class PrintedDigits {
 public:
  void see(std::string_view number);

  // All that were seen have no exponent and as many digits behind the point ("%.4f").
  bool fixed() const { return fixed_ && numbers_ >= 4 && decimals_ >= kLeastDecimals; }
  // Behind the point if fixed(), else the most significant ones; 0: too few to tell, or as many as
  // a float with `mantissa_bits` needs to be read back.
  unsigned count(int mantissa_bits) const;

 private:
  std::uint64_t numbers_ = 0;
  bool fixed_ = true;
  unsigned decimals_ = 0;  // of the first
  unsigned significant_ = 0;
};

}  // namespace btf
