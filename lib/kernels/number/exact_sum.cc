#include "kernels/number/exact_sum.h"

#include <algorithm>
#include <bit>

namespace btf {
namespace {

using Wide = ExactSum::Wide;

std::uint64_t high_word(Wide value) { return static_cast<std::uint64_t>(value >> 64); }
std::uint64_t low_word(Wide value) { return static_cast<std::uint64_t>(value); }

template <typename Words>
void negate(Words& words) {
  bool carry = true;
  for (std::uint64_t& word : words) {
    word = ~word + (carry ? 1 : 0);
    carry = carry && word == 0;
  }
}

}  // namespace

void ExactSum::add(Wide magnitude, int exponent, bool negative) {
  if (magnitude == 0) return;
  const auto place = static_cast<std::size_t>(exponent - kLowest);
  const std::size_t shift = place % 64;
  const Wide low = magnitude << shift;
  const Wide high = shift == 0 ? 0 : magnitude >> (128 - shift);
  const std::array<std::uint64_t, 3> pieces{low_word(low), high_word(low), low_word(high)};
  std::uint64_t carry = 0;
  std::size_t at = place / 64;
  for (const std::uint64_t piece : pieces) {
    const Wide sum = negative ? Wide{words_[at]} - piece - carry : Wide{words_[at]} + piece + carry;
    words_[at++] = low_word(sum);
    carry = high_word(sum) & 1;
  }
  for (; carry != 0 && at < words_.size(); ++at) {
    words_[at] += negative ? ~std::uint64_t{0} : 1;
    carry = words_[at] == (negative ? ~std::uint64_t{0} : 0) ? 1 : 0;
  }
}

void ExactSum::add_product(const Number& a, const Number& b, std::uint64_t times) {
  const Wide product = Wide{a.significand} * b.significand;
  const int exponent = a.exponent + b.exponent - 126;
  const bool negative = a.negative != b.negative;
  add(Wide{low_word(product)} * times, exponent, negative);
  add(Wide{high_word(product)} * times, exponent + 64, negative);
}

void ExactSum::add(const ExactSum& other) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const Wide sum = Wide{words_[i]} + other.words_[i] + carry;
    words_[i] = low_word(sum);
    carry = high_word(sum);
  }
}

ExactSum::Words ExactSum::magnitude() const {
  Words words = words_;
  if (negative()) negate(words);
  return words;
}

Number ExactSum::number() const {
  const Words words = magnitude();
  std::size_t top = words.size();
  while (top > 0 && words[top - 1] == 0) --top;
  if (top == 0) return {};
  --top;
  const int zeros = std::countl_zero(words[top]);
  std::uint64_t below = top > 0 ? words[top - 1] : 0;
  Number result{words[top], static_cast<int>(top) * 64 + kLowest + 63 - zeros, negative(),
                Number::Class::finite};
  if (zeros > 0) {
    result.significand = words[top] << zeros | below >> (64 - zeros);
    below <<= zeros;
  }
  const bool rest =
      below != 0 || std::any_of(words.begin(), words.begin() + (top > 0 ? top - 1 : 0),
                                [](std::uint64_t word) { return word != 0; });
  result.significand |= rest ? 1 : 0;
  return result;
}

ExactSum::Whole ExactSum::whole(Rounding rounding) const {
  const Words words = magnitude();
  // The fraction as one word, whose lowest bit is set if any lower bit is.
  const bool rest = std::any_of(words.begin(), words.begin() + kUnit - 1,
                                [](std::uint64_t word) { return word != 0; });
  const std::uint64_t fraction = words[kUnit - 1] | (rest ? 1 : 0);
  const bool up = number::rounds_up(words[kUnit], fraction, rounding, negative());
  Whole result{.low = words[kUnit] + (up ? 1 : 0), .beyond = false, .inexact = fraction != 0};
  result.beyond =
      (up && result.low == 0) || std::any_of(words.begin() + kUnit + 1, words.end(),
                                             [](std::uint64_t word) { return word != 0; });
  return result;
}

}  // namespace btf
