#include "sets/natural_order.h"

#include <algorithm>

namespace btf {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// The run of digits at the beginning, which is taken from the text.
std::string_view take_number(std::string_view& text) {
  const auto end = static_cast<std::size_t>(std::ranges::find_if_not(text, digit) - text.begin());
  const std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  return number;
}

std::string_view without_zeros(std::string_view number) {
  return number.substr(std::min(number.find_first_not_of('0'), number.size()));
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a;
  const std::string_view whole_b = b;
  // Names below a directory begin alike; the number that goes on behind that counts whole.
  const auto same = std::ranges::mismatch(a, b).in1;
  auto begin = static_cast<std::size_t>(same - a.begin());
  while (begin > 0 && digit(a[begin - 1])) --begin;
  a.remove_prefix(begin);
  b.remove_prefix(begin);
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      const std::string_view left = without_zeros(take_number(a));
      const std::string_view right = without_zeros(take_number(b));
      if (left.size() != right.size()) return left.size() < right.size();
      if (left != right) return left < right;
    } else {
      const auto left = static_cast<unsigned char>(a.front());
      const auto right = static_cast<unsigned char>(b.front());
      if (left != right) return left < right;
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  // "01" and "1" count the same.
  if (a.empty() && b.empty()) return whole_a < whole_b;
  return a.empty();
}

}  // namespace btf
