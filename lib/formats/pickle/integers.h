// Integers of Python, which have as many digits as they need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace btf {

// Two's complement, little-endian; none is 0. Nothing: it does not fit.
std::optional<std::int64_t> short_integer(std::string_view bytes);
// Its digits; beyond 16 bytes hexadecimal ones.
std::string integer_digits(std::string_view bytes);

// Decimal digits with or without a sign.
bool is_integer(std::string_view digits);

}  // namespace btf
