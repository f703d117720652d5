// Decimal text as exact numbers and as codes of a dtype.
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

// The value 0.DIGITS * 10^point; neither the first nor the last digit is 0. No digits mean zero.
struct Digits {
  std::string digits;
  std::int64_t point = 0;
  bool negative = false;
};

// Normalises a word for the functions below: the forms in which programs print Inf and NaN become
// "inf", "-inf", "nan" or "-nan", and a plus sign is removed. Other words are unchanged.
std::string_view normalised_number(std::string_view word);

// Explains why a word that looks like a number or like a program's NaN is neither; empty if there
// is nothing to explain.
std::string why_not_number(std::string_view word);

// Returns true for a number in any form: "-1", "1.5e-3", "inf", "nan".
bool is_number(std::string_view text);

// Returns true if a text for which is_number() holds is NaN or Inf.
bool is_nan_or_inf(std::string_view text);

// The digits of any other number.
Digits digits_of(std::string_view text);

// A number close enough to the text's exact value that encoding it in this type gives the result of
// rounding the exact value once. Unset if the text is not a number.
std::optional<Number> number_of(std::string_view text, const DTypeInfo& row);

// Parses text into codes of a dtype, and stores codes as bytes.

enum class TextFault : std::uint8_t { nothing, no_number, beyond, fraction };

// The code of the nearest number, rounded once.
using ParseText = TextFault (*)(std::string_view, const DTypeInfo&, std::uint64_t& code);
ParseText text_parser(const DTypeInfo& row);

// Collects codes as the elements of a row-major tensor: little-endian, 4-bit codes two to a byte.
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
  std::uint64_t count_ = 0;  // number of 4-bit codes
  std::uint64_t low_ = 0;
  std::vector<std::byte> block_;
  Spool spool_ = Spool::in_memory();
};

}  // namespace btf
