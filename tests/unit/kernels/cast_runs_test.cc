// The casts of runs, for every instruction set that this CPU has, against the reference: bytes and
// accounts.
#include "kernels/cast/cast_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kernels/cast/kernel_table.h"
#include "kernels/move/move.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

using Bytes = std::vector<std::byte>;

struct Pair {
  DType from;
  DType to;
};

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes())
      if (find_cast_runs(from.dtype, to.dtype) != nullptr) all.push_back({from.dtype, to.dtype});
  return all;
}

std::string text(Pair pair) {
  return std::string(info(pair.from).name) + " to " + std::string(info(pair.to).name);
}

// Codes of which most are numbers near those of the targets, some are at the ends of the ranges,
// and some, if asked for, are NaN, Inf and beyond.
std::uint64_t random_code(DType dtype, bool specials, Random& random) {
  const DTypeInfo& row = info(dtype);
  const std::uint64_t ones = ~0ULL >> (64 - row.bits);
  if (!row.floating()) {
    if (row.bits <= 16) return random.next() & ones;
    const std::uint64_t bits = specials ? random.below(row.bits) : random.below(24);
    const std::uint64_t magnitude = random.next() & ((2ULL << bits) - 1);
    return (random.below(2) == 0 ? magnitude : 0 - magnitude) & ones;
  }
  if (row.bits <= 16) {
    std::uint64_t code = random.next() & ones;
    const std::uint64_t exponent = (std::uint64_t{1} << row.fp.exponent_bits) - 1;
    // Numbers only: not the highest exponent.
    if (!specials && (code >> row.fp.mantissa_bits & exponent) == exponent)
      code ^= std::uint64_t{1} << row.fp.mantissa_bits;
    return code;
  }
  const std::uint64_t choice = random.below(specials ? 12 : 7);
  const double sign = random.below(2) == 0 ? 1 : -1;
  double value = 0;
  switch (choice) {
    case 0:
      break;
    case 1:
      value = static_cast<double>(random.below(9)) / 4;
      break;
    case 2:
      value = std::ldexp(1 + static_cast<double>(random.below(1 << 12)) * 0x1p-12,
                         static_cast<int>(random.below(30)) - 24);
      break;
    case 7:
      return random.next() & ones;
    case 8:
      value = std::ldexp(1 + static_cast<double>(random.below(64)) / 32,
                         static_cast<int>(random.below(300)) - 160);
      break;
    case 9:
      value = INFINITY;
      break;
    case 10:
      value = static_cast<double>(random.below(70000));
      break;
    case 11:
      return (ones >> 1) - random.below(2);
    default:
      value = static_cast<double>(random.next() >> 11) * 0x1p-53 * 6;
  }
  value *= sign;
  return dtype == DType::float64 ? std::bit_cast<std::uint64_t>(value)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

Bytes random_codes(DType dtype, std::size_t count, bool specials, Random& random) {
  const std::size_t size = info(dtype).buffer_bytes();
  Bytes bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = random_code(dtype, specials, random);
    std::memcpy(bytes.data() + i * size, &code, size);
  }
  return bytes;
}

struct Result {
  Bytes bytes;
  LossAccount account;
};

Result by_reference(Pair pair, const Bytes& source, const LossAccount& before = {}) {
  const std::size_t count = source.size() / info(pair.from).buffer_bytes();
  Result result{Bytes(count * info(pair.to).buffer_bytes()), before};
  const Tile tile{.source = source.data(),
                  .target = result.bytes.data(),
                  .n0 = count,
                  .source_stride0 = 1,
                  .target_stride0 = 1};
  cast_kernels().back().run({pair.from, pair.to, {}}, tile, result.account);
  return result;
}

bool same(const LossAccount& a, const LossAccount& b) {
  return a.elements == b.elements && a.overflowed == b.overflowed && a.nan_lost == b.nan_lost &&
         a.to_zero == b.to_zero && a.inexact == b.inexact && a.nan == b.nan &&
         a.sign_lost == b.sign_lost &&
         std::bit_cast<std::uint64_t>(a.max_abs) == std::bit_cast<std::uint64_t>(b.max_abs) &&
         std::bit_cast<std::uint64_t>(a.max_rel) == std::bit_cast<std::uint64_t>(b.max_rel);
}

constexpr std::byte kSentinel{0xA5};
constexpr std::size_t kMargin = 64;

// Empty if the run does what is expected, with its source and target that many bytes off.
std::string difference(CastRunsFn run, Pair pair, const Bytes& source, const Result& expected,
                       std::size_t source_off = 0, std::size_t target_off = 0,
                       const LossAccount& before = {}) {
  // The source ends where its memory ends, which a sanitizer sees.
  Bytes from(source_off + source.size());
  std::ranges::copy(source, from.begin() + static_cast<std::ptrdiff_t>(source_off));
  Bytes to(kMargin + target_off + expected.bytes.size() + kMargin, kSentinel);
  std::byte* target = to.data() + kMargin + target_off;
  LossAccount account = before;
  run({.source = from.data() + source_off,
       .target = target,
       .count = source.size() / info(pair.from).buffer_bytes()},
      account);
  if (!std::equal(expected.bytes.begin(), expected.bytes.end(), target)) return "other bytes";
  const auto untouched = [](std::byte byte) { return byte == kSentinel; };
  if (!std::all_of(to.data(), target, untouched)) return "bytes in front";
  if (!std::all_of(target + expected.bytes.size(), to.data() + to.size(), untouched))
    return "bytes behind";
  return same(account, expected.account) ? "" : "another account";
}

}  // namespace

TEST_CASE("cast runs: the hot pairs have one", "[cast]") {
  using enum DType;
  for (const DType small : {float16, bfloat16, float8_e4m3fn, float8_e5m2, float4_e2m1fn,
                            float8_e4m3fnuz, float8_e5m2fnuz, float8_e3m4, float8_e4m3,
                            float8_e4m3b11fnuz, int8, uint8, int32, int4, uint4, float64}) {
    CAPTURE(info(small).name);
    CHECK(find_cast_runs(float32, small) != nullptr);
    CHECK(find_cast_runs(small, float32) != nullptr);
  }
  CHECK(find_cast_runs(int64, int32) != nullptr);
  CHECK(find_cast_runs(int32, int64) != nullptr);
}

TEST_CASE("cast runs: every instruction set, every count, misaligned", "[cast]") {
  // Twice the elements of a vector of the widest set, and some.
  constexpr std::size_t kMaxElements = 130;
  Random random(51);
  for (const Pair pair : pairs()) {
    for (std::size_t count = 0; count <= kMaxElements; ++count) {
      const Bytes source = random_codes(pair.from, count, count % 2 == 0, random);
      const Result expected = by_reference(pair, source);
      for (const CpuLevel level : cpu_levels()) {
        const ForcedLevel forced(level);
        const CastRunsFn run = find_cast_runs(pair.from, pair.to);
        std::string found;
        for (std::size_t off = 0; off < 64 && found.empty(); ++off)
          found = difference(run, pair, source, expected, off / 8, off % 8);
        CAPTURE(text(pair), cpu_level_name(level), count);
        REQUIRE(found == "");
      }
    }
  }
}

TEST_CASE("cast runs: long runs, accounts that go on", "[cast]") {
  Random random(52);
  for (const Pair pair : pairs()) {
    for (const std::size_t count : {1023U, 1024U, 1025U, 2049U, 5000U}) {
      for (const bool specials : {false, true}) {
        const Bytes first = random_codes(pair.from, count, specials, random);
        const Bytes second = random_codes(pair.from, count, random.below(2) == 0, random);
        const Result before = by_reference(pair, first);
        const Result alone = by_reference(pair, second);
        const Result after = by_reference(pair, second, before.account);
        for (const CpuLevel level : cpu_levels()) {
          const ForcedLevel forced(level);
          const CastRunsFn run = find_cast_runs(pair.from, pair.to);
          CAPTURE(text(pair), cpu_level_name(level), count, specials);
          REQUIRE(difference(run, pair, first, before) == "");
          REQUIRE(difference(run, pair, second, alone) == "");
          REQUIRE(difference(run, pair, second, after, 0, 0, before.account) == "");
        }
      }
    }
  }
}

TEST_CASE("cast runs: one value all over, and accounts just above and below its errors", "[cast]") {
  Random random(53);
  for (const Pair pair : pairs()) {
    const std::size_t size = info(pair.from).buffer_bytes();
    for (int round = 0; round < 60; ++round) {
      const Bytes one = random_codes(pair.from, 1, round % 3 == 0, random);
      Bytes many;
      for (std::size_t i = 0; i < 1100; ++i) many.insert(many.end(), one.begin(), one.end());
      // The first chunk has something else in it, so that both kinds of chunks are met.
      const Bytes other = random_codes(pair.from, 1, true, random);
      if (round % 2 == 0)
        std::ranges::copy(other, many.begin() + static_cast<std::ptrdiff_t>(37 * size));
      const LossAccount errors = by_reference(pair, one).account;
      for (const double rel : {0.0, std::nextafter(errors.max_rel, 0), errors.max_rel,
                               std::nextafter(errors.max_rel, 1), 1.0}) {
        for (const double abs : {0.0, std::nextafter(errors.max_abs, 0), errors.max_abs}) {
          LossAccount before;
          before.max_rel = rel;
          before.max_abs = abs;
          const Result expected = by_reference(pair, many, before);
          for (const CpuLevel level : cpu_levels()) {
            const ForcedLevel forced(level);
            CAPTURE(text(pair), cpu_level_name(level), rel, abs, round);
            REQUIRE(difference(find_cast_runs(pair.from, pair.to), pair, many, expected, 0, 0,
                               before) == "");
          }
        }
      }
    }
  }
}

TEST_CASE("cast runs: errors that grow with every element", "[cast]") {
  for (const Pair pair : pairs()) {
    if (pair.from != DType::float32) continue;
    // Relative errors of up to half a step of any target with at most 10 bits, absolute ones too.
    Bytes source(4000 * sizeof(float));
    for (std::size_t i = 0; i < 4000; ++i) {
      const float value = 4 + static_cast<float>(i) * 0x1p-21F;
      std::memcpy(source.data() + i * sizeof(value), &value, sizeof(value));
    }
    const Result expected = by_reference(pair, source);
    for (const CpuLevel level : cpu_levels()) {
      const ForcedLevel forced(level);
      CAPTURE(text(pair), cpu_level_name(level));
      CHECK(difference(find_cast_runs(pair.from, pair.to), pair, source, expected) == "");
    }
  }
}

// NaN with and without payload, Inf, the least numbers, and the ends of the ranges of all targets
// with their neighbours.
template <typename Float>
std::vector<Float> edges() {
  using Limits = std::numeric_limits<Float>;
  std::vector<Float> all{Limits::quiet_NaN(),
                         Limits::signaling_NaN(),
                         Limits::infinity(),
                         Limits::max(),
                         Limits::denorm_min(),
                         Limits::min(),
                         Float{0}};
  for (const double end :
       {.25,    .5,     1.,      2.,      6.,      7.,      8.,       15.,      16.,    127.,
        128.,   255.,   256.,    448.,    464.,    32767.,  32768.,   65504.,   65520., 65535.,
        65536., 57344., 61440.,  0x1p23,  0x1p24,  0x1p25,  0x1p28,   0x1p29,   0x1p37, 0x1p31,
        0x1p63, 0x1p-9, 0x1p-10, 0x1p-17, 0x1p-24, 0x1p-25, 0x1p-133, 0x1p-134, 3.4e38})
    for (const double off : {0., .1, .5, .9, .99}) {
      const auto value = static_cast<Float>(end + off);
      all.insert(all.end(), {value, std::nextafter(value, Float{0}),
                             std::nextafter(value, Limits::infinity())});
    }
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  return all;
}

template <typename Float>
void check_edges(Pair pair) {
  // Numbers that every target has room for.
  constexpr std::size_t kCount = 150;
  for (const Float edge : edges<Float>()) {
    for (const std::size_t at : {std::size_t{0}, std::size_t{70}, kCount - 1}) {
      std::vector<Float> values(kCount);
      for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<Float>(i % 23) / 4;
      values[at] = edge;
      Bytes source(sizeof(Float) * kCount);
      std::memcpy(source.data(), values.data(), source.size());
      const Result expected = by_reference(pair, source);
      for (const CpuLevel level : cpu_levels()) {
        const ForcedLevel forced(level);
        CAPTURE(text(pair), cpu_level_name(level), edge, at);
        REQUIRE(difference(find_cast_runs(pair.from, pair.to), pair, source, expected) == "");
      }
    }
  }
}

TEST_CASE("cast runs: one edge among plain numbers", "[cast]") {
  for (const Pair pair : pairs()) {
    if (pair.from == DType::float32) check_edges<float>(pair);
    if (pair.from == DType::float64) check_edges<double>(pair);
  }
}

TEST_CASE("cast runs: numbers beyond the range, in chunks with and without others", "[cast]") {
  Random random(55);
  const auto uniform = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
  for (const Pair pair : pairs()) {
    if (pair.from != DType::float32) continue;
    for (int round = 0; round < 40; ++round) {
      // Of each chunk: the size of its numbers, and whether one of them is NaN or Inf.
      Bytes source;
      const int widest = static_cast<int>(random.below(40));
      while (source.size() < 9000 * sizeof(float)) {
        const double size = std::ldexp(1, static_cast<int>(random.below(8)) + widest - 4);
        const std::size_t count = 1024 + random.below(2) * 7;
        const std::size_t special = random.below(5) == 0 ? random.below(count) : count;
        for (std::size_t i = 0; i < count; ++i) {
          auto value = static_cast<float>((2 * uniform() - 1) * size);
          if (random.below(3) == 0) value = std::trunc(value);
          if (i == special) value = random.below(2) == 0 ? NAN : INFINITY;
          const auto* bytes = reinterpret_cast<const std::byte*>(&value);
          source.insert(source.end(), bytes, bytes + sizeof(value));
        }
      }
      const Result expected = by_reference(pair, source);
      for (const CpuLevel level : cpu_levels()) {
        const ForcedLevel forced(level);
        CAPTURE(text(pair), cpu_level_name(level), round, widest);
        REQUIRE(difference(find_cast_runs(pair.from, pair.to), pair, source, expected) == "");
      }
    }
  }
}

TEST_CASE("cast runs: several runs with gaps between them", "[cast]") {
  Random random(54);
  for (const Pair pair : pairs()) {
    const std::size_t in = info(pair.from).buffer_bytes();
    const std::size_t out = info(pair.to).buffer_bytes();
    for (const std::size_t count : {1U, 7U, 56U, 64U, 200U, 512U, 513U, 1500U}) {
      for (const std::size_t runs : {0U, 1U, 2U, 5U, 33U}) {
        // Specials in all runs, in none or in the last one.
        const std::uint64_t kind = random.below(3);
        const std::size_t source_pitch = count + random.below(3);
        // What is written around the caches begins with lines.
        const bool stream = random.below(2) == 0;
        const std::size_t target_pitch = stream ? (count + 63) / 64 * 64 : count + random.below(3);
        Bytes source;
        for (std::size_t run = 0; run < runs; ++run) {
          const bool specials = kind == 0 || (kind == 1 && run + 1 == runs);
          const Bytes codes = random_codes(pair.from, source_pitch, specials, random);
          source.insert(source.end(), codes.begin(), codes.end());
        }
        Result expected{Bytes(runs * target_pitch * out, kSentinel), {}};
        const Tile tile{.source = source.data(),
                        .target = expected.bytes.data(),
                        .n0 = count,
                        .source_stride0 = 1,
                        .target_stride0 = 1,
                        .n1 = runs,
                        .source_stride1 = source_pitch,
                        .target_stride1 = target_pitch};
        cast_kernels().back().run({pair.from, pair.to, {}}, tile, expected.account);
        for (const CpuLevel level : cpu_levels()) {
          const ForcedLevel forced(level);
          Bytes buffer(expected.bytes.size() + 64, kSentinel);
          std::byte* target = buffer.data();
          target += (64 - reinterpret_cast<std::uintptr_t>(target) % 64) % 64;
          LossAccount account;
          find_cast_runs(pair.from, pair.to)(
              {.source = source.data(),
               .target = target,
               .count = count,
               .ahead = std::array<std::ptrdiff_t, 3>{0, 512, kByPages}[random.below(3)],
               .runs = runs,
               .source_pitch = source_pitch * in,
               .target_pitch = target_pitch * out,
               .stream = stream},
              account);
          CAPTURE(text(pair), cpu_level_name(level), count, runs, kind, stream);
          REQUIRE(std::ranges::equal(std::span(target, expected.bytes.size()), expected.bytes));
          REQUIRE(std::ranges::count(buffer, kSentinel) ==
                  64 + std::ranges::count(expected.bytes, kSentinel));
          REQUIRE(same(account, expected.account));
        }
      }
    }
  }
}

TEST_CASE("cast runs: a forced instruction set is used", "[cast]") {
  std::vector<CastRunsFn> seen;
  for (const CpuLevel level : cpu_levels()) {
    const ForcedLevel forced(level);
    CHECK(cpu_level() == level);
    const CastRunsFn run = find_cast_runs(DType::float32, DType::float16);
    CHECK(std::ranges::find(seen, run) == seen.end());
    seen.push_back(run);
  }
  CHECK(cpu_level() == best_cpu_level());
}

}  // namespace btf::test
