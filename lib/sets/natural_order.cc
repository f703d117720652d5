#include "sets/natural_order.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace btf {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// The length of the common prefix of both.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t at = 0;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  for (; at + sizeof(left) <= most; at += sizeof(left)) {
    std::memcpy(&left, a.data() + at, sizeof(left));
    std::memcpy(&right, b.data() + at, sizeof(right));
    if (left != right) break;
  }
  while (at < most && a[at] == b[at]) ++at;
  return at;
}

std::size_t digits_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && digit(text[end])) ++end;
  return end - at;
}

// The run of digits at the beginning, which is taken from the text.
std::string_view take_number(std::string_view& text) {
  const std::size_t end = digits_at(text, 0);
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
  std::size_t begin = common_prefix(a, b);
  // Nearly all differ in no number, or in two of one length.
  if (begin < a.size() && begin < b.size() && digits_at(a, begin) == digits_at(b, begin))
    return static_cast<unsigned char>(a[begin]) < static_cast<unsigned char>(b[begin]);
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
