// Numbers in text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace btf {

// The number that the text is, all of it, or nothing: no sign but a minus, no spaces.
template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace btf
