#include "diff/layers/verdict/operators.h"

#include <algorithm>
#include <string>

namespace btf {

bool is_one_of(std::string_view op, std::span<const std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool has_word(std::string_view name, std::span<const std::string_view> words) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(words, [&](std::string_view word) {
    const std::size_t at = lower.find(word);
    const auto letter = [&](std::size_t i) {
      return i < lower.size() && lower[i] >= 'a' && lower[i] <= 'z';
    };
    return at != lower.npos &&
           (word.size() > 3 || ((at == 0 || !letter(at - 1)) && !letter(at + word.size())));
  });
}

}  // namespace btf
