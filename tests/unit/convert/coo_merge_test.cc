#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/file.h"
#include "btf/inspect.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/exact_sum_oracle.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "unit/elements/coo_cases.h"

using namespace coo_cases;

TEST_CASE("coo: canonical output is sorted, with explicit zeros, whatever the memory") {
  Converter converter;
  Random random(3);
  for (const DType dtype : {DType::float32, DType::int4, DType::boolean, DType::float64}) {
    const Words dims{9, 31, 8};
    auto cells = random_set(dims, 1501, btf::info(dtype).bits, random);
    for (std::size_t k = 0; k < cells.size(); k += 5) cells[k].code = 0;
    auto sorted = cells;
    std::ranges::sort(sorted, {}, [&](const Cell& cell) { return number_of(dims, cell.index); });
    for (const std::uint64_t memory : {0U, 1U << 25}) {
      ConvertOptions options;
      options.execution.memory = memory;
      CHECK(converter.bytes_of({coo_record(dtype, dims, cells)}, options) ==
            bytes::file({coo_record(dtype, dims, sorted)}));
    }
    std::erase_if(sorted, [](const Cell& cell) { return cell.code == 0; });
    ConvertOptions prune;
    prune.prune_zeros = true;
    CHECK(converter.bytes_of({coo_record(dtype, dims, cells)}, prune) ==
          bytes::file({coo_record(dtype, dims, sorted)}));
  }
}

TEST_CASE("coo: pruning goes by the bits, so -0.0 stays") {
  Converter converter;
  ConvertOptions prune;
  prune.prune_zeros = true;
  const auto path = converter.run(
      {coo_record(DType::float32, {4}, {{{0}, 0x80000000}, {{1}, 0}, {{2}, 0x7fc00001}})}, prune);
  REQUIRE(path);
  CHECK(stored_cells(*path) == std::vector<Cell>{{{0}, 0x80000000}, {{2}, 0x7fc00001}});
}

TEST_CASE("coo: pruning leaves out what a cast made zero, as dense to COO does") {
  Converter converter;
  ConvertOptions options;
  options.prune_zeros = true;
  options.dtype = DType::int8;
  options.layout = Layout::coo;
  const std::vector<Cell> cells{{{0}, std::bit_cast<std::uint32_t>(0.25F)},
                                {{1}, std::bit_cast<std::uint32_t>(3.0F)},
                                {{2}, 0x80000000}};
  const Bytes expected = bytes::file({coo_record(DType::int8, {4}, {{{1}, 3}})});
  CHECK(converter.bytes_of({dense_record(DType::float32, {4}, cells)}, options) == expected);
  CHECK(converter.bytes_of({coo_record(DType::float32, {4}, cells)}, options) == expected);
}

namespace {

// What a list of values of one index means.
std::uint64_t merged(DType dtype, const Words& codes, Duplicates rule) {
  if (codes.size() == 1 || rule == Duplicates::first) return codes.front();
  if (rule == Duplicates::last) return codes.back();
  return btf::test::oracle_sum(dtype, dtype, codes).code;
}

}  // namespace

TEST_CASE("coo: duplicates mean what they are told to") {
  Converter converter;
  Random random(4);
  for (const DType dtype :
       {DType::int8,           DType::uint8,           DType::int4,
        DType::uint4,          DType::int32,           DType::int64,
        DType::uint64,         DType::boolean,         DType::float32,
        DType::float64,        DType::float16,         DType::bfloat16,
        DType::float8_e4m3fn,  DType::float8_e5m2,     DType::float4_e2m1fn,
        DType::float8_e8m0fnu, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz,
        DType::float8_e3m4,    DType::float8_e4m3,     DType::float8_e4m3b11fnuz}) {
    const Words dims{6, 5};
    const auto cells = random_cells(dims, 151, btf::info(dtype).bits, random);
    for (const Duplicates rule : {Duplicates::sum, Duplicates::first, Duplicates::last}) {
      CAPTURE(btf::info(dtype).name, static_cast<int>(rule));
      std::map<std::uint64_t, std::pair<Words, Words>> by_number;
      for (const Cell& cell : cells) {
        auto& [index, codes] = by_number[number_of(dims, cell.index)];
        index = cell.index;
        codes.push_back(cell.code);
      }
      std::vector<Cell> expected;
      for (const auto& [at, cell] : by_number)
        expected.push_back({cell.first, merged(dtype, cell.second, rule)});

      ConvertOptions options;
      options.duplicates = rule;
      options.execution.memory = 0;
      const auto sparse = converter.run({coo_record(dtype, dims, cells)}, options);
      REQUIRE(sparse);
      CHECK(stored_cells(*sparse) == expected);
      options.layout = Layout::linear;
      CHECK(converter.bytes_of({coo_record(dtype, dims, cells)}, options) ==
            bytes::file({dense_record(dtype, dims, expected)}));
    }
  }
}

TEST_CASE("coo: sums are exact and clamped once, at the end") {
  struct Row {
    DType dtype;
    Words codes;
    std::uint64_t sum;
  };
  const auto f32 = [](float value) -> std::uint64_t { return std::bit_cast<std::uint32_t>(value); };
  constexpr std::uint64_t kMin = 1ULL << 63;
  const Row rows[] = {
      {DType::int8, {100, 100}, 127},
      {DType::int8, {100, 100, 0x9c}, 100},  // 100 + 100 - 100
      {DType::int8, {0x80, 0x80, 0x80}, 0x80},
      {DType::uint8, {200, 100}, 255},
      {DType::int64, {kMin, kMin, kMin - 1, kMin - 1, 5}, 3},
      {DType::int64, {kMin - 1, 1}, kMin - 1},
      {DType::uint64, {~0ULL, ~0ULL}, ~0ULL},
      {DType::float32, {f32(16777216), f32(1), f32(1)}, f32(16777218)},
      {DType::float32, {f32(-0.0F), f32(-0.0F)}, f32(-0.0F)},
      {DType::float32, {f32(1), f32(-1)}, f32(0)},
      {DType::float32, {f32(3e38F), f32(3e38F)}, 0x7f800000},
      // No NaN keeps a sign: which one an addition gives is the CPU's.
      {DType::float32, {0x7f800000, 0xff800000}, 0x7fc00000},
      {DType::float32, {0xffc00001, 0xffc00002}, 0x7fc00000},
      {DType::float16, {0x7bff, 0x7bff, 0xfbff}, 0x7bff},
      {DType::boolean, {1, 1, 5}, 1},
  };
  Converter converter;
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    for (const std::uint64_t code : row.codes) cells.push_back({{2}, code});
    ConvertOptions options;
    options.duplicates = Duplicates::sum;
    const auto path = converter.run({coo_record(row.dtype, {3}, cells)}, options);
    REQUIRE(path);
    CAPTURE(btf::info(row.dtype).name, row.codes);
    const auto stored = stored_cells(*path);
    REQUIRE(stored.size() == 1);
    CHECK(stored[0].code == row.sum);
  }
}

TEST_CASE("coo: sums go into any dtype with one rounding, and are counted like any cast") {
  Converter converter;
  Random random(17);
  const Words dims{7, 11};
  std::uint64_t lossy = 0;
  for (const btf::DTypeInfo& from : btf::dtypes()) {
    for (const btf::DTypeInfo& to : btf::dtypes()) {
      // Its zero bits are no zero: absent elements have an account of their own.
      if (to.dtype == DType::float8_e8m0fnu) continue;
      CAPTURE(from.name, to.name);
      const auto cells = random_cells(dims, 200, from.bits, random);
      std::map<std::uint64_t, std::pair<Words, Words>> by_number;
      for (const Cell& cell : cells) {
        auto& [index, codes] = by_number[number_of(dims, cell.index)];
        index = cell.index;
        codes.push_back(cell.code);
      }
      std::vector<Cell> expected;
      std::array<std::uint64_t, btf::test::kLossCount> losses{};
      for (const auto& [at, cell] : by_number) {
        const auto& codes = cell.second;
        btf::test::OracleCast one{codes.front(), btf::test::Loss::none};
        if (codes.size() > 1)
          one = btf::test::oracle_sum(from.dtype, to.dtype, codes);
        else if (from.dtype != to.dtype)
          one = btf::test::oracle_cast(from.dtype, to.dtype, codes.front(), {});
        expected.push_back({cell.first, one.code});
        ++losses[static_cast<std::size_t>(one.loss)];
      }
      for (const Layout layout : {Layout::coo, Layout::linear}) {
        ConvertOptions options;
        options.dtype = to.dtype;
        options.layout = layout;
        options.duplicates = Duplicates::sum;
        btf::LossAccount loss;
        const std::string in = bytes::save(converter.scratch(), "sum.btf",
                                           bytes::file({coo_record(from.dtype, dims, cells)}));
        const std::string out = converter.scratch() / "sum-out.btf";
        REQUIRE(btf::convert(bytes::open(in), out, options,
                             [&](const btf::TensorReport& report) { loss = report.loss; }));
        if (layout == Layout::coo)
          CHECK(stored_cells(out) == expected);
        else if (from.dtype != DType::float8_e8m0fnu)
          CHECK(read_file(out) == bytes::file({dense_record(to.dtype, dims, expected)}));
        using btf::test::Loss;
        // Absent elements of E8M0 are 2^-127, which not every dtype has.
        if (from.dtype == DType::float8_e8m0fnu) continue;
        CHECK(loss.elements == (layout == Layout::coo ? expected.size() : product(dims)));
        CHECK(loss.overflowed == losses[static_cast<std::size_t>(Loss::overflowed)]);
        CHECK(loss.nan_lost == losses[static_cast<std::size_t>(Loss::nan_lost)]);
        CHECK(loss.to_zero == losses[static_cast<std::size_t>(Loss::to_zero)]);
        CHECK(loss.inexact == losses[static_cast<std::size_t>(Loss::inexact)]);
        lossy += loss.changed();
      }
    }
  }
  CHECK(lossy > 1000);
}

TEST_CASE("coo: a sum that loses something is refused where losses are") {
  Converter converter;
  const auto f16 = [](float value) {
    return btf::test::float_code(DType::float16, static_cast<double>(value));
  };
  struct Row {
    DType from;
    std::optional<DType> to;
    Words codes;
    bool lossless;
    std::string message;  // empty: accepted
  };
  const Row rows[] = {
      {DType::int8,
       {},
       {100, 100},
       false,
       "the COO entries of index [2] add up to 200, which overflows int8"},
      {DType::int8,
       {},
       {100, 100},
       true,
       "the COO entries of index [2] add up to 200, which overflows int8"},
      {DType::int8, DType::int32, {100, 100}, true, ""},
      {DType::float16,
       {},
       {f16(2048), f16(1)},
       true,
       "the COO entries of index [2] add up to 2049, which is not exact in float16"},
      {DType::float16, {}, {f16(2048), f16(1)}, false, ""},
      {DType::float16, DType::float32, {f16(2048), f16(1)}, true, ""},
      {DType::int64,
       {},
       {(1ULL << 63) - 1, 1},
       false,
       "the COO entries of index [2] add up to 9223372036854775808, which overflows int64"},
      {DType::int64, DType::uint64, {(1ULL << 63) - 1, 1}, true, ""},
  };
  for (const Row& row : rows) {
    for (const Layout layout : {Layout::coo, Layout::linear}) {
      std::vector<Cell> cells{{{0}, row.codes.back()}};
      for (const std::uint64_t code : row.codes) cells.push_back({{2}, code});
      ConvertOptions options;
      options.dtype = row.to;
      options.layout = layout;
      options.duplicates = Duplicates::sum;
      options.policy.lossless = row.lossless;
      if (!row.lossless) options.policy.overflow = btf::Overflow::error;
      const auto path = converter.run({coo_record(row.from, {4}, cells)}, options);
      CHECK(path.has_value() == row.message.empty());
      if (!path) CHECK(said(path.error()) == "tensor 0: " + row.message);
    }
  }
}

TEST_CASE("coo: sums beyond 64 bits wrap as integers do") {
  struct Row {
    DType from;
    DType to;
    Words codes;
    std::uint64_t code;
  };
  const auto f64 = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const Row rows[] = {
      {DType::int8, DType::int8, {100, 100}, 200},
      {DType::uint64, DType::uint64, {~0ULL, ~0ULL, ~0ULL}, ~0ULL - 2},
      {DType::float64, DType::int8, {f64(0x1p70), f64(3)}, 3},
      {DType::float64, DType::int16, {f64(-0x1p70), f64(-3)}, 0xfffd},
      {DType::float64, DType::uint64, {f64(0x1p63), f64(0.25), f64(4)}, (1ULL << 63) + 4},
  };
  Converter converter;
  for (const Row& row : rows) {
    std::vector<Cell> cells;
    for (const std::uint64_t code : row.codes) cells.push_back({{2}, code});
    ConvertOptions options;
    options.dtype = row.to;
    options.duplicates = Duplicates::sum;
    options.policy.overflow = btf::Overflow::wrap;
    const auto path = converter.run({coo_record(row.from, {4}, cells)}, options);
    REQUIRE(path);
    CHECK(stored_cells(*path) == std::vector<Cell>{{{2}, row.code}});
  }
}

// It wrapped to 2^64 - 1 where duplicates were merged.
TEST_CASE("coo: absent elements are counted by what is left after merging") {
  for (const Duplicates rule : {Duplicates::sum, Duplicates::first, Duplicates::last}) {
    for (const auto& [from, to] : {std::pair{DType::float8_e8m0fnu, DType::float16},
                                   std::pair{DType::float32, DType::float8_e8m0fnu}}) {
      for (const bool prune : {false, true}) {
        const ScratchDir scratch;
        const std::vector<Cell> cells{{{0}, 127}, {{0}, 127}, {{1}, 127}, {{2}, 0}, {{2}, 0}};
        const std::string in =
            bytes::save(scratch, "in.btf", bytes::file({coo_record(from, {3}, cells)}));
        ConvertOptions options;
        options.dtype = to;
        options.duplicates = rule;
        options.prune_zeros = prune;
        btf::LossAccount loss;
        REQUIRE(btf::convert(bytes::open(in), scratch / "out.btf", options,
                             [&](const btf::TensorReport& report) { loss = report.loss; }));
        CHECK(loss.elements == 3);
        CHECK(loss.changed() <= 3);
      }
    }
  }
}

TEST_CASE("coo: a sum that became zero is pruned on demand") {
  Converter converter;
  const std::vector<Cell> cells{{{1}, 5}, {{0}, 2}, {{1}, 0xfb}};
  ConvertOptions options;
  options.duplicates = Duplicates::sum;
  CHECK(stored_cells(*converter.run({coo_record(DType::int8, {2}, cells)}, options)) ==
        std::vector<Cell>{{{0}, 2}, {{1}, 0}});
  options.prune_zeros = true;
  CHECK(stored_cells(*converter.run({coo_record(DType::int8, {2}, cells)}, options)) ==
        std::vector<Cell>{{{0}, 2}});
}

TEST_CASE("coo: duplicates are an error unless they are given a meaning") {
  const Bytes record =
      coo_record(DType::float32, {4, 4}, {{{0, 1}, 1}, {{1, 2}, 2}, {{3, 3}, 3}, {{1, 2}, 2}});
  Converter converter;
  for (const std::optional<Layout> layout :
       {std::optional<Layout>{}, std::optional(Layout::coo), std::optional(Layout::linear)}) {
    ConvertOptions options;
    options.layout = layout;
    const auto path = converter.run({record}, options);
    REQUIRE_FALSE(path);
    CHECK(path.error().code == ErrorCode::refused);
    CHECK(path.error().text().find("tensor 0: COO entries 1 and 3 have the same index") !=
          std::string::npos);
  }
  const ScratchDir scratch;
  const TensorFile file = bytes::open(bytes::save(scratch, "f.btf", bytes::file({record})));
  CHECK(btf::stats(file, file.tensor(0).value()).error().code == ErrorCode::refused);
  CHECK(btf::diff(file, file, {}, {}).error().code == ErrorCode::refused);
}
