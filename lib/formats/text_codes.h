// Decimal text as the number that it means, and as the code of a dtype.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "formats/io/byte_source.h"
#include "kernels/number/number.h"

namespace btf {

// Decimal text as the number that it stands for.

// 0.DIGITS * 10^point; neither the first nor the last digit is a 0. None: it is zero.
struct Digits {
  std::string digits;
  std::int64_t point = 0;
  bool negative = false;
};

// A word of a text as the functions below take numbers: what programs print of Inf and NaN becomes
// "inf", "-inf", "nan" or "-nan", and a plus goes. Any other word is what it was.
std::string_view usual_number(std::string_view word);

// Why a word that looks like a number or like a program's NaN is neither; empty: there is no more
// to say of it.
std::string why_no_number(std::string_view word);

// Is it a number, in whatever form: "-1", "1.5e-3", "inf", "nan"?
bool is_number(std::string_view text);

// Is a text that is_number() "nan" or "inf"?
bool says_no_number(std::string_view text);

// The digits of any other number.
Digits digits_of(std::string_view text);

// So near to what the text stands for that encoding it as this type rounds as that would be rounded
// itself, once. Nothing: it is no number.
std::optional<Number> number_of(std::string_view text, const DTypeInfo& row);

// Numbers in text to the codes of a dtype, and codes to bytes.

enum class TextFault : std::uint8_t { nothing, no_number, beyond, fraction };

// The code of the number nearest to what the text says, which is rounded once.
using ParseText = TextFault (*)(std::string_view, const DTypeInfo&, std::uint64_t& code);
ParseText text_parser(const DTypeInfo& row);

// As the elements of a row-major tensor: little-endian, two of 4 bits in a byte.
class CodeSpool {
 public:
  explicit CodeSpool(unsigned bits) : bits_(bits) {
    block_.reserve(kBlock + sizeof(std::uint64_t));
  }

  Status add(std::uint64_t code);
  Result<Spool> finish();

 private:
  static constexpr std::size_t kBlock = 64U << 10;

  Status put(std::uint64_t code);

  unsigned bits_;
  std::uint64_t count_ = 0;  // of 4-bit codes
  std::uint64_t low_ = 0;
  std::vector<std::byte> block_;
  Spool spool_ = Spool::in_memory();
};

}  // namespace btf
