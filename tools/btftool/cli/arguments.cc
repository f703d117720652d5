#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

#include "btf/try.h"

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::fail;
using btf::Result;

template <typename Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

Result<btf::SliceRange> parse_range(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  std::optional<std::int64_t> numbers[3];
  bool good = parts.size() <= 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    numbers[i] = parse_integer(parts[i]);
    good = parts[i].empty() || numbers[i].has_value();
  }
  if (!good || numbers[2] == 0)
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is not a slice: expected start:stop:step");
  return btf::SliceRange{numbers[0], numbers[1], numbers[2].value_or(1)};
}

// `expected` is what an error message says that each number must be.
Result<std::vector<std::int64_t>> parse_numbers(std::string_view text, std::string_view expected) {
  std::vector<std::int64_t> numbers;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_integer(part);
    if (!number)
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(part) + "' is not a " + std::string(expected));
    numbers.push_back(*number);
  }
  return numbers;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  return parse_number<std::uint64_t>(text);
}

std::optional<double> parse_real(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> parse_decibels(std::string_view text) {
  const auto is = [&](std::size_t from_end, char lower, char upper) {
    const char c = text[text.size() - from_end];
    return c == lower || c == upper;
  };
  if (text.size() > 2 && is(1, 'b', 'B') && is(2, 'd', 'D')) {
    text.remove_suffix(2);
    if (text.ends_with(' ')) text.remove_suffix(1);
  }
  return parse_real(text);
}

std::string glob_error(std::string_view glob) {
  if (glob.empty()) return "is empty, so it matches nothing";
  for (std::size_t at = 0; at < glob.size(); ++at) {
    if (glob[at] == '\\' && ++at == glob.size()) return "ends in a backslash";
    if (glob[at] != '[' || (at > 0 && glob[at - 1] == '\\')) continue;
    // A ] at the beginning of a class is one of its characters.
    std::size_t first = at + 1;
    if (first < glob.size() && (glob[first] == '!' || glob[first] == '^')) ++first;
    if (first < glob.size() && glob[first] == ']') ++first;
    at = glob.find(']', first);
    if (at == glob.npos) return "has a [ without its ]";
  }
  return {};
}

Result<btf::Permute> parse_permute(std::string_view text) {
  btf::Permute permute;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_integer(part);
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= btf::kMaxRank)
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(part) + "' is not a dim; --permute takes dims such as 0,3,1,2");
    permute.order.push_back(static_cast<std::uint32_t>(*number));
  }
  return permute;
}

Result<btf::Dims> parse_index(std::string_view text, const btf::Dims& dims) {
  const std::vector<std::string_view> parts =
      text.empty() ? std::vector<std::string_view>{} : split(text, ',');
  if (parts.size() != dims.size())
    return fail(ErrorCode::invalid_argument,
                "index " + std::string(text) + " has " + std::to_string(parts.size()) +
                    (parts.size() == 1 ? " number" : " numbers") + ", but the tensor has rank " +
                    std::to_string(dims.size()));
  btf::Dims index;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto number = parse_integer(parts[d]);
    if (!number)
      return fail(ErrorCode::invalid_argument, "'" + std::string(parts[d]) + "' is not an index");
    const auto position = btf::resolve_index(*number, dims[d]);
    if (!position)
      return fail(ErrorCode::invalid_argument, "index " + std::string(parts[d]) +
                                                   " is outside dim " + std::to_string(d) +
                                                   " of size " + std::to_string(dims[d]));
    index.push_back(*position);
  }
  return index;
}

Result<std::vector<double>> parse_percentiles(std::string_view text) {
  std::vector<double> percentiles;
  for (const std::string_view word : split(text, ',')) {
    const auto number = parse_real(word);
    if (!number || *number < 0 || *number > 100)
      return fail(ErrorCode::invalid_argument,
                  "--percentiles takes numbers from 0 to 100 such as 1,50,99.9, not '" +
                      std::string(word) + "'");
    percentiles.push_back(*number);
  }
  return percentiles;
}

Result<btf::Slice> parse_slice(std::string_view text) {
  btf::Slice slice;
  if (text.empty()) return slice;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      BTF_ASSIGN(const btf::SliceRange range, parse_range(part));
      slice.parts.emplace_back(range);
      continue;
    }
    const auto number = parse_integer(part);
    if (!number)
      return fail(
          ErrorCode::invalid_argument,
          "'" + std::string(part) + "' is not a slice: expected an index or start:stop:step");
    slice.parts.emplace_back(*number);
  }
  return slice;
}

Result<btf::Squeeze> parse_squeeze(std::string_view text) {
  if (text == kAllDims) return btf::Squeeze{};
  BTF_ASSIGN(auto dims, parse_numbers(text, "dim; --squeeze takes dims such as 0,-1"));
  return btf::Squeeze{std::move(dims)};
}

Result<btf::Unsqueeze> parse_unsqueeze(std::string_view text) {
  const auto dim = parse_integer(text);
  if (!dim)
    return fail(
        ErrorCode::invalid_argument,
        "'" + std::string(text) + "' is not a dim; --unsqueeze takes a dim such as 0 or -1");
  return btf::Unsqueeze{*dim};
}

Result<btf::Reshape> parse_reshape(std::string_view text) {
  BTF_ASSIGN(auto dims, parse_numbers(text, "size; --reshape takes sizes such as 1,-1,7"));
  return btf::Reshape{std::move(dims)};
}

}  // namespace btftool
