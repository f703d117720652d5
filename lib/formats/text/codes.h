// Numbers in text to the codes of a dtype, and codes to bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "formats/io/spool.h"

namespace btf {

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
