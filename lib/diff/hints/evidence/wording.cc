#include "diff/hints/evidence/wording.h"

#include <array>
#include <charconv>
#include <cmath>

namespace btf::hints {

std::string dim_text(std::uint32_t dim, std::size_t rank) {
  constexpr std::string_view kLetters = "NCHW";
  std::string text = "dim " + std::to_string(dim);
  if (rank == kLetters.size()) text += " (" + std::string(1, kLetters[dim]) + ")";
  return text;
}

std::string number_text(long double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "Inf";
  const bool whole = value == std::nearbyint(value) && std::abs(value) < 1e19L;
  std::array<char, 64> text;
  const auto digits = [&](int precision) -> std::string {
    const auto end = std::to_chars(text.begin(), text.end(), static_cast<double>(value),
                                   std::chars_format::general, precision);
    return {text.begin(), end.ptr};
  };
  if (whole) {
    const auto end = std::to_chars(text.begin(), text.end(), value, std::chars_format::fixed, 0);
    return {text.begin(), end.ptr};
  }
  // 1.0000003 must not look like 1.
  const std::string few = digits(6);
  return few.find_first_of(".e") == std::string::npos ? digits(17) : few;
}

std::string short_number_text(long double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.begin(), text.end(), static_cast<double>(value),
                                 std::chars_format::general, 3);
  return {text.begin(), end.ptr};
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  return std::to_string(part) + " of " + std::to_string(whole) + " elements";
}

std::string mismatches_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " mismatch" : " mismatches");
}

std::string name_of(DType dtype) { return std::string(info(dtype).name); }

std::optional<DType> owner_of(const StepGrid& grid, DType actual, DType golden) {
  for (const DType dtype : {actual, golden}) {
    const StepGrid own = step_grid(dtype, dtype);
    if (own.integer == grid.integer && (own.integer || (own.precision == grid.precision &&
                                                        own.least_exponent == grid.least_exponent)))
      return dtype;
  }
  return std::nullopt;
}

std::string order_text(std::span<const std::uint32_t> order) {
  std::string text;
  for (const std::uint32_t dim : order) text += (text.empty() ? "" : ", ") + std::to_string(dim);
  return text;
}

}  // namespace btf::hints
