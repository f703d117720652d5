// Every kernel that a pair may be cast by, for every instruction set that this CPU has, against the
// reference: bytes and accounts. The reference is held against an oracle in cast_test.cc.
#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "kernels/cast/kernel_table.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

using Bytes = std::vector<std::byte>;

std::string text(const CastJob& job) {
  return std::string(info(job.from).name) + " to " + std::string(info(job.to).name) +
         ", overflow " + std::to_string(static_cast<int>(job.policy.overflow)) + ", rounding " +
         std::to_string(static_cast<int>(job.policy.rounding));
}

// Those that differ in what they do to some pair of this target.
std::vector<CastPolicy> policies(DType to) {
  const DTypeInfo& row = info(to);
  if (row.kind == NumberKind::boolean) return {{}};
  std::vector<CastPolicy> all;
  const bool rounds = !row.floating() || row.fp.power_of_two;
  for (const Overflow overflow : {Overflow::saturate, Overflow::ieee, Overflow::wrap}) {
    if (overflow == (row.floating() ? Overflow::wrap : Overflow::ieee)) continue;
    for (const Rounding rounding :
         {Rounding::by_table, Rounding::nearest, Rounding::zero, Rounding::up, Rounding::down})
      if (rounds || rounding == Rounding::by_table) all.push_back({overflow, rounding});
  }
  return all;
}

std::uint64_t ones(DType dtype) { return ~0ULL >> (64 - info(dtype).bits); }

std::uint64_t code_of(DType dtype, double value) {
  std::uint64_t code = 0;
  LossAccount ignored;
  cast_kernels().back().run({DType::float64, dtype, {}},
                            {.source = reinterpret_cast<const std::byte*>(&value),
                             .target = reinterpret_cast<std::byte*>(&code),
                             .n0 = 1},
                            ignored);
  return dtype == DType::float64 ? std::bit_cast<std::uint64_t>(value) : code;
}

// What a test's codes are like.
enum class Mix : std::uint8_t { any, tame, huge };

// Values of the target, what lies between two of them, and the codes next to those; random codes;
// and, unless tame, NaN, Inf and numbers beyond.
std::uint64_t hard_code(const CastJob& job, Mix mix, Random& random) {
  const auto target_value = [&](std::uint64_t code) {
    return value_double(job.to, code & ones(job.to));
  };
  const std::uint64_t near = random.next() >> random.below(64);
  double value = 0;
  switch (random.below(mix == Mix::tame ? 4 : 7)) {
    case 0:
      value = target_value(near);
      break;
    case 1:
      value = target_value(near) / 2 + target_value(near + 1) / 2;
      break;
    case 2:
      value = static_cast<double>(random.below(4000)) / 16 - 125;
      break;
    case 3:
      value = std::ldexp(static_cast<double>(random.next() >> 11) * 0x1p-52 - 1,
                         static_cast<int>(random.below(24)) - 12);
      break;
    case 4: {
      std::uint64_t code = random.next() >> random.below(64);
      // Between two doubles, as an integer.
      if (random.below(2) == 0) code = (code & ~0x7ffULL) | 0x400;
      return code & ones(job.from);
    }
    case 5: {
      const std::array special{NAN,     -NAN,     INFINITY, -INFINITY, -0.0F,
                               0x1p63F, -0x1p63F, 0x1p64F,  0x1p31F,   0x1p32F};
      value = special.at(random.below(special.size()));
      break;
    }
    default:
      value = std::ldexp(static_cast<double>(random.next() >> 11) * 0x1p-52 - 1,
                         static_cast<int>(random.below(2200)) - 1100);
  }
  if (mix == Mix::huge) value = std::ldexp(value, static_cast<int>(random.below(120)));
  const std::uint64_t code = code_of(job.from, value);
  if (mix == Mix::tame && info(job.from).bits < 32) return code;
  return (code + random.below(3) - 1) & ones(job.from);
}

Bytes hard_codes(const CastJob& job, std::size_t count, Mix mix, Random& random) {
  const std::size_t size = info(job.from).buffer_bytes();
  Bytes bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t code = hard_code(job, mix, random);
    std::memcpy(bytes.data() + i * size, &code, size);
  }
  return bytes;
}

bool same(const LossAccount& a, const LossAccount& b) {
  return a.elements == b.elements && a.overflowed == b.overflowed && a.nan_lost == b.nan_lost &&
         a.to_zero == b.to_zero && a.inexact == b.inexact && a.nan == b.nan &&
         a.sign_lost == b.sign_lost &&
         std::bit_cast<std::uint64_t>(a.max_abs) == std::bit_cast<std::uint64_t>(b.max_abs) &&
         std::bit_cast<std::uint64_t>(a.max_rel) == std::bit_cast<std::uint64_t>(b.max_rel);
}

struct Outcome {
  Bytes bytes;
  LossAccount account;
};

Outcome run(const CastKernel& kernel, const CastJob& job, const Bytes& source,
            const LossAccount& before) {
  const std::size_t count = source.size() / info(job.from).buffer_bytes();
  Outcome result{Bytes(count * info(job.to).buffer_bytes() + 8, std::byte{0xA5}), before};
  kernel.run(job,
             {.source = source.data(),
              .target = result.bytes.data(),
              .n0 = count,
              .source_stride0 = 1,
              .target_stride0 = 1},
             result.account);
  return result;
}

// Empty if all kernels of all instruction sets do what the reference does.
std::string difference(const CastJob& job, const Bytes& source, const LossAccount& before = {}) {
  const auto kernels = cast_kernels();
  const Outcome expected = run(kernels.back(), job, source, before);
  for (const CastKernel& kernel : kernels.first(kernels.size() - 1)) {
    if (!kernel.applies(job)) continue;
    for (const CpuLevel level : cpu_levels()) {
      const ForcedLevel forced(level);
      const Outcome found = run(kernel, job, source, before);
      const std::string where =
          text(job) + ", " + std::string(kernel.name) + ", " + cpu_level_name(level) + ": ";
      const std::size_t at = static_cast<std::size_t>(
          std::ranges::mismatch(found.bytes, expected.bytes).in1 - found.bytes.begin());
      if (at != found.bytes.size()) {
        const std::size_t element = at / info(job.to).buffer_bytes();
        std::uint64_t code = 0;
        std::memcpy(&code, source.data() + element * info(job.from).buffer_bytes(),
                    info(job.from).buffer_bytes());
        return where + "bytes of element " + std::to_string(element) + ", " +
               code_text(job.from, code);
      }
      if (!same(found.account, expected.account)) return where + "the account";
    }
  }
  return "";
}

// As difference(), but says which element alone has another account.
std::string told(const CastJob& job, const Bytes& source, const LossAccount& before = {}) {
  const std::string whole = difference(job, source, before);
  if (whole.empty()) return whole;
  const std::size_t size = info(job.from).buffer_bytes();
  for (std::size_t at = 0; at < source.size(); at += size) {
    // Enough of one element for kernels that leave few to the reference.
    Bytes many;
    for (int i = 0; i < 300; ++i)
      many.insert(many.end(), source.begin() + static_cast<std::ptrdiff_t>(at),
                  source.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (difference(job, many).empty()) continue;
    std::uint64_t code = 0;
    std::memcpy(&code, many.data(), size);
    return difference(job, many) + " of " + code_text(job.from, code);
  }
  return whole;
}

template <typename Check>
void for_each_job(Check&& check) {
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      if (from.dtype == to.dtype) continue;
      for (const CastPolicy& policy : policies(to.dtype)) check({from.dtype, to.dtype, policy});
    }
}

}  // namespace

TEST_CASE("cast kernels: hard numbers, in chunks with and without special ones", "[cast]") {
  Random random(61);
  for_each_job([&](const CastJob& job) {
    for (const Mix mix : {Mix::any, Mix::tame, Mix::huge}) {
      const Bytes source = hard_codes(job, 1500, mix, random);
      REQUIRE(told(job, source) == "");
    }
  });
}

TEST_CASE("cast kernels: an error next to the middle of two doubles is rounded once", "[cast]") {
  // 2^63 + 3 * 2^10 lies in the middle, what is 1 less does not.
  const std::uint64_t code = (1ULL << 63) + 3 * 1024;
  Bytes many;
  for (int i = 0; i < 20; ++i) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&code);
    many.insert(many.end(), bytes, bytes + sizeof(code));
  }
  const CastJob job{DType::uint64, DType::boolean, {}};
  CHECK(run(cast_kernels().back(), job, many, {}).account.max_abs == 0x1p63 + 2048);
  CHECK(difference(job, many) == "");
}

TEST_CASE("cast kernels: every count around a vector and a chunk", "[cast]") {
  Random random(62);
  for_each_job([&](const CastJob& job) {
    for (const std::size_t count :
         {0U, 1U, 15U, 16U, 17U, 23U, 31U, 63U, 255U, 256U, 257U, 511U, 512U, 513U, 1025U})
      REQUIRE(told(job, hard_codes(job, count, Mix::any, random)) == "");
  });
}

TEST_CASE("cast kernels: few different numbers, the worst of them in every chunk", "[cast]") {
  Random random(64);
  for (const DTypeInfo& from : dtypes())
    for (const DTypeInfo& to : dtypes()) {
      if (from.dtype == to.dtype) continue;
      const CastJob job{from.dtype, to.dtype, {}};
      for (const Mix mix : {Mix::tame, Mix::any, Mix::huge}) {
        const std::size_t size = from.buffer_bytes();
        const Bytes some = hard_codes(job, 1 + random.below(6), mix, random);
        Bytes source(2600 * size);
        for (std::size_t at = 0; at < source.size(); at += size)
          std::memcpy(source.data() + at, some.data() + random.below(some.size() / size) * size,
                      size);
        REQUIRE(told(job, source) == "");
      }
    }
}

TEST_CASE("cast kernels: every code of a small source, in every place of a vector", "[cast]") {
  Random random(65);
  for_each_job([&](const CastJob& job) {
    if (info(job.from).bits > 8) return;
    // Codes of 5 bits and more are what a bool may have, too.
    const std::size_t codes = info(job.from).bits < 8 ? 16 : 256;
    Bytes source;
    for (std::size_t i = 0; i < 3 * codes + 67; ++i)
      source.push_back(static_cast<std::byte>(i * 5 % codes));
    for (std::size_t i = 0; i < 600; ++i)
      source.push_back(static_cast<std::byte>(random.below(codes)));
    for (const std::size_t first : {0U, 1U, 31U})
      REQUIRE(told(job, Bytes(source.begin() + first, source.end())) == "");
    // Many of one code, more than a count of 8 bits holds.
    REQUIRE(told(job, Bytes(20000, source[random.below(codes)])) == "");
  });
}

TEST_CASE("cast kernels: one value all over, and accounts just above and below its errors",
          "[cast]") {
  Random random(63);
  for_each_job([&](const CastJob& job) {
    if (info(job.from).bits <= 8) return;
    for (int round = 0; round < 4; ++round) {
      const Bytes one = hard_codes(job, 1, round % 2 == 0 ? Mix::tame : Mix::any, random);
      Bytes many;
      for (std::size_t i = 0; i < 40; ++i) many.insert(many.end(), one.begin(), one.end());
      const LossAccount errors = run(cast_kernels().back(), job, one, {}).account;
      for (const double rel : {std::nextafter(errors.max_rel, 0), errors.max_rel,
                               std::nextafter(errors.max_rel, INFINITY)})
        for (const double abs : {0.0, std::nextafter(errors.max_abs, 0), errors.max_abs}) {
          LossAccount before;
          before.max_rel = rel;
          before.max_abs = abs;
          REQUIRE(difference(job, many, before) == "");
        }
    }
  });
}

}  // namespace btf::test
