#include "kernels/number/widen.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/dtype.h"
#include "kernels/number/number.h"

namespace btf {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "int64 and uint64 must fit");

// A value of the C++ type with this dtype's representation; void if C++ has no such type.
template <DType T>
constexpr auto native() {
  constexpr const DTypeInfo& kRow = dtype_rows::kRows[row_of(T)];
  constexpr bool kSigned = kRow.kind == NumberKind::signed_integer;
  if constexpr (kRow.floating()) {
    if constexpr (kRow.bits == 64) return double{};
    if constexpr (kRow.bits == 32) return float{};
  } else if constexpr (kRow.kind != NumberKind::boolean) {
    if constexpr (kRow.bits == 64)
      return std::conditional_t<kSigned, std::int64_t, std::uint64_t>{};
    if constexpr (kRow.bits == 32)
      return std::conditional_t<kSigned, std::int32_t, std::uint32_t>{};
    if constexpr (kRow.bits == 16)
      return std::conditional_t<kSigned, std::int16_t, std::uint16_t>{};
    if constexpr (kRow.bits == 8) return std::conditional_t<kSigned, std::int8_t, std::uint8_t>{};
  }
}

// The values of a dtype by code: doubles for at most 8 bits, floats for at most 16.
template <DType T>
const auto& value_table() {
  constexpr unsigned kBits = dtype_rows::kRows[row_of(T)].bits;
  constexpr std::size_t kCodes = kBits <= 8 ? 256 : 65536;
  using Value = std::conditional_t<kBits <= 8, double, float>;
  static const auto table = [] {
    auto values = std::make_unique<std::array<Value, kCodes>>();
    for (std::uint64_t code = 0; code < kCodes; ++code)
      (*values)[code] =
          static_cast<Value>(number::to_double(number::decode<T>(kBits == 4 ? code & 0xf : code)));
    return values;
  }();
  return *table;
}

template <DType T, typename Real>
void widen(const std::byte* source, std::uint64_t stride, std::uint64_t count, Real* out) {
  if constexpr (std::is_same_v<Real, double>)
    if (stride == 1)
      if (const WidenRunFn run = find_widen_run(T)) return run(source, count, out);
  using Native = decltype(native<T>());
  if constexpr (!std::is_void_v<Native>) {
    for (std::uint64_t i = 0; i < count; ++i) {
      Native value;
      std::memcpy(&value, source + i * stride * sizeof(value), sizeof(value));
      out[i] = static_cast<Real>(value);
    }
  } else if constexpr (T == DType::bfloat16) {
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint16_t code;
      std::memcpy(&code, source + i * stride * sizeof(code), sizeof(code));
      out[i] = static_cast<Real>(std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16));
    }
  } else {
    using Code =
        std::conditional_t<dtype_rows::kRows[row_of(T)].bits <= 8, std::uint8_t, std::uint16_t>;
    const auto& values = value_table<T>();
    for (std::uint64_t i = 0; i < count; ++i) {
      Code code;
      std::memcpy(&code, source + i * stride * sizeof(code), sizeof(code));
      out[i] = static_cast<Real>(values[code]);
    }
  }
}

template <typename Real, std::size_t... Row>
constexpr auto make_wideners(std::index_sequence<Row...>) {
  return std::array<WidenFn<Real>, sizeof...(Row)>{widen<dtype_rows::kRows[Row].dtype, Real>...};
}

}  // namespace

template <typename Real>
WidenFn<Real> widener(DType dtype) {
  static constexpr auto kWideners = make_wideners<Real>(std::make_index_sequence<kDTypeCount>{});
  return kWideners[row_of(dtype)];
}

template WidenFn<double> widener<double>(DType dtype);
template WidenFn<long double> widener<long double>(DType dtype);

bool fits_double(DType dtype) { return is_lossless(dtype, DType::float64); }

}  // namespace btf
