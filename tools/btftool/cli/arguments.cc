#include "btf/try.h"
#include "cli/arguments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::fail;
using btf::Result;

struct Bounds {
  std::optional<std::int64_t> start, stop, step;
};

Result<Bounds> parse_bounds(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  std::optional<std::int64_t> numbers[3];
  bool good = parts.size() <= 3;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    numbers[i] = parse_integer(parts[i]);
    good = parts[i].empty() || numbers[i].has_value();
  }
  if (!good || numbers[2] == 0)
    return fail(ErrorCode::invalid_argument,
                "'" + std::string(text) + "' is not a slice: start:stop:step was expected");
  return Bounds{numbers[0], numbers[1], numbers[2]};
}

// Python's rule: bounds are brought into the dim, never an error.
SliceDim apply_bounds(const Bounds& bounds, std::uint64_t size) {
  const std::int64_t step = bounds.step.value_or(1);
  const bool forward = step > 0;
  // Backwards, bounds go from -1 to size - 1; counted from 1 up they are unsigned too.
  const std::uint64_t shift = forward ? 0 : 1;
  const auto clamp = [&](std::optional<std::int64_t> bound, std::uint64_t otherwise) {
    if (!bound) return otherwise;
    const auto number = static_cast<std::uint64_t>(*bound);
    if (*bound >= 0) return std::min(number + shift, size);
    const std::uint64_t back = 0 - number;
    return back > size ? 0 : size - back + shift;
  };
  const std::uint64_t start = clamp(bounds.start, forward ? 0 : size);
  const std::uint64_t stop = clamp(bounds.stop, forward ? size : 0);
  SliceDim dim{.start = start > shift ? start - shift : 0, .step = step, .count = 0, .keep = true};
  const auto [low, high] = std::minmax(start, stop);
  const bool empty = forward ? start >= stop : stop >= start;
  const std::uint64_t stride =
      forward ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  if (!empty) dim.count = (high - low - 1) / stride + 1;
  return dim;
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
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<std::uint64_t> resolve_index(std::int64_t number, std::uint64_t count) {
  if (number >= 0) {
    const auto index = static_cast<std::uint64_t>(number);
    return index < count ? std::optional(index) : std::nullopt;
  }
  const std::uint64_t back = 0 - static_cast<std::uint64_t>(number);
  return back <= count ? std::optional(count - back) : std::nullopt;
}

Result<std::vector<std::uint32_t>> parse_permute(std::string_view text) {
  std::vector<std::uint32_t> order;
  for (const std::string_view part : split(text, ',')) {
    const auto number = parse_integer(part);
    if (!number || *number < 0 || static_cast<std::uint64_t>(*number) >= btf::kMaxRank)
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(part) + "' is not a dim; --permute takes such as 0,3,1,2");
    order.push_back(static_cast<std::uint32_t>(*number));
  }
  return order;
}

Result<btf::Dims> parse_index(std::string_view text, const btf::Dims& dims) {
  const std::vector<std::string_view> parts =
      text.empty() ? std::vector<std::string_view>{} : split(text, ',');
  if (parts.size() != dims.size())
    return fail(ErrorCode::invalid_argument,
                "index " + std::string(text) + " has " + std::to_string(parts.size()) +
                    " numbers, the tensor has rank " + std::to_string(dims.size()));
  btf::Dims index;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const auto number = parse_integer(parts[d]);
    if (!number)
      return fail(ErrorCode::invalid_argument, "'" + std::string(parts[d]) + "' is not an index");
    const auto position = resolve_index(*number, dims[d]);
    if (!position)
      return fail(ErrorCode::invalid_argument, "index " + std::string(parts[d]) +
                                                   " is outside dim " + std::to_string(d) +
                                                   " of size " + std::to_string(dims[d]));
    index.push_back(*position);
  }
  return index;
}

Result<std::vector<SliceDim>> parse_slice(std::string_view text, const btf::Dims& dims) {
  const std::vector<std::string_view> parts =
      text.empty() ? std::vector<std::string_view>{} : split(text, ',');
  if (parts.size() > dims.size())
    return fail(ErrorCode::invalid_argument,
                "slice " + std::string(text) + " has " + std::to_string(parts.size()) +
                    " parts, the tensor has rank " + std::to_string(dims.size()));
  std::vector<SliceDim> slice;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    const std::string_view part = d < parts.size() ? parts[d] : ":";
    if (part.find(':') != std::string_view::npos) {
      BTF_ASSIGN(const auto bounds, parse_bounds(part));
      slice.push_back(apply_bounds(bounds, dims[d]));
      continue;
    }
    const auto number = parse_integer(part);
    const auto position = number ? resolve_index(*number, dims[d]) : std::nullopt;
    if (!position)
      return fail(ErrorCode::invalid_argument,
                  "'" + std::string(part) + "' is not an index into dim " + std::to_string(d) +
                      " of size " + std::to_string(dims[d]));
    slice.push_back({.start = *position, .step = 1, .count = 1, .keep = false});
  }
  return slice;
}

}  // namespace btftool
