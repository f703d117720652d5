// Casts against the oracle, which knows the definitions only, and against values written by hand.
#include "elements/cast.h"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "kernels/cast/kernel_table.h"
#include "support/cast_oracle.h"
#include "support/said.h"

namespace btf::test {
namespace {

using Codes = std::vector<std::uint64_t>;

constexpr Overflow kOverflows[] = {Overflow::saturate, Overflow::ieee, Overflow::wrap,
                                   Overflow::error};
constexpr Rounding kRoundings[] = {Rounding::by_table, Rounding::nearest, Rounding::zero,
                                   Rounding::up, Rounding::down};

constexpr std::uint64_t LossAccount::* kLossField[] = {
    nullptr, &LossAccount::inexact, &LossAccount::to_zero, &LossAccount::overflowed,
    &LossAccount::nan_lost};

bool is_integer(DType dtype) {
  const NumberKind kind = info(dtype).kind;
  return kind == NumberKind::signed_integer || kind == NumberKind::unsigned_integer;
}

bool is_e8m0(DType dtype) { return dtype == DType::float8_e8m0fnu; }

std::uint64_t all_ones(DType dtype) { return ~0ULL >> (64 - info(dtype).bits); }

std::string policy_text(const CastPolicy& policy) {
  const std::array overflow = {"saturate", "ieee", "wrap", "error"};
  const std::array rounding = {"by table", "nearest", "zero", "up", "down"};
  return std::string(", overflow ") + overflow[static_cast<std::size_t>(policy.overflow)] +
         ", rounding " + rounding[static_cast<std::size_t>(policy.rounding)];
}

std::string job_text(const CastJob& job) {
  return std::string(info(job.from).name) + " to " + std::string(info(job.to).name) +
         policy_text(job.policy);
}

std::vector<CastPolicy> all_policies() {
  std::vector<CastPolicy> policies;
  for (const Overflow overflow : kOverflows)
    for (const Rounding rounding : kRoundings) policies.push_back({overflow, rounding});
  return policies;
}

// Those that differ in what they do to this pair.
std::vector<CastPolicy> distinct_policies(DType from, DType to) {
  if (from == to) return {CastPolicy{}};
  const bool rounds = is_e8m0(to) || (is_integer(to) && info(from).floating());
  const bool ieee = info(to).floating() && info(to).bits == 8;
  std::vector<CastPolicy> policies;
  for (const CastPolicy& policy : all_policies()) {
    if (policy.overflow == Overflow::error) continue;
    if (policy.overflow == Overflow::ieee && !ieee) continue;
    if (policy.overflow == Overflow::wrap && !is_integer(to)) continue;
    if (policy.rounding != Rounding::by_table && !rounds) continue;
    policies.push_back(policy);
  }
  return policies;
}

std::vector<std::byte> to_bytes(DType dtype, const Codes& codes) {
  const std::size_t size = info(dtype).buffer_bytes();
  std::vector<std::byte> bytes(codes.size() * size);
  for (std::size_t i = 0; i < codes.size(); ++i)
    std::memcpy(bytes.data() + i * size, &codes[i], size);
  return bytes;
}

std::uint64_t load(DType dtype, const std::byte* bytes, std::size_t index) {
  const std::size_t size = info(dtype).buffer_bytes();
  std::uint64_t code = 0;
  std::memcpy(&code, bytes + index * size, size);
  return code;
}

Codes cast(const CastJob& job, const Codes& codes, LossAccount& account) {
  const std::vector<std::byte> source = to_bytes(job.from, codes);
  std::vector<std::byte> target(codes.size() * info(job.to).buffer_bytes());
  cast_run(job, source.data(), target.data(), codes.size(), account);
  Codes result(codes.size());
  for (std::size_t i = 0; i < codes.size(); ++i) result[i] = load(job.to, target.data(), i);
  return result;
}

std::uint64_t cast_one(DType from, DType to, std::uint64_t code, const CastPolicy& policy = {}) {
  LossAccount account;
  return cast({from, to, policy}, {code}, account).front();
}

Loss loss_of_one(DType from, DType to, std::uint64_t code, const CastPolicy& policy = {}) {
  LossAccount account;
  cast({from, to, policy}, {code}, account);
  for (int loss = 1; loss < kLossCount; ++loss)
    if (account.*kLossField[loss] != 0) return static_cast<Loss>(loss);
  return Loss::none;
}

std::uint64_t code_of(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t code_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// Sums over a batch what its account must say.
struct ExpectedAccount {
  std::array<std::uint64_t, kLossCount> losses{};
  std::uint64_t elements = 0;
  std::uint64_t nan = 0;
  long double max_abs = 0;
  long double max_rel = 0;

  void add(const CastJob& job, std::uint64_t code, const OracleCast& expected) {
    ++elements;
    ++losses[static_cast<std::size_t>(expected.loss)];
    if (job.from == job.to) return;
    const long double source = oracle_value(job.from, code);
    if (std::isnan(source)) ++nan;
    if (expected.loss == Loss::none || !std::isfinite(source)) return;
    const long double result = oracle_value(job.to, expected.code);
    if (!std::isfinite(result)) return;
    max_abs = std::max(max_abs, std::abs(result - source));
    if (source != 0) max_rel = std::max(max_rel, std::abs((result - source) / source));
  }

  // The errors to the last digits of a double only: they are rounded on both sides.
  bool matches(const LossAccount& account) const {
    for (std::size_t loss = 1; loss < kLossCount; ++loss)
      if (account.*kLossField[loss] != losses[loss]) return false;
    const auto close = [](double a, long double b) {
      const auto expected = static_cast<double>(b);
      return a == expected || std::abs(a - expected) <= 1e-15 * expected;
    };
    return account.elements == elements && account.nan == nan && close(account.max_abs, max_abs) &&
           close(account.max_rel, max_rel);
  }
};

std::string element_text(const CastJob& job, std::uint64_t code, std::uint64_t result,
                         const OracleCast& expected) {
  return job_text(job) + ": " + code_text(job.from, code) + " gives " + code_text(job.to, result) +
         ", oracle " + code_text(job.to, expected.code);
}

// Empty if all codes and accounts are those of the oracle. The elements are cast in groups of one
// class of loss each: so the account of a group says the class of every element in it.
std::string difference(const CastJob& job, const Codes& codes) {
  std::array<Codes, kLossCount> groups;
  std::array<std::vector<OracleCast>, kLossCount> expected;
  std::array<ExpectedAccount, kLossCount> accounts;
  for (const std::uint64_t code : codes) {
    const OracleCast one = oracle_cast(job.from, job.to, code, job.policy);
    const auto loss = static_cast<std::size_t>(one.loss);
    groups[loss].push_back(code);
    expected[loss].push_back(one);
    accounts[loss].add(job, code, one);
  }
  for (std::size_t loss = 0; loss < kLossCount; ++loss) {
    LossAccount account;
    const Codes results = cast(job, groups[loss], account);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i] != expected[loss][i].code)
        return element_text(job, groups[loss][i], results[i], expected[loss][i]);
    if (accounts[loss].matches(account)) continue;
    for (std::size_t i = 0; i < results.size(); ++i) {
      LossAccount one;
      cast(job, {groups[loss][i]}, one);
      ExpectedAccount single;
      single.add(job, groups[loss][i], expected[loss][i]);
      if (!single.matches(one))
        return element_text(job, groups[loss][i], results[i], expected[loss][i]) +
               ", but the account differs";
    }
    return job_text(job) + ": the account of several elements differs";
  }
  return "";
}

Codes narrow_codes(DType dtype) {
  // A bool has two codes of its own, but may hold any byte.
  Codes codes(all_ones(dtype) + 1);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = i;
  return codes;
}

// The codes at and next to x and -x.
void add_around(DType dtype, long double x, Codes& codes) {
  const std::uint64_t ones = all_ones(dtype);
  if (info(dtype).floating()) {
    const std::uint64_t sign = ones ^ (ones >> 1);
    const std::uint64_t nearest =
        dtype == DType::float64 ? code_of(static_cast<double>(x)) : code_of(static_cast<float>(x));
    for (const std::uint64_t code : {nearest - 1, nearest, nearest + 1}) {
      codes.push_back(code & (ones ^ sign));
      codes.push_back((code | sign) & ones);
    }
    return;
  }
  // Beyond the type's own range the bits that are left are as good as any.
  const long double floor = std::floor(std::fmod(x, 18446744073709551616.0L));
  const auto nearest = static_cast<std::uint64_t>(floor);
  for (const std::uint64_t code : {nearest - 1, nearest, nearest + 1, nearest + 2}) {
    codes.push_back(code & ones);
    codes.push_back((0 - code) & ones);
  }
}

// Every value of a small float and every midpoint between two.
void add_around_values_of(DType small, DType dtype, Codes& codes) {
  const auto values = oracle_magnitudes(small);
  for (std::size_t i = 0; i < values.size(); ++i) {
    add_around(dtype, values[i], codes);
    if (i + 1 < values.size()) add_around(dtype, (values[i] + values[i + 1]) / 2, codes);
  }
}

// Random midpoints between neighbours with this many digits, at every exponent.
void add_midpoints(int digits, int least, int greatest, DType dtype, std::mt19937_64& random,
                   Codes& codes) {
  for (int exponent = least; exponent <= greatest; ++exponent) {
    for (int i = 0; i < 16; ++i) {
      const std::uint64_t mantissa = (1ULL << digits) | (random() & ((1ULL << digits) - 1)) | 1;
      add_around(dtype, std::ldexp(static_cast<long double>(mantissa), exponent - digits), codes);
    }
  }
}

void add_exponents(DType dtype, Codes& codes) {
  const int bits = info(dtype).fp.mantissa_bits;
  const std::uint64_t unit = 1ULL << bits;
  for (std::uint64_t exponent = 0; exponent <= all_ones(dtype) >> bits; ++exponent)
    for (const std::uint64_t mantissa :
         {std::uint64_t{0}, std::uint64_t{1}, unit / 2 - 1, unit / 2, unit / 2 + 1, unit - 1})
      codes.push_back(exponent * unit + mantissa);
}

void sort_unique(Codes& codes) {
  std::ranges::sort(codes);
  codes.erase(std::ranges::unique(codes).begin(), codes.end());
}

// What a wide source tries on every target.
Codes wide_codes(DType dtype) {
  Codes codes;
  std::mt19937_64 random(static_cast<unsigned>(dtype) + 1);
  for (const DType small : {DType::float8_e4m3fn, DType::float8_e5m2, DType::float8_e8m0fnu,
                            DType::float4_e2m1fn, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz,
                            DType::float8_e3m4, DType::float8_e4m3, DType::float8_e4m3b11fnuz})
    add_around_values_of(small, dtype, codes);
  for (int exponent = -1075; exponent <= 1024; ++exponent) {
    const long double power = std::ldexp(1.0L, exponent);
    add_around(dtype, power, codes);
    if (std::abs(exponent) > 64) continue;
    for (const long double step : {0.5L, 1.0L, 1.5L}) {
      add_around(dtype, power + step, codes);
      if (power > step) add_around(dtype, power - step, codes);
    }
  }
  for (int half = 0; half <= 600; ++half) add_around(dtype, half / 2.0L, codes);
  add_midpoints(24, -149, 127, dtype, random, codes);
  add_midpoints(53, 0, 63, dtype, random, codes);
  if (info(dtype).floating()) add_exponents(dtype, codes);
  // Integers of every size, not large ones only.
  for (int i = 0; i < 170'000; ++i) {
    const std::uint64_t code = random() & all_ones(dtype);
    codes.push_back(info(dtype).floating() ? code : code >> (random() % info(dtype).bits));
  }
  sort_unique(codes);
  return codes;
}

// The neighbours of one target with so many values that other targets do without them.
Codes codes_for_target(DType from, DType to) {
  Codes codes;
  if (to == DType::float16 || to == DType::bfloat16) add_around_values_of(to, from, codes);
  if (is_integer(to) && info(to).bits == 16)
    for (int value = 0; value <= 65536; ++value) add_around(from, value + 0.5L, codes);
  sort_unique(codes);
  return codes;
}

// A few hundred codes with all the special ones, for tests of many policies.
Codes sample_codes(DType dtype) {
  if (info(dtype).bits <= 8) return narrow_codes(dtype);
  Codes codes;
  const std::uint64_t ones = all_ones(dtype);
  for (std::uint64_t bit = 1; (bit & ones) != 0; bit <<= 1)
    for (const std::uint64_t code : {bit - 1, bit, bit + 1, bit | bit >> 1})
      codes.insert(codes.end(), {code & ones, ~code & ones});
  if (info(dtype).floating()) {
    const int bits = info(dtype).fp.mantissa_bits;
    const std::uint64_t exponents = (ones >> 1 >> bits) + 1;
    for (std::uint64_t i = 0; i < exponents; i += std::max<std::uint64_t>(exponents / 128, 1))
      for (const std::uint64_t mantissa : {0U, 1U, 2U, 3U})
        codes.push_back((i << bits) | (mantissa << (bits - 2)));
    const std::uint64_t infinity = (exponents - 1) << bits;
    for (const std::uint64_t code : {infinity - 1, infinity, infinity + 1, ones >> 1})
      codes.insert(codes.end(), {code, code | (ones ^ (ones >> 1))});
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) codes.push_back(random() & ones);
  sort_unique(codes);
  return codes;
}

// Does some sample of `from` have such a loss?
bool loses(DType from, DType to, bool (*is_meant)(Loss)) {
  return std::ranges::any_of(sample_codes(from), [&](std::uint64_t code) {
    return is_meant(oracle_cast(from, to, code, {}).loss);
  });
}

bool can_lose(DType from, DType to) {
  return loses(from, to, [](Loss loss) { return loss != Loss::none; });
}

bool may_overflow(DType from, DType to) {
  return loses(from, to, [](Loss loss) { return loss == Loss::overflowed; });
}

void check_wide(DType from) {
  const Codes codes = wide_codes(from);
  for (const DTypeInfo& to : dtypes()) {
    const Codes more = codes_for_target(from, to.dtype);
    for (const CastPolicy& policy : distinct_policies(from, to.dtype)) {
      CHECK(difference({from, to.dtype, policy}, codes) == "");
      CHECK(difference({from, to.dtype, policy}, more) == "");
    }
  }
}

}  // namespace

TEST_CASE("the oracle knows the numbers of the formats", "[cast]") {
  struct Row {
    DType dtype;
    std::uint64_t code;
    long double value;
  };
  const Row rows[] = {
      {DType::float64, 0x7FEFFFFFFFFFFFFF, 1.7976931348623157e308},
      {DType::float64, 1, 0x1p-1074L},
      {DType::float32, 0x7F7FFFFF, 0x1.fffffep127L},
      {DType::float32, 0x00800000, 0x1p-126L},
      {DType::float16, 0x7BFF, 65504},
      {DType::float16, 0x0400, 6.103515625e-05},
      {DType::float16, 1, 0x1p-24L},
      {DType::bfloat16, 0x7F7F, 0x1.fep127L},
      {DType::bfloat16, 1, 0x1p-133L},
      {DType::float8_e4m3fn, 0x7E, 448},
      {DType::float8_e4m3fn, 0x08, 0.015625},
      {DType::float8_e4m3fn, 0x81, -0.001953125},
      {DType::float8_e5m2, 0x7B, 57344},
      {DType::float8_e5m2, 0x04, 0x1p-14L},
      {DType::float8_e5m2, 0x01, 1.52587890625e-05},
      {DType::float8_e8m0fnu, 0x00, 0x1p-127L},
      {DType::float8_e8m0fnu, 0x7F, 1},
      {DType::float8_e8m0fnu, 0xFE, 0x1p127L},
      {DType::float4_e2m1fn, 0x1, 0.5},
      {DType::float4_e2m1fn, 0x3, 1.5},
      {DType::float4_e2m1fn, 0x5, 3},
      {DType::float4_e2m1fn, 0xF, -6},
      {DType::float8_e4m3fnuz, 0x7F, 240},
      {DType::float8_e4m3fnuz, 0x81, -0x1p-10L},
      {DType::float8_e5m2fnuz, 0xFF, -57344},
      {DType::float8_e5m2fnuz, 0x01, 0x1p-17L},
      {DType::float8_e3m4, 0x6F, 15.5},
      {DType::float8_e3m4, 0x01, 0x1p-6L},
      {DType::float8_e4m3, 0x77, 240},
      {DType::float8_e4m3, 0x01, 0x1p-9L},
      {DType::float8_e4m3b11fnuz, 0x7F, 30},
      {DType::float8_e4m3b11fnuz, 0x81, -0x1p-13L},
      {DType::int4, 0x8, -8},
      {DType::int64, 0x8000000000000000, -0x1p63L},
      {DType::uint64, 0xFFFFFFFFFFFFFFFF, 18446744073709551615.0L},
      {DType::boolean, 0x02, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(info(row.dtype).name, row.code);
    CHECK(oracle_value(row.dtype, row.code) == row.value);
  }
  for (const DTypeInfo& row : dtypes())
    if (row.floating() && row.bits <= 16)
      CHECK(std::ranges::is_sorted(oracle_magnitudes(row.dtype), std::less_equal{}));
}

TEST_CASE("every code of every narrow type, to every type", "[cast]") {
  for (const DTypeInfo& from : dtypes()) {
    if (from.bits > 16) continue;
    const Codes codes = narrow_codes(from.dtype);
    for (const DTypeInfo& to : dtypes())
      for (const CastPolicy& policy : distinct_policies(from.dtype, to.dtype))
        CHECK(difference({from.dtype, to.dtype, policy}, codes) == "");
  }
}

// Three cases, so that none meets its time limit in a slow build.
TEST_CASE("wide integers: neighbours and midpoints of every smaller type, and random codes",
          "[cast]") {
  for (const DType from : {DType::int32, DType::uint32, DType::int64, DType::uint64})
    check_wide(from);
}

TEST_CASE("float32: neighbours and midpoints of every smaller type, and random codes", "[cast]") {
  check_wide(DType::float32);
}

TEST_CASE("float64: neighbours and midpoints of every smaller type, and random codes", "[cast]") {
  check_wide(DType::float64);
}

TEST_CASE("every policy that is accepted does what the oracle says", "[cast]") {
  for (const DTypeInfo& from : dtypes()) {
    const Codes codes = sample_codes(from.dtype);
    for (const DTypeInfo& to : dtypes())
      for (const CastPolicy& policy : all_policies())
        if (check_policy(from.dtype, to.dtype, policy))
          CHECK(difference({from.dtype, to.dtype, policy}, codes) == "");
  }
}

TEST_CASE("special values from float32", "[cast]") {
  static constexpr DType kTargets[] = {DType::float8_e4m3fn, DType::float8_e5m2,
                                       DType::float4_e2m1fn, DType::float8_e8m0fnu,
                                       DType::float16,       DType::bfloat16};
  struct Row {
    std::uint32_t source;
    std::uint64_t targets[std::size(kTargets)];
  };
  const Row rows[] = {
      {0x00000000, {0x00, 0x00, 0x0, 0x00, 0x0000, 0x0000}},  // 0
      {0x80000000, {0x80, 0x80, 0x8, 0x00, 0x8000, 0x8000}},  // -0.0
      {0x3a800000, {0x00, 0x14, 0x0, 0x75, 0x1400, 0x3a80}},  // 0.0009765625
      {0x3a800142, {0x01, 0x14, 0x0, 0x76, 0x1400, 0x3a80}},  // 0.0009766
      {0x3b000000, {0x01, 0x18, 0x0, 0x76, 0x1800, 0x3b00}},  // 0.001953125
      {0x3c700000, {0x08, 0x24, 0x0, 0x79, 0x2380, 0x3c70}},  // 0.0146484375
      {0x3e800000, {0x28, 0x34, 0x0, 0x7d, 0x3400, 0x3e80}},  // 0.25
      {0x3e800003, {0x28, 0x34, 0x1, 0x7e, 0x3400, 0x3e80}},  // 0.2500001
      {0xbe800000, {0xa8, 0xb4, 0x8, 0x7d, 0xb400, 0xbe80}},  // -0.25
      {0x3f400000, {0x34, 0x3a, 0x2, 0x7f, 0x3a00, 0x3f40}},  // 0.75
      {0x3fa00000, {0x3a, 0x3d, 0x2, 0x80, 0x3d00, 0x3fa0}},  // 1.25
      {0x3fe00000, {0x3e, 0x3f, 0x4, 0x80, 0x3f00, 0x3fe0}},  // 1.75
      {0x40200000, {0x42, 0x41, 0x4, 0x81, 0x4100, 0x4020}},  // 2.5
      {0x40600000, {0x46, 0x43, 0x6, 0x81, 0x4300, 0x4060}},  // 3.5
      {0x40a00000, {0x4a, 0x45, 0x6, 0x82, 0x4500, 0x40a0}},  // 5
      {0x40a000d2, {0x4a, 0x45, 0x7, 0x82, 0x4500, 0x40a0}},  // 5.0001
      {0x40c00000, {0x4c, 0x46, 0x7, 0x82, 0x4600, 0x40c0}},  // 6
      {0x40e00000, {0x4e, 0x47, 0x7, 0x82, 0x4700, 0x40e0}},  // 7
      {0xc0e00000, {0xce, 0xc7, 0xf, 0x82, 0xc700, 0xc0e0}},  // -7
      {0x43e00000, {0x7e, 0x5f, 0x7, 0x88, 0x5f00, 0x43e0}},  // 448
      {0x43e80000, {0x7e, 0x5f, 0x7, 0x88, 0x5f40, 0x43e8}},  // 464
      {0x43e80003, {0x7e, 0x5f, 0x7, 0x88, 0x5f40, 0x43e8}},  // 464.0001
      {0x43f00000, {0x7e, 0x60, 0x7, 0x88, 0x5f80, 0x43f0}},  // 480
      {0x47600000, {0x7e, 0x7b, 0x7, 0x8f, 0x7b00, 0x4760}},  // 57344
      {0x476fff00, {0x7e, 0x7b, 0x7, 0x8f, 0x7b80, 0x4770}},  // 61439
      {0x47700000, {0x7e, 0x7b, 0x7, 0x8f, 0x7b80, 0x4770}},  // 61440
      {0x477fe000, {0x7e, 0x7b, 0x7, 0x8f, 0x7bff, 0x4780}},  // 65504
      {0x477fef00, {0x7e, 0x7b, 0x7, 0x8f, 0x7bff, 0x4780}},  // 65519
      {0x477ff000, {0x7e, 0x7b, 0x7, 0x8f, 0x7c00, 0x4780}},  // 65520
      {0x7149f2ca, {0x7e, 0x7b, 0x7, 0xe3, 0x7c00, 0x714a}},  // 1e30
      {0xf149f2ca, {0xfe, 0xfb, 0xf, 0xe3, 0xfc00, 0xf14a}},  // -1e30
      {0x7f800000, {0x7e, 0x7b, 0x7, 0xfe, 0x7c00, 0x7f80}},  // inf
      {0xff800000, {0xfe, 0xfb, 0xf, 0xfe, 0xfc00, 0xff80}},  // -inf
      {0x7fc00000, {0x7f, 0x7e, 0x7, 0xff, 0x7e00, 0x7fc0}},  // nan
      {0xffc00000, {0xff, 0xfe, 0x7, 0xff, 0xfe00, 0xffc0}},  // -nan
      {0x3fc00000, {0x3c, 0x3e, 0x3, 0x80, 0x3e00, 0x3fc0}},  // 1.5
      {0x40400000, {0x44, 0x42, 0x5, 0x81, 0x4200, 0x4040}},  // 3
      {0x00200000, {0x00, 0x00, 0x0, 0x00, 0x0000, 0x0020}},  // 2.938735877e-39
      {0x00400000, {0x00, 0x00, 0x0, 0x00, 0x0000, 0x0040}},  // 5.877471754e-39
      {0x005fd2d2, {0x00, 0x00, 0x0, 0x01, 0x0000, 0x0060}},  // 8.8e-39
      {0x00800000, {0x00, 0x00, 0x0, 0x01, 0x0000, 0x0080}},  // 1.1754944e-38
      {0x7f000000, {0x7e, 0x7b, 0x7, 0xfe, 0x7c00, 0x7f00}},  // 1.7014118e38
      {0x7f076abd, {0x7e, 0x7b, 0x7, 0xfe, 0x7c00, 0x7f07}},  // 1.8e38
      {0x7f7fffff, {0x7e, 0x7b, 0x7, 0xfe, 0x7c00, 0x7f80}},  // 3.4028235e38
      {0x00000001, {0x00, 0x00, 0x0, 0x00, 0x0000, 0x0000}},  // 1e-45
  };
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < std::size(kTargets); ++i) {
      CAPTURE(code_text(DType::float32, row.source), info(kTargets[i]).name);
      CHECK(cast_one(DType::float32, kTargets[i], row.source) == row.targets[i]);
    }
  }
}

TEST_CASE("thresholds and classes from float64", "[cast]") {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto next = [&](double x) { return std::nextafter(x, kInf); };
  const auto previous = [&](double x) { return std::nextafter(x, 0.0); };
  struct Row {
    DType to;
    double x;
    std::uint64_t code;
    Loss loss;
    CastPolicy policy{};
  };
  using enum Loss;
  constexpr CastPolicy kIeee{Overflow::ieee};
  constexpr CastPolicy kWrap{Overflow::wrap};
  constexpr auto rounded = [](Rounding rounding) {
    return CastPolicy{Overflow::saturate, rounding};
  };
  const double f32_limit = 0x1p128 - 0x1p103;
  const double bf16_limit = 0x1p128 - 0x1p119;
  const Row rows[] = {
      {DType::float32, f32_limit, 0x7F800000, overflowed},
      {DType::float32, previous(f32_limit), 0x7F7FFFFF, inexact},
      {DType::float32, -f32_limit, 0xFF800000, overflowed},
      {DType::float32, -kInf, 0xFF800000, none},
      {DType::float32, -kNan, 0xFFC00000, none},
      {DType::float32, 0x1p-150, 0, to_zero},
      {DType::float32, next(0x1p-150), 1, inexact},
      {DType::float16, 65520, 0x7C00, overflowed},
      {DType::float16, previous(65520), 0x7BFF, inexact},
      {DType::float16, 0x1p-25, 0, to_zero},
      {DType::float16, -0x1p-25, 0x8000, to_zero},
      {DType::float16, next(0x1p-25), 1, inexact},
      {DType::bfloat16, bf16_limit, 0x7F80, overflowed},
      {DType::bfloat16, previous(bf16_limit), 0x7F7F, inexact},
      {DType::bfloat16, 0x1p-134, 0, to_zero},
      {DType::bfloat16, next(0x1p-134), 1, inexact},
      {DType::float8_e4m3fn, previous(432), 0x7D, inexact},
      {DType::float8_e4m3fn, 432, 0x7E, inexact},
      {DType::float8_e4m3fn, 448, 0x7E, none},
      {DType::float8_e4m3fn, 464, 0x7E, inexact},
      {DType::float8_e4m3fn, 464, 0x7E, inexact, kIeee},
      {DType::float8_e4m3fn, next(464), 0x7E, overflowed},
      {DType::float8_e4m3fn, next(464), 0x7F, overflowed, kIeee},
      {DType::float8_e4m3fn, -465, 0xFF, overflowed, kIeee},
      {DType::float8_e4m3fn, -kInf, 0xFE, overflowed},
      {DType::float8_e4m3fn, -kInf, 0xFF, overflowed, kIeee},
      {DType::float8_e4m3fn, -kNan, 0xFF, none},
      {DType::float8_e4m3fn, 0x1p-10, 0, to_zero},
      {DType::float8_e4m3fn, next(0x1p-10), 1, inexact},
      {DType::float8_e5m2, 53248, 0x7A, inexact},
      {DType::float8_e5m2, next(53248), 0x7B, inexact},
      {DType::float8_e5m2, previous(61440), 0x7B, inexact},
      {DType::float8_e5m2, 61440, 0x7B, overflowed},
      {DType::float8_e5m2, 61440, 0x7C, overflowed, kIeee},
      {DType::float8_e5m2, kInf, 0x7B, overflowed},
      {DType::float8_e5m2, kInf, 0x7C, none, kIeee},
      {DType::float8_e5m2, 0x1p-17, 0, to_zero},
      {DType::float8_e5m2, next(0x1p-17), 1, inexact},
      {DType::float4_e2m1fn, 5, 6, inexact},
      {DType::float4_e2m1fn, next(5), 7, inexact},
      {DType::float4_e2m1fn, previous(7), 7, inexact},
      {DType::float4_e2m1fn, 7, 7, overflowed},
      {DType::float4_e2m1fn, -kInf, 0xF, overflowed},
      {DType::float4_e2m1fn, -kNan, 0x7, nan_lost},
      {DType::float4_e2m1fn, 0.25, 0, to_zero},
      {DType::float4_e2m1fn, next(0.25), 1, inexact},
      {DType::float8_e8m0fnu, 0, 0x00, inexact},
      {DType::float8_e8m0fnu, 0x1p-127, 0x00, none},
      {DType::float8_e8m0fnu, next(0x1p-127), 0x01, inexact},
      {DType::float8_e8m0fnu, -1, 0x7F, inexact},
      {DType::float8_e8m0fnu, 0x1p126, 0xFD, none},
      {DType::float8_e8m0fnu, next(0x1p126), 0xFE, inexact},
      {DType::float8_e8m0fnu, 0x1p127, 0xFE, none},
      {DType::float8_e8m0fnu, next(0x1p127), 0xFE, overflowed},
      {DType::float8_e8m0fnu, next(0x1p127), 0xFF, overflowed, kIeee},
      {DType::float8_e8m0fnu, previous(0x1.8p127), 0xFE, inexact, rounded(Rounding::nearest)},
      {DType::float8_e8m0fnu, 0x1.8p127, 0xFE, overflowed, rounded(Rounding::nearest)},
      {DType::float8_e8m0fnu, previous(0x1p128), 0xFE, inexact, rounded(Rounding::zero)},
      {DType::float8_e8m0fnu, 0x1p128, 0xFE, overflowed, rounded(Rounding::down)},
      {DType::float8_e8m0fnu, 1.25, 0x80, inexact},
      {DType::float8_e8m0fnu, 1.25, 0x7F, inexact, rounded(Rounding::nearest)},
      {DType::float8_e8m0fnu, 1.5, 0x80, inexact, rounded(Rounding::nearest)},
      {DType::float8_e8m0fnu, -3, 0x80, inexact, rounded(Rounding::down)},
      {DType::float8_e8m0fnu, -3, 0x81, inexact, rounded(Rounding::up)},
      {DType::int8, -128.9, 0x80, inexact},
      {DType::int8, -129, 0x80, overflowed},
      {DType::int8, 127.9, 0x7F, inexact},
      {DType::int8, 127.5, 0x7F, overflowed, rounded(Rounding::nearest)},
      {DType::int8, -128.5, 0x80, inexact, rounded(Rounding::nearest)},
      {DType::int8, -2.5, 0xFE, inexact, rounded(Rounding::nearest)},
      {DType::int8, -2.5, 0xFD, inexact, rounded(Rounding::down)},
      {DType::int8, 0.5, 0, to_zero, rounded(Rounding::nearest)},
      {DType::int8, 0.5, 1, inexact, rounded(Rounding::up)},
      {DType::int8, -0.0, 0, none},
      {DType::int8, kNan, 0, nan_lost},
      {DType::int8, -kInf, 0x80, overflowed},
      {DType::int8, -kInf, 0, overflowed, kWrap},
      {DType::int8, 300.7, 44, overflowed, kWrap},
      {DType::uint8, 300.7, 44, overflowed, kWrap},
      {DType::uint8, -1.5, 255, overflowed, kWrap},
      {DType::uint8, -0.9, 0, to_zero},
      {DType::uint8, -1, 0, overflowed},
      {DType::int16, 3e9, 24064, overflowed, kWrap},
      {DType::uint16, 1e300, 0, overflowed, kWrap},
      {DType::int64, previous(0x1p63), 0x7FFFFFFFFFFFFC00, none},
      {DType::int64, 0x1p63, 0x7FFFFFFFFFFFFFFF, overflowed},
      {DType::int64, -0x1p63, 0x8000000000000000, none},
      {DType::int64, kNan, 0, nan_lost},
      {DType::uint64, 0x1p64, 0xFFFFFFFFFFFFFFFF, overflowed},
      {DType::boolean, -0.0, 0, none},
      {DType::boolean, 0x1p-1074, 1, inexact},
      {DType::boolean, kInf, 1, overflowed},
      {DType::boolean, kNan, 1, nan_lost},
  };
  for (const Row& row : rows) {
    CAPTURE(row.x, info(row.to).name, policy_text(row.policy));
    CHECK(cast_one(DType::float64, row.to, code_of(row.x), row.policy) == row.code);
    CHECK(loss_of_one(DType::float64, row.to, code_of(row.x), row.policy) == row.loss);
  }
}

TEST_CASE("values are rounded once", "[cast]") {
  struct Row {
    DType from;
    DType to;
    std::uint64_t source;
    std::uint64_t target;
  };
  const std::uint64_t int64_trap = (1ULL << 53) + (1ULL << 29) + 1;
  const Row rows[] = {
      // By way of float32 these would be ties.
      {DType::float64, DType::float16, code_of(1 + 0x1p-11 + 0x1p-30), 0x3C01},
      {DType::float64, DType::bfloat16, code_of(1 + 0x1p-8 + 0x1p-40), 0x3F81},
      {DType::float64, DType::float8_e4m3fn, code_of(1 + 0x1p-4 + 0x1p-40), 0x39},
      {DType::float64, DType::float8_e5m2, code_of(1 + 0x1p-3 + 0x1p-40), 0x3D},
      {DType::float64, DType::float4_e2m1fn, code_of(0.25 + 0x1p-40), 0x1},
      {DType::float64, DType::float8_e8m0fnu, code_of(1 + 0x1p-40), 0x80},
      {DType::float64, DType::float32, code_of(0x1.0000000000001p-150), 1},
      {DType::float64, DType::int8, code_of(0.99999999999), 0},
      {DType::int64, DType::float32, int64_trap, 0x5A000001},
      {DType::int64, DType::float32, 0 - int64_trap, 0xDA000001},
      {DType::int64, DType::bfloat16, (1ULL << 30) + (1ULL << 22) + 1, 0x4E81},
      {DType::int64, DType::float64, (1ULL << 53) + 1, 0x4340000000000000},
      {DType::int64, DType::float64, (1ULL << 54) + 3, 0x4350000000000001},
      {DType::int64, DType::float8_e8m0fnu, (1ULL << 60) + 1, 0xBC},
      {DType::uint64, DType::float32, (1ULL << 63) + (1ULL << 39) + 1, 0x5F000001},
      {DType::uint64, DType::float32, ~0ULL, 0x5F800000},
      {DType::uint64, DType::float64, ~0ULL, 0x43F0000000000000},
      {DType::uint64, DType::bfloat16, ~0ULL, 0x5F80},
      {DType::uint64, DType::float16, ~0ULL, 0x7C00},
      {DType::int64, DType::float64, 0x8000000000000000, 0xC3E0000000000000},
  };
  for (const Row& row : rows) {
    CAPTURE(info(row.from).name, info(row.to).name, row.source);
    CHECK(cast_one(row.from, row.to, row.source) == row.target);
  }
}

TEST_CASE("is_lossless is what the oracle finds", "[cast]") {
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      CAPTURE(from.name, to.name);
      CHECK(is_lossless(from.dtype, to.dtype) == !can_lose(from.dtype, to.dtype));
    }
}

TEST_CASE("to a type that has every value, and back, is the identity", "[cast]") {
  for (const DTypeInfo& narrow : dtypes()) {
    if (narrow.bits > 16) continue;
    const bool is_bool = narrow.kind == NumberKind::boolean;
    const Codes codes = is_bool ? Codes{0, 1} : narrow_codes(narrow.dtype);
    for (const DTypeInfo& wide : dtypes()) {
      if (!is_lossless(narrow.dtype, wide.dtype)) continue;
      // By default small floats take an Inf as an overflow, even their own.
      const bool small = narrow.floating() && narrow.bits == 8;
      const CastPolicy policy{small ? Overflow::ieee : Overflow::saturate};
      LossAccount account;
      const Codes there = cast({narrow.dtype, wide.dtype, {}}, codes, account);
      const Codes back = cast({wide.dtype, narrow.dtype, policy}, there, account);
      std::uint64_t different = 0;
      for (std::size_t i = 0; i < codes.size(); ++i) {
        const long double value = oracle_value(narrow.dtype, codes[i]);
        // -0 becomes 0 where the wide type has no other.
        const bool minus_zero = value == 0 && std::signbit(value) && there[i] == 0;
        different += std::isnan(value) ? !std::isnan(oracle_value(narrow.dtype, back[i]))
                     : minus_zero      ? back[i] != 0
                                       : back[i] != codes[i];
      }
      CAPTURE(narrow.name, wide.name);
      CHECK(different == 0);
      CHECK(account.changed() == 0);
    }
  }
}

TEST_CASE("check_policy refuses what cannot apply", "[cast]") {
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      const bool e2m1 = to.dtype == DType::float4_e2m1fn;
      const bool overflows = may_overflow(from.dtype, to.dtype);
      const bool rounds_otherwise = !to.floating() || is_e8m0(to.dtype);
      for (const CastPolicy& policy : all_policies()) {
        const bool wrap = policy.overflow == Overflow::wrap && to.floating() && overflows;
        const bool ieee =
            policy.overflow == Overflow::ieee && (is_integer(to.dtype) || e2m1) && overflows;
        const bool rounding = policy.rounding != Rounding::by_table &&
                              policy.rounding != Rounding::nearest && !rounds_otherwise &&
                              can_lose(from.dtype, to.dtype);
        CAPTURE(from.name, to.name, policy_text(policy));
        CHECK(check_policy(from.dtype, to.dtype, policy).has_value() ==
              !(wrap || ieee || rounding));
      }
    }
}

TEST_CASE("check_policy by hand", "[cast]") {
  const auto accepted = [](DType from, DType to, Overflow overflow,
                           Rounding rounding = Rounding::by_table) {
    return check_policy(from, to, {overflow, rounding}).has_value();
  };
  CHECK_FALSE(accepted(DType::float32, DType::float16, Overflow::wrap));
  CHECK(accepted(DType::float32, DType::float64, Overflow::wrap));
  CHECK(accepted(DType::float32, DType::int8, Overflow::wrap));
  CHECK_FALSE(accepted(DType::float32, DType::int8, Overflow::ieee));
  CHECK_FALSE(accepted(DType::float32, DType::float4_e2m1fn, Overflow::ieee));
  CHECK(accepted(DType::boolean, DType::float4_e2m1fn, Overflow::ieee));
  CHECK(accepted(DType::float32, DType::boolean, Overflow::ieee));
  CHECK(accepted(DType::float32, DType::float16, Overflow::ieee));
  CHECK(accepted(DType::int8, DType::int16, Overflow::ieee));
  CHECK(accepted(DType::int8, DType::int16, Overflow::wrap));
  CHECK(accepted(DType::float32, DType::int8, Overflow::saturate, Rounding::up));
  CHECK(accepted(DType::float32, DType::float8_e8m0fnu, Overflow::ieee, Rounding::down));
  CHECK_FALSE(accepted(DType::float32, DType::float16, Overflow::saturate, Rounding::up));
  CHECK(accepted(DType::float32, DType::float16, Overflow::saturate, Rounding::nearest));

  const Status refused = check_policy(DType::float32, DType::float16, {Overflow::wrap});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_argument);
  CHECK(said(refused.error()).find("float32 to float16") != std::string::npos);
}

TEST_CASE("the account by hand", "[cast]") {
  const auto account_of = [](DType to, const std::vector<float>& values) {
    Codes codes;
    for (const float value : values) codes.push_back(code_of(value));
    LossAccount account;
    cast({DType::float32, to, {}}, codes, account);
    return account;
  };
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

  SECTION("the example of docs/dtypes.md") {
    const LossAccount account =
        account_of(DType::float8_e4m3fn, {1.0F, -0.0F, 449.0F, 465.0F, -kInf, kNan, 0.0005F, 0.3F});
    CHECK(account.elements == 8);
    CHECK(account.overflowed == 2);
    CHECK(account.nan_lost == 0);
    CHECK(account.to_zero == 1);
    CHECK(account.inexact == 2);
    CHECK(account.nan == 1);
    CHECK(account.changed() == 5);
    CHECK(account.max_abs == 17);  // of 465
    CHECK(account.max_rel == 1);   // of 0.0005
  }
  SECTION("nothing lost") {
    const LossAccount account = account_of(DType::float64, {0.1F, kInf, kNan});
    CHECK(account.changed() == 0);
    CHECK(account.nan == 1);
    CHECK(account.max_abs == 0);
    CHECK(account.max_rel == 0);
  }
  SECTION("rounding to integers") {
    const LossAccount account = account_of(DType::int8, {2.0F, -2.5F, 200.0F, kNan, kInf, 0.25F});
    CHECK(account.inexact == 1);
    CHECK(account.overflowed == 2);
    CHECK(account.nan_lost == 1);
    CHECK(account.to_zero == 1);
    CHECK(account.max_abs == 73);
    CHECK(account.max_rel == 1);
  }
  SECTION("a zero that became a number has no relative error") {
    const LossAccount account = account_of(DType::float8_e8m0fnu, {0.0F, -2.0F, 3.0F});
    CHECK(account.inexact == 3);
    CHECK(account.sign_lost == 1);
    CHECK(account.max_abs == 4);  // -2 became 2
    CHECK(account.max_rel == 2);
  }
  SECTION("of what changes in a type without signs, numbers below 0 lose theirs") {
    const LossAccount account = account_of(
        DType::float8_e8m0fnu, {0.0F, -0.0F, -1.0F, 3.0F, -3.0F, kNan, -kNan, -kInf, kInf});
    CHECK(account.inexact == 5);
    CHECK(account.sign_lost == 2);
    CHECK(account.overflowed == 2);
    CHECK(account_of(DType::boolean, {-1.0F, -0.5F}).sign_lost == 0);
    CHECK(account_of(DType::float16, {-0.1F}).sign_lost == 0);
  }
  SECTION("no error to infinity") {
    const LossAccount account = account_of(DType::float16, {1e30F, 1.0F + 0x1p-12F});
    CHECK(account.overflowed == 1);
    CHECK(account.max_abs == 0x1p-12);
    CHECK(account.max_rel == 0x1p-12 / (1 + 0x1p-12));
  }
  SECTION("exact beyond the digits of a double") {
    LossAccount account;
    cast({DType::uint64, DType::float32, {}}, {~0ULL}, account);
    CHECK(account.max_abs == 1);
  }
  SECTION("accounts add up") {
    LossAccount sum = account_of(DType::int8, {0.25F, 200.0F});
    sum.add(account_of(DType::int8, {kNan, 1.5F}));
    CHECK(sum.elements == 4);
    CHECK(sum.overflowed == 1);
    CHECK(sum.nan_lost == 1);
    CHECK(sum.to_zero == 1);
    CHECK(sum.inexact == 1);
    CHECK(sum.nan == 1);
    CHECK(sum.max_abs == 73);
    CHECK(sum.max_rel == 1);
  }
}

namespace {

constexpr std::byte kSentinel{0xA5};

// A tile in memory of its own: the source without a byte to spare, the target with a sentinel in
// all gaps and behind the end.
struct Tiled {
  std::size_t n0;
  std::size_t n1;
  std::size_t source_stride;
  std::size_t target_stride;
  std::size_t misaligned;

  std::vector<std::byte> source(DType dtype, const Codes& codes) const {
    const std::size_t size = info(dtype).buffer_bytes();
    std::vector<std::byte> bytes(misaligned + extent(source_stride) * size);
    for (std::size_t i = 0; i < n0 * n1; ++i)
      std::memcpy(bytes.data() + misaligned + i * source_stride * size, &codes[i], size);
    return bytes;
  }

  std::size_t extent(std::size_t stride) const {
    return n0 * n1 == 0 ? 0 : (n0 * n1 - 1) * stride + 1;
  }

  std::vector<std::byte> run(const CastKernel& kernel, const CastJob& job,
                             const std::vector<std::byte>& source, LossAccount& account) const {
    std::vector<std::byte> target(
        misaligned + extent(target_stride) * info(job.to).buffer_bytes() + 64, kSentinel);
    const Tile tile{.source = source.data() + misaligned,
                    .target = target.data() + misaligned,
                    .n0 = n0,
                    .source_stride0 = source_stride,
                    .target_stride0 = target_stride,
                    .n1 = n1,
                    .source_stride1 = n0 * source_stride,
                    .target_stride1 = n0 * target_stride};
    kernel.run(job, tile, account);
    return target;
  }

  // What a cast to the same type must give, which the reference does not.
  std::vector<std::byte> copied(DType dtype, const Codes& codes) const {
    const std::size_t size = info(dtype).buffer_bytes();
    std::vector<std::byte> target(misaligned + extent(target_stride) * size + 64, kSentinel);
    for (std::size_t i = 0; i < n0 * n1; ++i)
      std::memcpy(target.data() + misaligned + i * target_stride * size, &codes[i], size);
    return target;
  }
};

bool same(const LossAccount& a, const LossAccount& b) {
  return a.elements == b.elements && a.overflowed == b.overflowed && a.nan_lost == b.nan_lost &&
         a.to_zero == b.to_zero && a.inexact == b.inexact && a.nan == b.nan &&
         a.sign_lost == b.sign_lost && a.max_abs == b.max_abs && a.max_rel == b.max_rel;
}

std::vector<Tiled> tilings() {
  std::vector<Tiled> all;
  for (const std::size_t source_stride : {1U, 3U})
    for (const std::size_t target_stride : {1U, 3U})
      for (const std::size_t misaligned : {0U, 1U}) {
        for (std::size_t n0 = 0; n0 <= 40; ++n0)
          all.push_back({n0, 1, source_stride, target_stride, misaligned});
        all.push_back({7, 5, source_stride, target_stride, misaligned});
        all.push_back({1000, 1, source_stride, target_stride, misaligned});
      }
  return all;
}

// Empty if this kernel does on every tiling what it should. Codes come from `pool`, at random.
std::string kernel_difference(const CastKernel& kernel, const CastJob& job, const Codes& pool,
                              std::mt19937& random) {
  static const std::vector<Tiled> kTilings = tilings();
  Codes codes(1000);
  for (const Tiled& tiled : kTilings) {
    const std::size_t count = tiled.n0 * tiled.n1;
    for (std::size_t i = 0; i < count; ++i) codes[i] = pool[random() % pool.size()];
    const std::vector<std::byte> source = tiled.source(job.from, codes);
    LossAccount account;
    const std::vector<std::byte> target = tiled.run(kernel, job, source, account);
    const std::string where = std::string(kernel.name) + ": " + job_text(job) + ", count " +
                              std::to_string(count) + ", strides " +
                              std::to_string(tiled.source_stride) + " " +
                              std::to_string(tiled.target_stride);
    if (job.from == job.to) {
      if (target != tiled.copied(job.to, codes)) return where + ": not a copy";
      if (account.elements != count || account.changed() != 0) return where + ": account";
      continue;
    }
    LossAccount expected_account;
    const std::vector<std::byte> expected =
        tiled.run(cast_kernels().back(), job, source, expected_account);
    if (target != expected) return where + ": bytes";
    if (!same(account, expected_account)) return where + ": account";
  }
  return "";
}

}  // namespace

TEST_CASE("every kernel agrees with the reference", "[cast]") {
  std::mt19937 random(1);
  const auto kernels = cast_kernels();
  for (const DTypeInfo& from : dtypes()) {
    const Codes pool = sample_codes(from.dtype);
    for (const DTypeInfo& to : dtypes())
      for (const CastPolicy& policy : distinct_policies(from.dtype, to.dtype)) {
        const CastJob job{from.dtype, to.dtype, policy};
        REQUIRE(kernels.back().applies(job));
        for (const CastKernel& kernel : kernels.first(kernels.size() - 1))
          if (kernel.applies(job)) CHECK(kernel_difference(kernel, job, pool, random) == "");
      }
  }
}

TEST_CASE("the reference takes any stride and alignment", "[cast]") {
  const CastKernel& reference = cast_kernels().back();
  const CastJob job{DType::float32, DType::float8_e4m3fn, {}};
  const Codes codes(1000, code_of(1.0F));
  for (const Tiled& tiled : tilings()) {
    LossAccount account;
    const std::vector<std::byte> target =
        tiled.run(reference, job, tiled.source(job.from, codes), account);
    std::vector<std::byte> expected(target.size(), kSentinel);
    for (std::size_t i = 0; i < tiled.n0 * tiled.n1; ++i)
      expected[tiled.misaligned + i * tiled.target_stride] = std::byte{0x38};
    CHECK(target == expected);
    CHECK(account.elements == tiled.n0 * tiled.n1);
  }
}

}  // namespace btf::test
