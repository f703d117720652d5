// One element as text and as a number.
#pragma once

#include <cstdint>
#include <string>

#include "btf/api.h"
#include "btf/dtype.h"

namespace btf {

// The fewest digits that read back as the same value: "0.1", "-0", "nan", "-inf", "true".
// `code` holds the element's bits, zero above them.
BTF_API std::string value_text(DType dtype, std::uint64_t code);

// The code in hexadecimal, as many digits as the type has nibbles: "0x3c00".
BTF_API std::string code_text(DType dtype, std::uint64_t code);

// The value as a double; 64-bit integers round to nearest even.
BTF_API double value_double(DType dtype, std::uint64_t code);

// The code of the largest finite value.
BTF_API std::uint64_t largest_code(DType dtype);

// A double with the fewest digits that read back as the same value.
BTF_API std::string number_text(double value);

}  // namespace btf
