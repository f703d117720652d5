#include "kernels/number/steps.h"

namespace btf {
namespace {

int significant_bits(const DTypeInfo& row) {
  switch (row.kind) {
    case NumberKind::boolean:
      return 1;
    case NumberKind::signed_integer:
      return row.bits - 1;
    case NumberKind::unsigned_integer:
      return row.bits;
    case NumberKind::floating:
      break;
  }
  return row.fp.mantissa_bits + 1;
}

const DTypeInfo& coarser(DType a, DType b) {
  if (is_lossless(a, b)) return info(a);
  if (is_lossless(b, a)) return info(b);
  const DTypeInfo& left = info(a);
  const DTypeInfo& right = info(b);
  const int more = significant_bits(left) - significant_bits(right);
  if (more != 0) return more > 0 ? right : left;
  const bool floats = left.floating() && right.floating();
  return floats && right.fp.bias < left.fp.bias ? right : left;
}

}  // namespace

StepGrid StepGrid::floats(int precision, int least_exponent) {
  StepGrid grid{.precision = precision, .least_exponent = least_exponent};
  // The bits of a double are its position, also if it is subnormal.
  if (precision == 53) return grid;
  grid.drop = 53 - precision;
  grid.half = (std::uint64_t{1} << (grid.drop - 1)) - 1;
  grid.odd = 1;
  grid.base = static_cast<std::uint64_t>(least_exponent + 1022) << (precision - 1);
  grid.normal_from = static_cast<std::uint64_t>(least_exponent + 1023) << 52;
  grid.small_scale = std::ldexp(1.0, precision - 1 - least_exponent);
  return grid;
}

StepGrid step_grid(DType a, DType b) {
  const DTypeInfo& row = coarser(a, b);
  if (!row.floating()) return StepGrid::integers();
  return StepGrid::floats(significant_bits(row), (row.fp.power_of_two ? 0 : 1) - row.fp.bias);
}

}  // namespace btf
