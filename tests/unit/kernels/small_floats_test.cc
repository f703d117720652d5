// The 8-bit floats of ml_dtypes that CUDA has no conversions for, by trying all of their codes:
// the nearest number, of two the one with the even code, is what a cast must give.
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "elements/cast.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

struct Format {
  DType dtype;
  int mantissa_bits;
  int bias;
  bool fnuz;  // else as IEEE 754 would have it
};

constexpr Format kFormats[] = {{DType::float8_e4m3fnuz, 3, 8, true},
                               {DType::float8_e5m2fnuz, 2, 16, true},
                               {DType::float8_e3m4, 4, 3, false},
                               {DType::float8_e4m3, 3, 7, false},
                               {DType::float8_e4m3b11fnuz, 3, 11, true}};

constexpr double kInf = std::numeric_limits<double>::infinity();

// What a code of 7 bits would be if there were numbers only.
double magnitude_of(const Format& format, int code) {
  const int unit = 1 << format.mantissa_bits;
  const int exponent = code / unit;
  const int significand = exponent == 0 ? code % unit : unit + code % unit;
  return std::ldexp(significand,
                    (exponent == 0 ? 1 : exponent) - format.bias - format.mantissa_bits);
}

// Of the numbers without a sign.
int largest_code(const Format& format) {
  return format.fnuz ? 0x7f : 0x7f - (1 << format.mantissa_bits);
}

double value_of(const Format& format, int code) {
  if (format.fnuz && code == 0x80) return std::numeric_limits<double>::quiet_NaN();
  const int magnitude = code & 0x7f;
  const double sign = code < 0x80 ? 1 : -1;
  if (magnitude <= largest_code(format)) return sign * magnitude_of(format, magnitude);
  return magnitude == largest_code(format) + 1 ? sign * kInf
                                               : std::numeric_limits<double>::quiet_NaN();
}

struct Expected {
  int code = 0;
  std::uint64_t LossAccount::* loss = nullptr;
};

Expected beyond(const Format& format, bool negative, bool ieee) {
  const int sign = negative ? 0x80 : 0;
  if (!ieee) return {sign | largest_code(format), &LossAccount::overflowed};
  const int code = format.fnuz ? 0x80 : sign | (largest_code(format) + 1);
  return {code, &LossAccount::overflowed};
}

Expected expected_of(const Format& format, double x, bool ieee) {
  const int sign = std::signbit(x) ? 0x80 : 0;
  if (std::isnan(x)) {
    const int quiet = 0x7f - (1 << format.mantissa_bits) + 1 + (1 << (format.mantissa_bits - 1));
    return {format.fnuz ? 0x80 : sign | quiet};
  }
  if (std::isinf(x)) {
    Expected inf = beyond(format, x < 0, ieee);
    if (ieee && !format.fnuz) inf.loss = nullptr;
    return inf;
  }
  int best = 0;
  long double least = std::abs(static_cast<long double>(x));
  for (int code = 1; code <= largest_code(format) + 1; ++code) {
    const long double error =
        std::abs(std::abs(static_cast<long double>(x)) - magnitude_of(format, code));
    if (error > least || (error == least && code % 2 != 0)) continue;
    best = code;
    least = error;
  }
  if (best > largest_code(format)) return beyond(format, x < 0, ieee);
  const int code = format.fnuz && best == 0 ? 0 : sign | best;
  if (least == 0) return {code};
  return {code, best == 0 ? &LossAccount::to_zero : &LossAccount::inexact};
}

// The bits of a double's value in another float, which has it.
std::uint64_t code_in(DType dtype, double x) {
  if (dtype == DType::float64) return std::bit_cast<std::uint64_t>(x);
  return std::bit_cast<std::uint32_t>(static_cast<float>(x));
}

struct Source {
  std::uint64_t code = 0;
  double value = 0;
};

// Each number, each middle between two, what stands next to these, and numbers at random.
std::vector<Source> sources(const Format& format, DType from, Random& random) {
  std::vector<double> values{0, kInf, std::numeric_limits<double>::quiet_NaN(), 1e-30, 1e30};
  const auto next = [&](double x, double to) {
    return from == DType::float64 ? std::nextafter(x, to)
                                  : std::nextafter(static_cast<float>(x), static_cast<float>(to));
  };
  for (int code = 0; code <= largest_code(format); ++code) {
    const double here = magnitude_of(format, code);
    const double middle = (here + magnitude_of(format, code + 1)) / 2;
    for (const double x : {here, middle})
      values.insert(values.end(), {x, next(x, kInf), next(x, 0)});
  }
  for (int i = 0; i < 20'000; ++i) {
    const double significand = 1 + static_cast<double>(random.below(1 << 23)) / (1 << 23);
    values.push_back(std::ldexp(significand, static_cast<int>(random.below(40)) - 20));
  }
  std::vector<Source> all;
  for (const double x : values)
    for (const double signed_x : {x, -x}) all.push_back({code_in(from, signed_x), signed_x});
  return all;
}

std::vector<Source> all_float16() {
  std::vector<Source> all;
  for (std::uint64_t code = 0; code < 65536; ++code) {
    const int exponent = static_cast<int>(code >> 10 & 31);
    const int mantissa = static_cast<int>(code & 1023);
    double value =
        exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
    if (exponent == 31) value = mantissa == 0 ? kInf : std::numeric_limits<double>::quiet_NaN();
    all.push_back({code, (code & 0x8000) != 0 ? -value : value});
  }
  return all;
}

// Empty if each is cast as it must be, all at once, and its loss is counted in its class.
std::string difference(const Format& format, DType from, const std::vector<Source>& all,
                       bool ieee) {
  const std::size_t size = info(from).buffer_bytes();
  std::vector<std::byte> source(all.size() * size);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::memcpy(source.data() + i * size, &all[i].code, size);
  std::vector<std::byte> target(all.size());
  LossAccount account;
  CastPolicy policy;
  if (ieee) policy.overflow = Overflow::ieee;
  cast_run({from, format.dtype, policy}, source.data(), target.data(), all.size(), account);

  LossAccount sum;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Expected expected = expected_of(format, all[i].value, ieee);
    if (std::to_integer<int>(target[i]) != expected.code)
      return code_text(from, all[i].code) + " gives " +
             code_text(format.dtype, std::to_integer<std::uint64_t>(target[i])) + ", not " +
             code_text(format.dtype, static_cast<std::uint64_t>(expected.code));
    if (expected.loss != nullptr) ++(sum.*expected.loss);
    if (std::isnan(all[i].value)) ++sum.nan;
  }
  const bool same = account.elements == all.size() && account.overflowed == sum.overflowed &&
                    account.inexact == sum.inexact && account.to_zero == sum.to_zero &&
                    account.nan == sum.nan && account.nan_lost == 0;
  return same ? "" : "another account";
}

}  // namespace

TEST_CASE("small floats: all codes mean what their definitions say", "[cast]") {
  for (const Format& format : kFormats) {
    for (int code = 0; code < 256; ++code) {
      const double value = value_of(format, code);
      const auto byte = static_cast<std::byte>(code);
      CAPTURE(info(format.dtype).name, code, value);
      for (const DType to : {DType::float16, DType::bfloat16, DType::float32, DType::float64}) {
        std::uint64_t result = 0;
        LossAccount account;
        cast_run({format.dtype, to, {}}, &byte, reinterpret_cast<std::byte*>(&result), 1, account);
        const double read = value_double(to, result);
        CHECK((read == value || (std::isnan(read) && std::isnan(value))));
        const bool negative = (result >> (info(to).bits - 1U)) != 0;
        CHECK(negative == (code >= 0x80 && !(format.fnuz && code == 0x80)));
        CHECK(account.changed() == 0);
        CHECK(account.nan == (std::isnan(value) ? 1 : 0));
      }
    }
  }
}

TEST_CASE("small floats: the largest are those of ml_dtypes' finfo", "[cast]") {
  constexpr double kLargest[] = {240, 57344, 15.5, 240, 30};
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    CHECK(magnitude_of(kFormats[i], largest_code(kFormats[i])) == kLargest[i]);
    CHECK(value_double(kFormats[i].dtype, btf::largest_code(kFormats[i].dtype)) == kLargest[i]);
  }
}

TEST_CASE("small floats: the nearest of all codes, from every float16", "[cast]") {
  const std::vector<Source> all = all_float16();
  for (const Format& format : kFormats) {
    for (const bool ieee : {false, true}) {
      CAPTURE(info(format.dtype).name, ieee);
      CHECK(difference(format, DType::float16, all, ieee) == "");
    }
  }
}

TEST_CASE("small floats: the nearest of all codes, from float32 and float64", "[cast]") {
  Random random(17);
  for (const Format& format : kFormats) {
    for (const DType from : {DType::float32, DType::float64}) {
      const std::vector<Source> all = sources(format, from, random);
      for (const bool ieee : {false, true}) {
        CAPTURE(info(format.dtype).name, info(from).name, ieee);
        CHECK(difference(format, from, all, ieee) == "");
      }
    }
  }
}

}  // namespace btf::test
