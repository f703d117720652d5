#include <algorithm>
#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/dtype.h"
#include "btf/inspect.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/forced_level.h"
#include "support/naive_layout.h"
#include "support/quad.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "support/shapes.h"

using btf::DType;
using btf::ErrorCode;
using btf::Layout;
using btf::TensorStats;
using bytes::Bytes;
using bytes::Words;
using shapes::index_of;
using shapes::product;

namespace {

// One loop over the codes in row-major order, in long double.
TensorStats naive_stats(DType dtype, const Words& dims, const Words& codes) {
  // Exponent 0 and a mantissa; E8M0 has none.
  const auto& fp = btf::info(dtype).fp;
  const bool floating = btf::info(dtype).floating() && dtype != DType::float8_e8m0fnu;
  const std::uint64_t exponent_mask =
      floating ? ((1ULL << fp.exponent_bits) - 1) << fp.mantissa_bits : 0;
  TensorStats all;
  std::vector<long double> finite;
  for (std::uint64_t i = 0; i < codes.size(); ++i) {
    const long double value = btf::test::oracle_value(dtype, codes[i]);
    ++all.elements;
    if (std::isnan(value)) {
      ++all.nan;
      if (!all.first_nan) all.first_nan = index_of(dims, i);
      continue;
    }
    if (std::isinf(value)) {
      ++(value > 0 ? all.positive_inf : all.negative_inf);
      continue;
    }
    ++all.finite;
    finite.push_back(value);
    if (value == 0) ++all.zeros;
    if (floating && value != 0 && (codes[i] & exponent_mask) == 0) ++all.subnormals;
    const auto beyond = [&](const std::optional<btf::Extreme>& kept, bool less) {
      if (!kept) return true;
      const long double old = btf::test::oracle_value(dtype, kept->code);
      return less ? value < old : value > old;
    };
    if (beyond(all.min, true)) all.min = btf::Extreme{codes[i], index_of(dims, i)};
    if (beyond(all.max, false)) all.max = btf::Extreme{codes[i], index_of(dims, i)};
  }
  if (finite.empty()) return all;
  const auto count = static_cast<long double>(finite.size());
  long double mean = 0;
  for (const long double value : finite) mean += value;
  mean /= count;
  long double squares = 0;
  for (const long double value : finite) squares += (value - mean) * (value - mean) / count;
  all.mean = static_cast<double>(mean);
  all.std = static_cast<double>(std::sqrt(squares));
  return all;
}

bool close(const std::optional<double>& a, const std::optional<double>& b, double scale) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::abs(*a - *b) <= 1e-14 * std::max(std::abs(*b), scale);
}

void check_equal(const TensorStats& stats, const TensorStats& expected) {
  CHECK(stats.elements == expected.elements);
  CHECK(stats.finite == expected.finite);
  CHECK(stats.nan == expected.nan);
  CHECK(stats.positive_inf == expected.positive_inf);
  CHECK(stats.negative_inf == expected.negative_inf);
  CHECK(stats.zeros == expected.zeros);
  CHECK(stats.subnormals == expected.subnormals);
  CHECK(stats.first_nan == expected.first_nan);
  CHECK(stats.min.has_value() == expected.min.has_value());
  CHECK(stats.max.has_value() == expected.max.has_value());
  for (const auto& [got, wanted] :
       {std::pair(stats.min, expected.min), std::pair(stats.max, expected.max)}) {
    if (!got || !wanted) continue;
    CHECK(got->code == wanted->code);
    CHECK(got->index == wanted->index);
  }
  CAPTURE(stats.mean.value_or(0), expected.mean.value_or(0), stats.std.value_or(0),
          expected.std.value_or(0));
  CHECK(close(stats.mean, expected.mean, expected.std.value_or(0)));
  CHECK(close(stats.std, expected.std, std::abs(expected.mean.value_or(0))));
}

TensorStats stats_of(const Bytes& record) {
  const ScratchDir scratch;
  const auto file = bytes::open(bytes::save(scratch, "f.btf", bytes::file({record})));
  const auto stats = btf::stats(file, file.tensor(0).value());
  if (!stats) throw std::runtime_error(stats.error().text());
  return *stats;
}

Bytes linear(DType dtype, const Words& dims, const Words& codes) {
  return bytes::dense(dtype, Layout::linear, dims, bytes::pack(btf::info(dtype).bits, codes));
}

// In any layout, with junk for padding.
Bytes stored(const naive::Name& name, DType dtype, const Words& dims, const Words& codes,
             std::byte junk) {
  const unsigned element = btf::info(dtype).bits / 8;
  const naive::Array array = naive::layout(name.name, dims, element);
  Bytes data(array.elements() * element, junk);
  const Bytes packed = bytes::pack(element * 8, codes);
  for (std::size_t i = 0; i < array.place.size(); ++i)
    std::copy_n(&packed[i * element], element, &data[array.place[i] * element]);
  return bytes::dense(dtype, name.code, dims, data);
}

std::uint64_t random_code(DType dtype, Random& random) {
  const unsigned bits = btf::info(dtype).bits;
  const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  switch (random.below(4)) {
    case 0:
      return random.below(16) & mask;  // zero and subnormals
    case 1:
      return (mask - random.below(16)) & mask;
    default:
      return random.next() & mask;
  }
}

Words random_codes(DType dtype, std::uint64_t count, Random& random) {
  Words codes(count);
  for (std::uint64_t& code : codes) code = random_code(dtype, random);
  return codes;
}

}  // namespace

TEST_CASE("stats: every dtype against one loop") {
  Random random(1);
  for (const btf::DTypeInfo& dtype : btf::dtypes()) {
    for (const Words& dims : {Words{}, Words{1}, Words{7}, Words{3, 5, 7}, Words{1023}, Words{1024},
                              Words{1025}, Words{2, 3001}}) {
      CAPTURE(dtype.name, dims);
      const Words codes = random_codes(dtype.dtype, product(dims), random);
      check_equal(stats_of(linear(dtype.dtype, dims, codes)),
                  naive_stats(dtype.dtype, dims, codes));
    }
  }
}

TEST_CASE("stats: every layout, and padding counts for nothing") {
  Random random(2);
  for (const DType dtype : {DType::float16, DType::int8, DType::float32, DType::float64}) {
    for (const Words& dims : {Words{2, 3, 3, 4, 9}, Words{1, 1, 1, 1, 1}, Words{3, 2, 4, 7, 35}}) {
      const Words codes = random_codes(dtype, product(dims), random);
      const TensorStats expected = naive_stats(dtype, dims, codes);
      for (const naive::Name& name : naive::names()) {
        if (!naive::can_hold(name, 5, dims[5 - name.channel_from_end])) continue;
        for (const std::byte junk : {std::byte{0xff}, std::byte{0x7c}}) {
          CAPTURE(btf::info(dtype).name, name.name, dims, static_cast<int>(junk));
          check_equal(stats_of(stored(name, dtype, dims, codes, junk)), expected);
        }
      }
    }
  }
}

TEST_CASE("stats: many slabs") {
  Random random(3);
  const Words dims{3, 37, 200, 60};
  for (const DType dtype : {DType::float32, DType::int4}) {
    const Words codes = random_codes(dtype, product(dims), random);
    const TensorStats expected = naive_stats(dtype, dims, codes);
    check_equal(stats_of(linear(dtype, dims, codes)), expected);
    if (dtype == DType::int4) continue;
    for (const naive::Name& name : naive::names())
      if (name.name == "kCHW32" || name.name == "kHWC8")
        check_equal(stats_of(stored(name, dtype, dims, codes, std::byte{0xff})), expected);
  }
}

TEST_CASE("stats: COO counts what it does not store") {
  Random random(4);
  for (const btf::DTypeInfo& dtype : btf::dtypes()) {
    for (const std::uint64_t entries : {0U, 1U, 2U, 20U, 105U}) {
      CAPTURE(dtype.name, entries);
      const Words dims{3, 5, 7};
      std::map<std::uint64_t, std::uint64_t> cells;
      for (std::uint64_t k = 0; k < entries; ++k)
        cells[random.below(105)] = random_code(dtype.dtype, random);
      Words codes(105, 0);
      std::vector<Words> indices;
      Words values;
      // Backwards, so that they must be sorted.
      for (auto cell = cells.rbegin(); cell != cells.rend(); ++cell) {
        codes[cell->first] = cell->second;
        indices.push_back(index_of(dims, cell->first));
        values.push_back(cell->second);
      }
      check_equal(stats_of(bytes::coo(dtype.dtype, dims, indices, bytes::pack(dtype.bits, values))),
                  naive_stats(dtype.dtype, dims, codes));
    }
  }
}

TEST_CASE("stats: a huge COO costs by its entries") {
  constexpr std::uint64_t kSide = 1ULL << 31;
  const TensorStats stats =
      stats_of(bytes::coo(DType::float32, {kSide, kSide}, {{kSide - 1, 7}, {5, 6}},
                          bytes::values<float>({4.0F, -2.0F})));
  CHECK(stats.elements == 1ULL << 62);
  CHECK(stats.finite == 1ULL << 62);
  CHECK(stats.zeros == (1ULL << 62) - 2);
  CHECK(stats.min->index == Words{5, 6});
  CHECK(stats.max->index == Words{kSide - 1, 7});
  CHECK(*stats.mean == Approx(2.0 / std::ldexp(1.0, 62)));
  CHECK(*stats.std == Approx(std::sqrt(20.0 / std::ldexp(1.0, 62))));
}

TEST_CASE("stats: a COO of the most elements there can be") {
  const TensorStats stats =
      stats_of(bytes::coo(DType::int8, {~0ULL}, {{~0ULL - 1}}, bytes::hex("05")));
  CHECK(stats.elements == ~0ULL);
  CHECK(stats.zeros == ~0ULL - 1);
  CHECK(stats.max->index == Words{~0ULL - 1});
}

TEST_CASE("stats: no elements") {
  for (const Bytes& record :
       {linear(DType::float32, {0}, {}), linear(DType::int4, {3, 0}, {}),
        linear(DType::int64, {0, 1ULL << 40}, {}), bytes::coo(DType::float16, {0, 4}, {}, {}),
        bytes::dense(DType::float16, Layout::hwc8, {0, 2, 2}, {}),
        bytes::dense(DType::float16, Layout::hwc8, {3, 2, 0}, {})}) {
    const TensorStats stats = stats_of(record);
    CHECK(stats.elements == 0);
    CHECK(stats.finite == 0);
    CHECK_FALSE(stats.min);
    CHECK_FALSE(stats.max);
    CHECK_FALSE(stats.mean);
    CHECK_FALSE(stats.std);
    CHECK_FALSE(stats.first_nan);
  }
}

TEST_CASE("stats: nothing finite") {
  const TensorStats nan = stats_of(linear(DType::float32, {2, 2}, Words(4, 0x7fc00000)));
  CHECK(nan.elements == 4);
  CHECK(nan.nan == 4);
  CHECK(nan.finite == 0);
  CHECK_FALSE(nan.min);
  CHECK_FALSE(nan.max);
  CHECK_FALSE(nan.mean);
  CHECK_FALSE(nan.std);
  CHECK(nan.first_nan == Words{0, 0});
  const TensorStats inf = stats_of(linear(DType::float16, {3}, {0x7c00, 0xfc00, 0x7c00}));
  CHECK(inf.positive_inf == 2);
  CHECK(inf.negative_inf == 1);
  CHECK(inf.finite == 0);
  CHECK_FALSE(inf.min);
  CHECK_FALSE(inf.first_nan);
}

TEST_CASE("stats: 64-bit extremes are exact") {
  constexpr std::uint64_t kMin = 1ULL << 63;
  const TensorStats stats =
      stats_of(linear(DType::int64, {5}, {kMin + 1, kMin, kMin - 2, kMin - 1, 0}));
  CHECK(stats.min->code == kMin);
  CHECK(stats.min->index == Words{1});
  CHECK(stats.max->code == kMin - 1);
  CHECK(stats.max->index == Words{3});
  CHECK(btf::value_text(DType::int64, stats.min->code) == "-9223372036854775808");
  CHECK(btf::value_text(DType::int64, stats.max->code) == "9223372036854775807");
  // The sum is -2; long double has a bit for 1 in these numbers and none below it.
  CHECK(*stats.mean == Approx(-0.4).margin(0.5));

  const TensorStats wide = stats_of(linear(DType::uint64, {3}, {~0ULL - 1, ~0ULL, ~0ULL - 2}));
  CHECK(wide.min->code == ~0ULL - 2);
  CHECK(wide.max->code == ~0ULL);
  CHECK(wide.max->index == Words{1});
  CHECK(*wide.std == Approx(std::sqrt(2.0 / 3)));

  // Times in nanoseconds: a sum of a thousand of them has more than 64 bits.
  Words times;
  for (std::uint64_t i = 0; i < 10'000; ++i) times.push_back(1'700'000'000'000'000'000 + i % 2 * 6);
  const TensorStats spread = stats_of(linear(DType::int64, {times.size()}, times));
  CHECK(*spread.std == Approx(3.0));
}

TEST_CASE("stats: of equal extremes the first counts") {
  const TensorStats stats = stats_of(linear(DType::float32, {4}, {0x80000000, 0, 0x80000000, 0}));
  CHECK(stats.min->index == Words{0});
  CHECK(stats.max->index == Words{0});
  CHECK(stats.min->code == 0x80000000);
  CHECK(stats.zeros == 4);
}

TEST_CASE("stats: the largest doubles have a mean") {
  constexpr double kMax = std::numeric_limits<double>::max();
  const TensorStats stats = stats_of(bytes::dense(DType::float64, Layout::linear, {4},
                                                  bytes::values<double>({kMax, kMax, kMax, kMax})));
  CHECK(*stats.mean == kMax);
  CHECK(*stats.std == 0);
}

TEST_CASE("stats: a small spread around a large mean") {
  std::vector<double> numbers;
  for (int i = 0; i < 100'000; ++i) numbers.push_back(1e9 + (i % 2 == 0 ? -0.5 : 0.5));
  const TensorStats stats = stats_of(
      bytes::dense(DType::float64, Layout::linear, {numbers.size()}, bytes::values(numbers)));
  CHECK(*stats.mean == 1e9);
  CHECK(*stats.std == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("stats: subnormals of every float") {
  struct Row {
    DType dtype;
    Words subnormal;
    Words normal;
  };
  const Row rows[] = {
      {DType::float64, {1, 0xfffffffffffff, 0x8000000000000001}, {0x10000000000000, 0}},
      {DType::float32, {1, 0x7fffff, 0x80000001, 0x807fffff}, {0x800000, 0x80800000, 0x80000000}},
      {DType::float16, {1, 0x3ff, 0x8001}, {0x400, 0x8400, 0}},
      {DType::bfloat16, {1, 0x7f, 0x8001}, {0x80, 0x8080, 0x8000}},
      {DType::float8_e4m3fn, {1, 7, 0x81}, {8, 0x88, 0x80}},
      {DType::float8_e5m2, {1, 3, 0x83}, {4, 0x84, 0}},
      {DType::float4_e2m1fn, {1, 9}, {2, 10, 0, 8}},
      {DType::float8_e8m0fnu, {}, {0, 1, 254}},
      {DType::float8_e4m3fnuz, {1, 7, 0x81, 0x87}, {8, 0x88, 0x80, 0}},
      {DType::float8_e5m2fnuz, {1, 3, 0x83}, {4, 0x84, 0x80}},
      {DType::float8_e3m4, {1, 15, 0x81}, {16, 0x90, 0x80}},
      {DType::float8_e4m3, {1, 7, 0x81}, {8, 0x88, 0x80}},
      {DType::float8_e4m3b11fnuz, {1, 7, 0x81}, {8, 0x88, 0x80}},
      {DType::int8, {}, {0, 1, 255}},
      {DType::boolean, {}, {0, 1}},
  };
  for (const Row& row : rows) {
    CAPTURE(btf::info(row.dtype).name);
    Words codes = row.subnormal;
    codes.insert(codes.end(), row.normal.begin(), row.normal.end());
    CHECK(stats_of(linear(row.dtype, {codes.size()}, codes)).subnormals == row.subnormal.size());
  }
}

namespace {

struct Exact {
  double mean = 0;
  double std = 0;
};

// In 113 bits, from the mean of all.
Exact exact(const std::vector<long double>& values) {
  Quad sum = 0;
  for (const long double value : values) sum += value;
  const Quad mean = sum / static_cast<Quad>(values.size());
  Quad squares = 0;
  for (const long double value : values) squares += (value - mean) * (value - mean);
  const Quad variance = squares / static_cast<Quad>(values.size());
  return {static_cast<double>(mean),
          static_cast<double>(std::sqrt(static_cast<long double>(variance)))};
}

// How many doubles lie between two of the same sign.
double steps(double a, double b) {
  return a == b ? 0 : std::abs(a - b) / (std::nextafter(std::abs(b), HUGE_VAL) - std::abs(b));
}

template <typename T>
void check_exact(DType dtype, const std::vector<T>& values) {
  const Exact wanted = exact({values.begin(), values.end()});
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    CAPTURE(btf::cpu_level_name(level));
    const btf::test::ForcedLevel forced(level);
    const TensorStats stats =
        stats_of(bytes::dense(dtype, Layout::linear, {values.size()}, bytes::values(values)));
    CAPTURE(*stats.mean, wanted.mean, *stats.std, wanted.std);
    CHECK(steps(*stats.mean, wanted.mean) <= 1);
    CHECK(steps(*stats.std, wanted.std) <= 1);
  }
}

double gauss(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.next() >> 11) * 0x1p-53;
  return sum - 6;
}

}  // namespace

TEST_CASE("stats: mean and deviation to the last digit, whatever the numbers are like") {
  Random random(7);
  const auto doubles = [&](auto&& number) {
    for (const std::size_t count : {1U, 3U, 1000U, 1024U, 5000U}) {
      std::vector<double> values(count);
      for (std::size_t i = 0; i < count; ++i) values[i] = number(i);
      CAPTURE(count);
      check_exact(DType::float64, values);
    }
  };
  SECTION("noise") {
    doubles([&](std::size_t) { return gauss(random); });
  }
  SECTION("far from zero") {
    doubles([&](std::size_t) { return 1e8 + gauss(random); });
  }
  SECTION("one large number") {
    doubles([&](std::size_t i) { return i == 0 ? 1e16 : 0.3; });
  }
  SECTION("one large number at the end of a chunk") {
    doubles([&](std::size_t i) { return i == 1023 ? -1e16 : 0.3; });
  }
  SECTION("neighbours") {
    doubles([&](std::size_t i) { return 1e16 + (i % 3 == 0 ? 2.0 : 0.0); });
  }
  SECTION("constant") {
    doubles([&](std::size_t) { return 0.1; });
  }
  SECTION("tiny") {
    doubles([&](std::size_t) { return 1e-250 * gauss(random); });
  }
  SECTION("subnormal") {
    doubles([&](std::size_t i) { return 0x1p-1074 * static_cast<double>(i); });
  }
  SECTION("huge") {
    doubles([&](std::size_t) { return 1e250 * gauss(random); });
  }
  SECTION("beyond double in sum") {
    doubles([&](std::size_t i) { return (i % 4 == 0 ? -1.0 : 1.0) * 1.7e308; });
  }
  SECTION("tiny beside huge chunks") {
    doubles([&](std::size_t i) { return (i < 1024 ? 1e-200 : 1e200) * gauss(random); });
  }
  SECTION("singles") {
    std::vector<float> values(5000);
    for (float& value : values) value = static_cast<float>(gauss(random));
    check_exact(DType::float32, values);
    for (float& value : values) value = 1e8F + static_cast<float>(random.below(64));
    check_exact(DType::float32, values);
    for (float& value : values)
      value = std::bit_cast<float>(static_cast<std::uint32_t>(random.below(0x7f000000)));
    check_exact(DType::float32, values);
  }
  SECTION("64-bit integers") {
    std::vector<std::int64_t> values(5000);
    for (auto& value : values) value = static_cast<std::int64_t>(random.next());
    check_exact(DType::int64, values);
    for (auto& value : values)
      value = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(random.below(10));
    check_exact(DType::int64, values);
    for (auto& value : values) value = static_cast<std::int64_t>(random.below(3)) - 1;
    check_exact(DType::int64, values);
    std::vector<std::uint64_t> unsigned_values(3000);
    for (auto& value : unsigned_values) value = ~0ULL - random.below(1ULL << 20);
    check_exact(DType::uint64, unsigned_values);
  }
}

TEST_CASE("stats: the same to the last bit, whoever works on what") {
  Random random(8);
  const ScratchDir scratch;
  const Words dims{2, 35, 130, 301};
  for (const DType dtype : {DType::float32, DType::float16, DType::int8}) {
    const Words codes = random_codes(dtype, product(dims), random);
    const TensorStats expected = stats_of(linear(dtype, dims, codes));
    for (const naive::Name& name : naive::names()) {
      if (!naive::can_hold(name, 4, dims[4 - name.channel_from_end])) continue;
      const auto file = bytes::open(bytes::save(
          scratch, "f.btf", bytes::file({stored(name, dtype, dims, codes, std::byte{0xff})})));
      for (const unsigned jobs : {1U, 2U, 5U})
        for (const std::uint64_t memory : {std::uint64_t{0}, std::uint64_t{32} << 20}) {
          CAPTURE(btf::info(dtype).name, name.name, jobs, memory);
          const auto stats =
              btf::stats(file, file.tensor(0).value(), {.jobs = jobs, .memory = memory});
          REQUIRE(stats);
          check_equal(*stats, expected);
          CHECK(stats->mean == expected.mean);
          CHECK(stats->std == expected.std);
        }
    }
  }
}

TEST_CASE("stats: what is not finite, anywhere in a chunk") {
  Random random(9);
  for (const double share : {0.001, 0.1, 0.9, 1.0}) {
    Words codes(5000);
    for (std::uint64_t& code : codes) {
      const bool special = static_cast<double>(random.below(1000)) < share * 1000;
      const std::uint64_t kinds[] = {0x7c00, 0xfc00, 0x7e00, 0xfd01};
      code = special ? kinds[random.below(4)] : random.below(0x7c00) | random.below(2) << 15;
    }
    for (const btf::CpuLevel level : btf::test::cpu_levels()) {
      const btf::test::ForcedLevel forced(level);
      check_equal(stats_of(linear(DType::float16, {5000}, codes)),
                  naive_stats(DType::float16, {5000}, codes));
    }
  }
}

TEST_CASE("stats: the first NaN in row-major order, wherever it is stored") {
  const Words dims{2, 3, 3, 4, 9};
  Words codes(product(dims), 0x3c00);
  codes[300] = 0x7e00;
  codes[100] = 0xfe01;
  for (const naive::Name& name : naive::names()) {
    CAPTURE(name.name);
    const TensorStats stats = stats_of(stored(name, DType::float16, dims, codes, std::byte{0x7e}));
    CHECK(stats.nan == 2);
    CHECK(stats.first_nan == index_of(dims, 100));
  }
}

TEST_CASE("stats: odd bools are true") {
  const TensorStats stats =
      stats_of(bytes::dense(DType::boolean, Layout::linear, {4}, bytes::hex("00 05 01 ff")));
  CHECK(stats.zeros == 1);
  CHECK(*stats.mean == 0.75);
  CHECK(stats.max->index == Words{1});
}

TEST_CASE("stats: junk in padding lanes of a real file") {
  const auto odd = bytes::open(BTF_TESTDATA_DIR "/odd/lane_padding_not_zero.btf");
  const auto canonical = bytes::open(BTF_TESTDATA_DIR "/odd/lane_padding_not_zero.canonical.btf");
  for (std::uint64_t i = 0; i < odd.tensor_count(); ++i) {
    const auto stats = btf::stats(odd, odd.tensor(i).value());
    REQUIRE(stats);
    CHECK(stats->nan == 0);
    check_equal(*stats, btf::stats(canonical, canonical.tensor(i).value()).value());
  }
}

TEST_CASE("stats: can be stopped") {
  const ScratchDir scratch;
  const auto file = bytes::open(
      bytes::save(scratch, "f.btf", bytes::file({linear(DType::int8, {3}, {1, 2, 3})})));
  const std::atomic<bool> cancel = true;
  const auto stats =
      btf::stats(file, file.tensor(0).value(), {.jobs = 1, .cancel = &cancel, .progress = {}});
  REQUIRE_FALSE(stats);
  CHECK(stats.error().code == ErrorCode::cancelled);
}

TEST_CASE("stats: progress adds up to the bytes of the elements") {
  const ScratchDir scratch;
  const Words codes(3000, 1);
  for (const DType dtype : {DType::int8, DType::float32, DType::uint64}) {
    const auto file =
        bytes::open(bytes::save(scratch, "f.btf", bytes::file({linear(dtype, {3000}, codes)})));
    std::uint64_t bytes = 0;
    REQUIRE(btf::stats(file, file.tensor(0).value(),
                       {.progress = [&](std::uint64_t more) { bytes += more; }}));
    CHECK(bytes == 3000 * btf::info(dtype).bits / 8);
  }
}
