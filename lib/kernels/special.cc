#include "kernels/special.h"

#include <cstring>

#include "kernels/number.h"

namespace btf {
namespace {

// Counts instead of stopping at the first: a loop without a way out vectorises.
template <typename Code>
bool any_above(const std::byte* codes, std::uint64_t count, Code magnitude, Code limit) {
  Code found = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    Code code;
    std::memcpy(&code, codes + i * sizeof(code), sizeof(code));
    found |= static_cast<Code>((code & magnitude) > limit ? 1 : 0);
  }
  return found != 0;
}

template <typename Code>
bool any_in(const FloatGeometry& fp, const std::byte* codes, std::uint64_t count) {
  return any_above(codes, count,
                   static_cast<Code>(number::low_bits(fp.exponent_bits + fp.mantissa_bits)),
                   static_cast<Code>(number::max_finite(fp)));
}

}  // namespace

bool any_special(DType dtype, const std::byte* codes, std::uint64_t count) {
  const DTypeInfo& row = info(dtype);
  if (!row.floating() || row.fp.specials == FloatSpecials::none) return false;
  if (row.bits == 8) return any_in<std::uint8_t>(row.fp, codes, count);
  if (row.bits == 16) return any_in<std::uint16_t>(row.fp, codes, count);
  if (row.bits == 32) return any_in<std::uint32_t>(row.fp, codes, count);
  return any_in<std::uint64_t>(row.fp, codes, count);
}

}  // namespace btf
