#include "kernels/number/grid.h"

#include <algorithm>
#include <cmath>

#include "kernels/number/number.h"

namespace btf {
namespace {

// A little more, so that a number which a product has rounded to just below a step counts as on it.
double nudged(double size, int bits) { return size * (1 + std::ldexp(1.0, -bits)); }

double half_float_step(double size, const FloatGeometry& fp) {
  const int least = (fp.power_of_two ? 0 : 1) - fp.bias;
  const int exponent = size > 0 ? std::max(std::ilogb(size), least) : least;
  return std::ldexp(1.0, exponent - fp.mantissa_bits - 1);
}

// Half a unit of the last printed digit, plus the rounding when the text is read as a float.
double half_digit(double size, unsigned digits, bool fixed, const FloatGeometry& fp) {
  const double read = half_float_step(size, fp);
  if (fixed) return 0.5 / std::pow(10.0, digits) + read;
  const double decade = size > 0 ? std::floor(std::log10(size)) : 0;
  double ten = std::pow(10.0, decade);
  // The logarithm is rounded.
  if (ten > size) ten /= 10;
  if (ten * 10 <= nudged(size, fp.mantissa_bits)) ten *= 10;
  return size > 0 ? 5 * ten / std::pow(10.0, digits) + read : read;
}

double largest(const FloatGeometry& fp) {
  const std::uint64_t code = number::max_finite(fp);
  const auto exponent = static_cast<int>(code >> fp.mantissa_bits) - fp.bias - fp.mantissa_bits;
  const std::uint64_t one = 1ULL << fp.mantissa_bits;
  return std::ldexp(static_cast<double>((code & (one - 1)) + one), exponent);
}

}  // namespace

std::optional<double> Grid::scale() const {
  if (!codes) return std::nullopt;
  return scales.size() == 1 ? scales.front() : 0;
}

std::optional<double> Grid::even_half_step() const {
  if (!codes || scales.size() != 1 || info(dtype).floating()) return std::nullopt;
  return scales.front() / 2;
}

double Grid::half_step(double a, double b, std::uint64_t number) const {
  const DTypeInfo& row = info(dtype);
  const double size = std::min(std::abs(a), std::abs(b));
  if (text()) return half_digit(size, digits, fixed, row.fp);
  if (integers()) return 0;
  const double scale = codes && !scales.empty() ? scales[index_at(number)] : 1;
  return scale * (row.floating() ? half_float_step(nudged(size, 50) / scale, row.fp) : 0.5);
}

bool Grid::saturates() const {
  const DTypeInfo& row = info(dtype);
  return row.floating() ? row.fp.saturates && !row.fp.power_of_two
                        : row.kind != NumberKind::boolean;
}

std::size_t Grid::index_at(std::uint64_t number) const {
  if (boxes.dims.empty()) return number / stride % scales.size();
  std::uint64_t index = 0;
  std::uint64_t step = 1;
  for (std::size_t d = boxes.dims.size(); d-- > 0; number /= boxes.dims[d]) {
    index += number % boxes.dims[d] / boxes.block[d] * step;
    step *= boxes.scales[d];
  }
  return index % scales.size();
}

// The ends are computed as the numbers themselves are: by one product, rounded to a double.
Grid::Ends Grid::ends_at(std::uint64_t number) const {
  const DTypeInfo& row = info(dtype);
  const double scale = codes && !scales.empty() ? scales[index_at(number)] : 1;
  if (row.floating()) {
    const double end = largest(row.fp) * scale;
    return {.lowest = -end, .highest = end};
  }
  const bool is_signed = row.kind == NumberKind::signed_integer;
  const long double span = std::ldexp(1.0L, row.bits - (is_signed ? 1 : 0));
  if (!codes) return {.lowest = is_signed ? -span : 0, .highest = span - 1};
  const std::int64_t zero =
      zero_points.empty() ? 0 : zero_points[index_at(number) % zero_points.size()];
  const auto at = [&](long double code) {
    return static_cast<double>(code - static_cast<long double>(zero)) * scale;
  };
  // Symmetric codes often do not use the lowest one.
  const long double lowest = !is_signed ? 0 : zero == 0 ? 1 - span : -span;
  return {.lowest = at(lowest), .highest = at(span - 1)};
}

}  // namespace btf
