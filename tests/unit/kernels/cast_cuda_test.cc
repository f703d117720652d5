// The library's casts against the host conversions of CUDA's headers. Of a NaN only its being one
// is compared: CUDA writes other bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "btf/dtype.h"
#include "elements/cast.h"
#include "support/cast_oracle.h"

namespace btf::test {
namespace {

using Codes = std::vector<std::uint64_t>;

struct Row {
  CastJob job;
  std::uint64_t (*cuda)(std::uint64_t code);
};

// CUDA's name for a source is its type; these give the conversions one name.
template <DType From>
auto source(std::uint64_t code) {
  if constexpr (From == DType::float64) return std::bit_cast<double>(code);
  if constexpr (From == DType::float32) return std::bit_cast<float>(static_cast<unsigned>(code));
  if constexpr (From == DType::float16) {
    __half_raw raw;
    raw.x = static_cast<unsigned short>(code);
    return raw;
  }
  if constexpr (From == DType::bfloat16) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(code);
    return raw;
  }
}

auto fp8(double x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_double_to_fp8(x, saturation, kind);
}
auto fp8(float x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_float_to_fp8(x, saturation, kind);
}
auto fp8(__half_raw x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_halfraw_to_fp8(x, saturation, kind);
}
auto fp8(__nv_bfloat16_raw x, __nv_saturation_t saturation, __nv_fp8_interpretation_t kind) {
  return __nv_cvt_bfloat16raw_to_fp8(x, saturation, kind);
}

auto fp4(double x) { return __nv_cvt_double_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
auto fp4(float x) { return __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
auto fp4(__half_raw x) { return __nv_cvt_halfraw_to_fp4(x, __NV_E2M1, cudaRoundNearest); }
auto fp4(__nv_bfloat16_raw x) {
  return __nv_cvt_bfloat16raw_to_fp4(x, __NV_E2M1, cudaRoundNearest);
}

auto e8m0(double x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  return __nv_cvt_double_to_e8m0(x, saturation, rounding);
}
auto e8m0(float x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(x, saturation, rounding);
}
auto e8m0(__half_raw x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(__half2float(x), saturation, rounding);
}
auto e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturation, cudaRoundMode rounding) {
  return __nv_cvt_bfloat16raw_to_e8m0(x, saturation, rounding);
}

std::uint64_t code_of(__half x) { return static_cast<__half_raw>(x).x; }
std::uint64_t code_of(__nv_bfloat16 x) { return static_cast<__nv_bfloat16_raw>(x).x; }
std::uint64_t code_of(float x) { return std::bit_cast<std::uint32_t>(x); }

template <typename Integer>
std::uint64_t code_of_integer(Integer x) {
  return static_cast<std::make_unsigned_t<Integer>>(x);
}

template <DType From, __nv_fp8_interpretation_t Kind, __nv_saturation_t Saturation>
std::uint64_t cuda_fp8(std::uint64_t code) {
  return fp8(source<From>(code), Saturation, Kind);
}

template <DType From>
std::uint64_t cuda_fp4(std::uint64_t code) {
  return fp4(source<From>(code));
}

template <DType From, __nv_saturation_t Saturation, cudaRoundMode Mode>
std::uint64_t cuda_e8m0(std::uint64_t code) {
  return e8m0(source<From>(code), Saturation, Mode);
}

template <DType From>
void add_to_small_floats(std::vector<Row>& rows) {
  constexpr CastPolicy kTable{};
  constexpr CastPolicy kIeee{Overflow::ieee};
  constexpr CastPolicy kZero{Overflow::saturate, Rounding::zero};
  using enum DType;
  const Row own[] = {
      {{From, float8_e4m3fn, kTable}, cuda_fp8<From, __NV_E4M3, __NV_SATFINITE>},
      {{From, float8_e4m3fn, kIeee}, cuda_fp8<From, __NV_E4M3, __NV_NOSAT>},
      {{From, float8_e5m2, kTable}, cuda_fp8<From, __NV_E5M2, __NV_SATFINITE>},
      {{From, float8_e5m2, kIeee}, cuda_fp8<From, __NV_E5M2, __NV_NOSAT>},
      {{From, float4_e2m1fn, kTable}, cuda_fp4<From>},
      {{From, float8_e8m0fnu, kTable}, cuda_e8m0<From, __NV_SATFINITE, cudaRoundPosInf>},
      {{From, float8_e8m0fnu, kIeee}, cuda_e8m0<From, __NV_NOSAT, cudaRoundPosInf>},
      {{From, float8_e8m0fnu, kZero}, cuda_e8m0<From, __NV_SATFINITE, cudaRoundZero>}};
  for (const Row& row : own) rows.push_back(row);
}

std::vector<Row> make_rows() {
  using enum DType;
  std::vector<Row> rows = {
      {{float64, float16, {}},
       [](std::uint64_t code) { return code_of(__double2half(source<float64>(code))); }},
      {{float64, bfloat16, {}},
       [](std::uint64_t code) { return code_of(__double2bfloat16(source<float64>(code))); }},
      {{float32, float16, {}},
       [](std::uint64_t code) { return code_of(__float2half_rn(source<float32>(code))); }},
      {{float32, bfloat16, {}},
       [](std::uint64_t code) { return code_of(__float2bfloat16_rn(source<float32>(code))); }},
      {{float16, float32, {}},
       [](std::uint64_t code) { return code_of(__half2float(source<float16>(code))); }},
      {{bfloat16, float32, {}},
       [](std::uint64_t code) { return code_of(__bfloat162float(source<bfloat16>(code))); }},
      {{float8_e4m3fn, float16, {}},
       [](std::uint64_t code) {
         return code_of(
             __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E4M3)));
       }},
      {{float8_e5m2, float16, {}},
       [](std::uint64_t code) {
         return code_of(
             __half(__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(code), __NV_E5M2)));
       }},
      {{float4_e2m1fn, float16, {}},
       [](std::uint64_t code) {
         return code_of(
             __half(__nv_cvt_fp4_to_halfraw(static_cast<__nv_fp4_storage_t>(code), __NV_E2M1)));
       }},
      {{float8_e8m0fnu, bfloat16, {}},
       [](std::uint64_t code) {
         return code_of(
             __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(static_cast<__nv_fp8_storage_t>(code))));
       }},
      {{int64, float16, {}},
       [](std::uint64_t code) { return code_of(__ll2half_rn(static_cast<long long>(code))); }},
      {{int64, bfloat16, {}},
       [](std::uint64_t code) { return code_of(__ll2bfloat16_rn(static_cast<long long>(code))); }},
      {{uint64, float16, {}}, [](std::uint64_t code) { return code_of(__ull2half_rn(code)); }},
      {{uint64, bfloat16, {}}, [](std::uint64_t code) { return code_of(__ull2bfloat16_rn(code)); }},
      {{float16, int8, {}},
       [](std::uint64_t code) { return code_of_integer(__half2char_rz(source<float16>(code))); }},
      {{float16, uint8, {}},
       [](std::uint64_t code) { return code_of_integer(__half2uchar_rz(source<float16>(code))); }},
      {{float16, int16, {}},
       [](std::uint64_t code) { return code_of_integer(__half2short_rz(source<float16>(code))); }},
      {{float16, int32, {}},
       [](std::uint64_t code) { return code_of_integer(__half2int_rz(source<float16>(code))); }},
      {{bfloat16, int8, {}},
       [](std::uint64_t code) {
         return code_of_integer(__bfloat162char_rz(source<bfloat16>(code)));
       }},
      {{bfloat16, uint32, {}},
       [](std::uint64_t code) {
         return code_of_integer(__bfloat162uint_rz(source<bfloat16>(code)));
       }},
      {{bfloat16, int64, {}},
       [](std::uint64_t code) {
         return code_of_integer(__bfloat162ll_rz(source<bfloat16>(code)));
       }},
      {{bfloat16, uint64, {}},
       [](std::uint64_t code) {
         return code_of_integer(__bfloat162ull_rz(source<bfloat16>(code)));
       }},
  };
  add_to_small_floats<float64>(rows);
  add_to_small_floats<float32>(rows);
  add_to_small_floats<float16>(rows);
  add_to_small_floats<bfloat16>(rows);
  return rows;
}

// Around every value and every midpoint of the small floats, with both signs.
template <typename Bits, typename Float>
void add_neighbours(Codes& codes) {
  constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto add = [&](long double x) {
    const Bits code = std::bit_cast<Bits>(static_cast<Float>(x));
    for (const Bits near : {static_cast<Bits>(code - 1), code, static_cast<Bits>(code + 1)})
      codes.insert(codes.end(), {near, near ^ kSign});
  };
  for (const DType small : {DType::float16, DType::bfloat16, DType::float8_e4m3fn,
                            DType::float8_e5m2, DType::float8_e8m0fnu, DType::float4_e2m1fn}) {
    const auto values = oracle_magnitudes(small);
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      add(values[i]);
      add((values[i] + values[i + 1]) / 2);
    }
  }
}

Codes codes_of(DType dtype) {
  Codes codes;
  const DTypeInfo& row = info(dtype);
  const std::uint64_t ones = ~0ULL >> (64 - row.bits);
  if (row.bits <= 16) {
    for (std::uint64_t code = 0; code <= ones; ++code) codes.push_back(code);
    return codes;
  }
  if (dtype == DType::float32) add_neighbours<std::uint32_t, float>(codes);
  if (dtype == DType::float64) add_neighbours<std::uint64_t, double>(codes);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000'000; ++i) {
    const std::uint64_t code = random() & ones;
    codes.push_back(row.floating() ? code : code >> (random() % 64));
  }
  // Random bits of a float64 are seldom within the range of a small float.
  for (int i = 0; dtype == DType::float64 && i < 500'000; ++i)
    codes.push_back(std::bit_cast<std::uint64_t>(
        std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 300) - 214)));
  const std::uint64_t greatest = row.floating() ? ones >> 1 : ones;
  const std::uint64_t infinity =
      row.floating() ? (greatest >> row.fp.mantissa_bits) << row.fp.mantissa_bits : 0;
  for (const std::uint64_t code :
       {std::uint64_t{0}, infinity - 1, infinity, infinity + 1, greatest})
    codes.insert(codes.end(), {code & ones, (code | (ones ^ (ones >> 1))) & ones});
  return codes;
}

bool is_nan(DType dtype, std::uint64_t code) { return std::isnan(oracle_value(dtype, code)); }

// Empty if the library and CUDA agree on all codes.
std::string difference(const Row& row, const Codes& codes) {
  const auto [from, to, policy] = row.job;
  const std::size_t from_size = info(from).buffer_bytes();
  const std::size_t to_size = info(to).buffer_bytes();
  std::vector<std::byte> sources(codes.size() * from_size);
  std::vector<std::byte> targets(codes.size() * to_size);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(sources.data() + i * from_size, &codes[i], from_size);
  LossAccount account;
  cast_run(row.job, sources.data(), targets.data(), codes.size(), account);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, targets.data() + i * to_size, to_size);
    const std::uint64_t cuda = row.cuda(codes[i]);
    if (code == cuda || (is_nan(to, code) && is_nan(to, cuda))) continue;
    // There CUDA gives 8000000000000000, on purpose another value than the library's 0.
    if (info(to).bits == 64 && !info(to).floating() && is_nan(from, codes[i])) continue;
    return code_text(from, codes[i]) + " gives " + code_text(to, code) + ", CUDA gives " +
           code_text(to, cuda);
  }
  return "";
}

}  // namespace

TEST_CASE("casts agree with the host conversions of CUDA", "[cast][cuda]") {
  for (const DTypeInfo& from : dtypes()) {
    Codes codes;
    for (const Row& row : make_rows()) {
      if (row.job.from != from.dtype) continue;
      if (codes.empty()) codes = codes_of(from.dtype);
      CAPTURE(from.name, info(row.job.to).name, static_cast<int>(row.job.policy.overflow),
              static_cast<int>(row.job.policy.rounding));
      CHECK(difference(row, codes) == "");
    }
  }
}

}  // namespace btf::test
