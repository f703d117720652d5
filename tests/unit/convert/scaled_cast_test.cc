#include <catch2/catch.hpp>

#include "kernels/scale/scale.h"
#include "unit/convert/quantize_cases.h"

using namespace quantize_cases;

using btf::ScaleDirection;

namespace {

// Short ones, long ones, those that float32 holds, powers of two, and both ends of float32.
const std::vector<double> kScales{1.0,           0.5,      0.1,   0.1F,    3.0,           1.0 / 3,
                                  0x1.6a09e6p-9, 0x1p-149, 1e-40, 6.25e30, 0x1.fffffep127};

// The codes next to that of `value`, and of its opposite.
void add_around(DType dtype, long double value, Words& codes) {
  for (const double side : {1.0, -1.0}) {
    const std::uint64_t code = float_code(dtype, side * static_cast<double>(value));
    for (std::uint64_t step : {0U, 1U, 2U}) {
      codes.push_back((code + step) & all_ones(bits_of(dtype)));
      codes.push_back((code - step) & all_ones(bits_of(dtype)));
    }
  }
}

// Every code of a small type, or every `stride`th; of a large one what is special to the type, to
// `target`, or to the scale.
Words source_codes(DType from, DType target, double scale, std::uint64_t stride) {
  Words codes;
  if (bits_of(from) <= 16) {
    for (std::uint64_t code = 0; code < 1ULL << bits_of(from);
         code += bits_of(from) < 16 ? 1 : stride)
      codes.push_back(code);
    return codes;
  }
  for (const double value : {0.0, 1.0, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    add_around(from, value, codes);
  for (int exponent = -1074; exponent < 1024; exponent += exponent < -80 || exponent > 80 ? 61 : 1)
    add_around(from, std::ldexp(1.0L, exponent), codes);
  // What the type holds next to the ties.
  if (btf::test::is_float(target) && bits_of(target) <= 8) {
    const btf::test::Magnitudes magnitudes(target);
    for (std::uint64_t code = 0; code <= magnitudes.largest(); ++code)
      add_around(from, (magnitudes.value(code) + magnitudes.value(code + 1)) / 2 * scale, codes);
  } else {
    for (int i = 0; i < 12; ++i) add_around(from, (i + 0.5L) * scale, codes);
    for (int exponent = 3; exponent < 66; ++exponent)
      for (const long double off : {-1.5L, -0.5L, 0.5L})
        add_around(from, (std::ldexp(1.0L, exponent) + off) * scale, codes);
  }
  Random random(bits_of(from) + bits_of(target));
  for (int i = 0; i < 300; ++i) codes.push_back(random.next() & all_ones(bits_of(from)));
  return codes;
}

struct Outcome {
  Words codes;
  LossAccount account;
};

Outcome run(ScaleDirection direction, const btf::ScaledCast& cast, const Words& codes,
            double scale) {
  const std::uint64_t to_bytes = btf::info(cast.to).buffer_bytes();
  const Bytes source = bytes::pack(bits_of(cast.from) < 8 ? 8 : bits_of(cast.from), codes);
  Bytes target(codes.size() * to_bytes);
  Outcome outcome;
  btf::ScaledRuns(cast, direction)
      .run(scale, cast.zero_point, {source.data(), target.data(), codes.size()}, outcome.account);
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::uint64_t code = 0;
    std::memcpy(&code, target.data() + i * to_bytes, to_bytes);
    outcome.codes.push_back(code);
  }
  return outcome;
}

void count(Loss loss, LossAccount& account) {
  ++account.elements;
  account.overflowed += loss == Loss::overflowed ? 1 : 0;
  account.nan_lost += loss == Loss::nan_lost ? 1 : 0;
  account.to_zero += loss == Loss::to_zero ? 1 : 0;
  account.inexact += loss == Loss::inexact ? 1 : 0;
}

// Compares all codes, and the account, and names the first that differs.
template <typename Oracle>
void check(const Outcome& got, DType from, const Words& codes, const Oracle& oracle) {
  LossAccount expected;
  std::uint64_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const OracleCast one = oracle(codes[i]);
    count(one.loss, expected);
    expected.nan += std::isnan(oracle_value(from, codes[i])) ? 1 : 0;
    if (one.code == got.codes[i] || wrong++ != 0) continue;
    first = "code " + std::to_string(codes[i]) + " gives " + std::to_string(got.codes[i]) +
            ", not " + std::to_string(one.code);
  }
  CAPTURE(first);
  CHECK(wrong == 0);
  CHECK(got.account.elements == expected.elements);
  CHECK(got.account.overflowed == expected.overflowed);
  CHECK(got.account.nan_lost == expected.nan_lost);
  CHECK(got.account.to_zero == expected.to_zero);
  CHECK(got.account.inexact == expected.inexact);
  CHECK(got.account.nan == expected.nan);
}

// The largest errors, as far as long double can tell: not for codes of 64 bits.
void check_errors(const btf::ScaledCast& cast, const Outcome& got, const Words& codes,
                  double scale) {
  if (bits_of(cast.to) > 32) return;
  long double max_abs = 0;
  long double max_rel = 0;
  long double largest = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const long double x = oracle_value(cast.from, codes[i]);
    const long double back =
        (oracle_value(cast.to, got.codes[i]) - static_cast<long double>(cast.zero_point)) * scale;
    if (!std::isfinite(x) || !std::isfinite(back) || x == back) continue;
    largest = std::max(largest, std::abs(x));
    max_abs = std::max(max_abs, std::abs(x - back));
    max_rel = std::max(max_rel, std::abs(x - back) / std::abs(x));
  }
  const auto close_to = [](long double value, long double size) {
    return Approx(static_cast<double>(value))
        .epsilon(1e-6)
        .margin(static_cast<double>(size) * 1e-15);
  };
  CHECK(got.account.max_abs == close_to(max_abs, largest));
  CHECK(got.account.max_rel == close_to(max_rel, 1));
}

void check_quantize(const btf::ScaledCast& cast, const Words& codes, double scale) {
  CAPTURE(name_of(cast.from), name_of(cast.to), scale, cast.zero_point);
  const Outcome got = run(ScaleDirection::quantize, cast, codes, scale);
  check(got, cast.from, codes, [&](std::uint64_t code) {
    return oracle_quantize(cast.from, cast.to, code, scale, cast.zero_point, cast.policy);
  });
  check_errors(cast, got, codes, scale);
}

void check_dequantize(const btf::ScaledCast& cast, const Words& codes, double scale) {
  CAPTURE(name_of(cast.from), name_of(cast.to), scale, cast.zero_point);
  check(run(ScaleDirection::dequantize, cast, codes, scale), cast.from, codes,
        [&](std::uint64_t code) {
          return oracle_dequantize(cast.from, cast.to, code, scale, cast.zero_point);
        });
}

// Files

Number random_number(Random& random) {
  Number x;
  x.kind = Number::Class::finite;
  x.significand = random.next() | btf::number::kTopBit;
  // Short ones too, and all ones.
  const std::uint64_t kind = random.below(4);
  if (kind == 0) x.significand &= ~0ULL << random.below(64);
  if (kind == 1) x.significand |= all_ones(static_cast<unsigned>(random.below(64)));
  x.significand |= btf::number::kTopBit;
  x.exponent = static_cast<int>(random.below(2200)) - 1100;
  x.negative = random.below(2) != 0;
  return x;
}

Exact exact(const Number& x) { return {x.significand, x.exponent - 63}; }

}  // namespace

// Arithmetic

// A result that is not exact ends in a set bit and lies next to the exact one, so that rounding it
// to fewer bits rounds the exact one.
TEST_CASE("scaled numbers: quotients and products keep what rounding needs") {
  Random random(1);
  int exact_quotients = 0;
  for (int i = 0; i < 300'000; ++i) {
    const Number a = random_number(random);
    const Number b = random_number(random);
    const Number quotient = btf::number::quotient(a, b);
    const Number product = btf::number::product(a, b);
    bool good = quotient.significand >> 63 == 1 && product.significand >> 63 == 1 &&
                quotient.negative == (a.negative != b.negative) &&
                product.negative == (a.negative != b.negative);
    const auto between = [](const Number& x, const auto& order) {
      if (order(exact(x)) == 0) return true;
      const Exact below{x.significand - 1, x.exponent - 63};
      const Exact above{Wide{x.significand} + 1, x.exponent - 63};
      return x.significand % 2 == 1 && order(below) < 0 && order(above) > 0;
    };
    // q against a / b, without a quotient.
    const auto by_quotient = [&](const Exact& q) { return q * exact(b) <=> exact(a); };
    const Exact whole{Wide{a.significand} * b.significand, a.exponent + b.exponent - 126};
    good = good && between(quotient, by_quotient) &&
           between(product, [&](const Exact& p) { return p <=> whole; });
    exact_quotients += by_quotient(exact(quotient)) == 0 ? 1 : 0;
    if (good) continue;
    CAPTURE(i, a.significand, a.exponent, b.significand, b.exponent, quotient.significand,
            quotient.exponent, product.significand, product.exponent);
    REQUIRE(good);
  }
  CHECK(exact_quotients > 1000);
}

TEST_CASE("scaled numbers: zero, Inf and NaN") {
  using enum Number::Class;
  const Number one{btf::number::kTopBit, 0, false, finite};
  const auto kind = [&](Number::Class a, Number::Class b, bool divide) {
    const Number x = a == finite ? one : Number{0, 0, true, a};
    const Number y = b == finite ? one : Number{0, 0, false, b};
    const Number result = divide ? btf::number::quotient(x, y) : btf::number::product(x, y);
    CHECK(result.negative == (a != finite));
    return result.kind;
  };
  for (const Number::Class a : {zero, infinite, nan}) {
    CHECK(kind(a, finite, true) == a);
    CHECK(kind(a, finite, false) == a);
    CHECK(kind(a, nan, false) == nan);
  }
  CHECK(kind(finite, zero, true) == zero);
  CHECK(kind(finite, zero, false) == zero);
  CHECK(kind(finite, nan, false) == nan);
}

// Runs

TEST_CASE("quantise: every small type from every type, by the definition") {
  for (const DType from : all_types()) {
    for (const DType to : small_types()) {
      const bool in_full = to == DType::int8 || to == DType::float8_e4m3fn;
      for (const double scale : kScales) {
        const std::uint64_t stride = in_full && scale == 0.1 ? 1 : 97;
        check_quantize({from, to, {}, 0}, source_codes(from, to, scale, stride), scale);
      }
    }
  }
}

TEST_CASE("quantise: zero points up to both limits") {
  for (const DType from : {DType::float32, DType::float64, DType::int64, DType::uint64,
                           DType::bfloat16, DType::uint8}) {
    for (const DType to : kIntegers)
      for (const std::int64_t zero : zero_points(to))
        for (const double scale : {0.1, 1.0, 2.5, static_cast<double>(0.1F)})
          check_quantize({from, to, {}, zero}, source_codes(from, to, scale, 997), scale);
  }
}

// A scale of 24 bits is what --scale auto makes, and the way for it need not be that for others.
TEST_CASE("quantise: float32 with any scale of float32") {
  Random random(3);
  for (int i = 0; i < 60; ++i) {
    const auto exponent =
        static_cast<std::uint32_t>(i < 20 ? random.below(255) : random.between(100, 140));
    const auto code = exponent << 23 | static_cast<std::uint32_t>(random.below(1U << 23));
    const double scale = std::bit_cast<float>(code == 0 ? 1 : code);
    for (const DType to :
         {DType::int4, DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32})
      for (const std::int64_t zero : {0, 7})
        check_quantize({DType::float32, to, {}, zero}, source_codes(DType::float32, to, scale, 1),
                       scale);
  }
}

TEST_CASE("quantise: the other roundings, for integers") {
  for (const Rounding rounding : {Rounding::nearest, Rounding::zero, Rounding::up, Rounding::down})
    for (const DType to : {DType::int4, DType::uint8, DType::int64})
      for (const std::int64_t zero : {0, 3})
        for (const double scale : {0.1, 1.0, 3.0}) {
          CastPolicy policy;
          policy.rounding = rounding;
          CAPTURE(static_cast<int>(rounding));
          check_quantize({DType::float32, to, policy, zero},
                         source_codes(DType::float32, to, scale, 1), scale);
        }
}

TEST_CASE("quantise: with ieee small floats do not saturate") {
  for (const DType to :
       {DType::float8_e4m3fn, DType::float8_e5m2, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz,
        DType::float8_e3m4, DType::float8_e4m3, DType::float8_e4m3b11fnuz}) {
    CastPolicy policy;
    policy.overflow = Overflow::ieee;
    check_quantize({DType::float32, to, policy, 0}, source_codes(DType::float32, to, 0.1, 1), 0.1);
  }
}

TEST_CASE("quantise: a scale of 0 stands for a block of zeros") {
  for (const DType to : kSmallFloats) {
    const Outcome got = run(ScaleDirection::quantize, {DType::float32, to, {}, 0},
                            {0x00000000, 0x3F800000, 0x80000000}, 0);
    CHECK(got.codes == Words{0, 0, float_code(to, -0.0)});
    CHECK(got.account.to_zero == 1);
    CHECK(got.account.changed() == 1);
  }
}

TEST_CASE("quantise: the largest errors") {
  // 0.3 / 0.25 -> 1, 100 -> 127, 0.1 -> 0, -1 exact; NaN and Inf have no part in it.
  Words codes;
  for (const double x :
       {0.3, 100.0, 0.1, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)})
    codes.push_back(float_code(DType::float64, x));
  const Outcome got =
      run(ScaleDirection::quantize, {DType::float64, DType::int8, {}, 0}, codes, 0.25);
  CHECK(got.codes == Words{1, 127, 0, 0xFC, 0, 127});
  CHECK(got.account.max_abs == 100 - 31.75);
  CHECK(got.account.max_rel == 1);
  CHECK(got.account.overflowed == 2);
  CHECK(got.account.to_zero == 1);
  CHECK(got.account.inexact == 1);
  CHECK(got.account.nan_lost == 1);
}

TEST_CASE("dequantise: every small type to every large float, by the definition") {
  for (const DType from : small_types()) {
    for (const DType to : kLargeFloats) {
      for (const double scale : kScales)
        check_dequantize({from, to, {}, 0}, source_codes(from, DType::int64, 1, 331), scale);
      if (btf::test::is_float(from)) continue;
      for (const std::int64_t zero : zero_points(from))
        check_dequantize({from, to, {}, zero}, source_codes(from, DType::int64, 1, 997), 0.1);
    }
  }
}

TEST_CASE("dequantise: a NaN as a scale") {
  const Outcome got = run(ScaleDirection::dequantize, {DType::float8_e5m2, DType::float32, {}, 0},
                          {0x00, 0x3C, 0x7C, 0x7F}, NAN);
  for (const std::uint64_t code : got.codes) CHECK(std::isnan(oracle_value(DType::float32, code)));
}
