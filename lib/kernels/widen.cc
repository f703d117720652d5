#include "kernels/widen.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "core/dtype_table.h"
#include "kernels/number.h"

namespace btf {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "int64 and uint64 must fit");

// The C++ type with this dtype's representation; void where C++23 of the compilers has none.
template <DType T>
struct NativeOf {
  using type = void;
};
template <>
struct NativeOf<DType::float32> {
  using type = float;
};
template <>
struct NativeOf<DType::float64> {
  using type = double;
};
template <>
struct NativeOf<DType::int8> {
  using type = std::int8_t;
};
template <>
struct NativeOf<DType::int16> {
  using type = std::int16_t;
};
template <>
struct NativeOf<DType::int32> {
  using type = std::int32_t;
};
template <>
struct NativeOf<DType::int64> {
  using type = std::int64_t;
};
template <>
struct NativeOf<DType::uint8> {
  using type = std::uint8_t;
};
template <>
struct NativeOf<DType::uint16> {
  using type = std::uint16_t;
};
template <>
struct NativeOf<DType::uint32> {
  using type = std::uint32_t;
};
template <>
struct NativeOf<DType::uint64> {
  using type = std::uint64_t;
};

// Every value of a dtype of at most 16 bits, by code.
template <DType T>
const auto& value_table() {
  constexpr unsigned kBits = dtype_rows::kRows[row_of(T)].bits;
  constexpr std::size_t kCodes = kBits <= 8 ? 256 : 65536;
  static const auto table = [] {
    auto values = std::make_unique<std::array<float, kCodes>>();
    for (std::uint64_t code = 0; code < kCodes; ++code)
      (*values)[code] =
          static_cast<float>(number::to_double(number::decode<T>(kBits == 4 ? code & 0xf : code)));
    return values;
  }();
  return *table;
}

template <DType T, typename Real>
void widen(const std::byte* source, std::uint64_t stride, std::uint64_t count, Real* out) {
  using Native = typename NativeOf<T>::type;
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
