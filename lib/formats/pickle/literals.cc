#include "formats/pickle/literals.h"

#include <bit>
#include <charconv>
#include <string>

#include "btf/try.h"
#include "core/utf8.h"
#include "formats/pickle/integers.h"

namespace btf {
namespace {

// Names of Python with dots between them; beyond ASCII all is taken for a letter.
bool is_dotted(std::string_view text) {
  bool begins = true;
  for (const char c : text) {
    if (c == '.' && begins) return false;
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                        static_cast<unsigned char>(c) >= 0x80;
    if (c != '.' && !letter && (!digit || begins)) return false;
    begins = c == '.';
  }
  return !begins;
}

}  // namespace

using Node = Pickle::Node;

Result<Node> PickleLiterals::constant(std::uint64_t number) {
  return number == 0 ? values_.none() : values_.integer(PickleKind::boolean, number == 2 ? 1 : 0);
}

Result<Node> PickleLiterals::integer(std::uint64_t bytes) {
  BTF_ASSIGN(const std::uint64_t value, bytes_.number(bytes));
  // Only the four-byte form has a sign.
  return values_.integer(PickleKind::integer,
                         bytes == 4 ? static_cast<std::int32_t>(static_cast<std::uint32_t>(value))
                                    : static_cast<std::int64_t>(value));
}

Result<Node> PickleLiterals::long_integer(std::uint64_t length_bytes) {
  BTF_ASSIGN(const std::uint64_t bytes, bytes_.number(length_bytes));
  BTF_TRY(bytes_.check_length(bytes, "an integer"));
  if (bytes > kLongestPickleText / 4) {
    BTF_TRY(bytes_.skip(bytes, false));
    return values_.integer(PickleKind::long_text, static_cast<std::int64_t>(bytes));
  }
  BTF_ASSIGN(const std::string value, bytes_.text(bytes));
  if (const auto fits = short_integer(value)) return values_.integer(PickleKind::integer, *fits);
  return named(PickleKind::long_integer, integer_digits(value));
}

// It stands big-endian, as no other number does.
Result<Node> PickleLiterals::number(std::uint64_t) {
  BTF_ASSIGN(const std::uint64_t bits, bytes_.number(8));
  return values_.number(std::bit_cast<double>(__builtin_bswap64(bits)));
}

Result<Node> PickleLiterals::named(PickleKind kind, std::string_view text) {
  if (values_.too_much_text(text.size())) return bytes_.wrong("it has too much text");
  if (kind == PickleKind::text && !is_utf8(text)) return bytes_.wrong("a text is not UTF-8");
  return values_.text(kind, text);
}

Result<Node> PickleLiterals::run_of(PickleKind kind, std::uint64_t length_bytes) {
  BTF_ASSIGN(const std::uint64_t bytes, bytes_.number(length_bytes));
  BTF_TRY(bytes_.check_length(bytes, kind == PickleKind::text ? "a text" : "a run of bytes"));
  if (bytes > kLongestPickleText) {
    BTF_TRY(bytes_.skip(bytes, kind == PickleKind::text));
    return values_.integer(PickleKind::long_text, static_cast<std::int64_t>(bytes));
  }
  BTF_ASSIGN(const std::string text, bytes_.text(bytes));
  return named(kind, text);
}

Result<Node> PickleLiterals::text(std::uint64_t length_bytes) {
  return run_of(PickleKind::text, length_bytes);
}

Result<Node> PickleLiterals::bytes(std::uint64_t length_bytes) {
  return run_of(PickleKind::bytes, length_bytes);
}

Result<Node> PickleLiterals::integer_line(std::uint64_t) {
  BTF_ASSIGN(std::string digits, bytes_.line());
  if (digits == "00" || digits == "01")
    return values_.integer(PickleKind::boolean, digits == "01" ? 1 : 0);
  if (digits.ends_with('L')) digits.pop_back();
  if (digits.starts_with('+')) digits.erase(0, 1);
  if (!is_integer(digits)) return bytes_.wrong("an integer is malformed");
  std::int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc())
    return values_.integer(PickleKind::integer, value);
  return named(PickleKind::long_integer, digits);
}

Result<Node> PickleLiterals::number_line(std::uint64_t) {
  BTF_ASSIGN(const std::string digits, bytes_.line());
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, value);
  // One that is too large for a double is infinite in Python.
  if (read.ptr != end || read.ec == std::errc::invalid_argument)
    return bytes_.wrong("a number is malformed");
  return values_.number(value);
}

Result<Node> PickleLiterals::text_line(std::uint64_t) {
  BTF_ASSIGN(const std::string text, bytes_.line());
  return named(PickleKind::text, text);
}

Result<Node> PickleLiterals::quoted_line(std::uint64_t) {
  BTF_ASSIGN(const std::string text, bytes_.line());
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"') || text.back() != text[0])
    return bytes_.wrong("a text is not in quotes");
  return named(PickleKind::text, std::string_view(text).substr(1, text.size() - 2));
}

Result<Node> PickleLiterals::global_lines(std::uint64_t) {
  BTF_ASSIGN(const std::string module, bytes_.line());
  BTF_ASSIGN(const std::string name, bytes_.line());
  return global(module, name);
}

Result<Node> PickleLiterals::global(std::string_view module, std::string_view name) {
  const std::string both = std::string(module) + " " + std::string(name);
  if (!is_utf8(both) || !is_dotted(module) || !is_dotted(name))
    return bytes_.wrong("the name of a function or class is malformed");
  return named(PickleKind::global, both);
}

}  // namespace btf
