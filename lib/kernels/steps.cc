#include "kernels/steps.h"

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
  return significant_bits(info(b)) < significant_bits(info(a)) ? info(b) : info(a);
}

}  // namespace

StepGrid step_grid(DType a, DType b) {
  const DTypeInfo& row = coarser(a, b);
  if (!row.floating()) return {.integer = true};
  return {.integer = false,
          .precision = significant_bits(row),
          .least_exponent = (row.fp.power_of_two ? 0 : 1) - row.fp.bias};
}

}  // namespace btf
