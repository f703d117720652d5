#include "formats/text/printed_digits.h"

#include <algorithm>
#include <cmath>

namespace btf {

void PrintedDigits::see(std::string_view number) {
  unsigned significant = 0;
  unsigned decimals = 0;
  bool point = false;
  for (const char c : number) {
    if (c == '.') {
      point = true;
    } else if (c == 'e' || c == 'E') {
      fixed_ = false;
      break;
    } else if (c >= '0' && c <= '9') {
      if (significant > 0 || c != '0') ++significant;
      if (point) ++decimals;
    } else if (c != '-' && c != '+') {
      return;  // nan, inf
    }
  }
  if (numbers_++ == 0) decimals_ = decimals;
  fixed_ = fixed_ && decimals == decimals_;
  significant_ = std::max(significant_, significant);
}

unsigned PrintedDigits::count(int mantissa_bits) const {
  if (fixed()) return decimals_;
  const double needed = 1 + std::ceil((mantissa_bits + 1) * std::log10(2.0));
  return significant_ >= kLeastDigits && significant_ < needed ? significant_ : 0;
}

}  // namespace btf
