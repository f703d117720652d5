#include "elements/coo.h"

#include <algorithm>
#include <array>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/stats.h"
#include "elements/coo_record.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/exact_sum_oracle.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::ConvertOptions;
using btf::CooEntry;
using btf::CooSource;
using btf::DType;
using btf::Duplicates;
using btf::ErrorCode;
using btf::Layout;
using btf::TensorFile;
using btf::TensorInfo;
using bytes::Bytes;
using bytes::Words;

namespace btf {

bool operator==(const CooEntry& a, const CooEntry& b) {
  return a.key == b.key && a.position == b.position && a.code == b.code;
}

}  // namespace btf

namespace {

struct Cell {
  Words index;
  std::uint64_t code = 0;

  bool operator==(const Cell&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Cell& cell) {
    return out << Catch::StringMaker<Words>::convert(cell.index) << " = " << cell.code;
  }
};

Bytes coo_record(DType dtype, const Words& dims, const std::vector<Cell>& cells) {
  std::vector<Words> indices;
  Words codes;
  for (const Cell& cell : cells) {
    indices.push_back(cell.index);
    codes.push_back(cell.code);
  }
  return bytes::coo(dtype, dims, indices, bytes::pack(btf::info(dtype).bits, codes));
}

std::uint64_t product(const Words& dims) {
  std::uint64_t all = 1;
  for (const std::uint64_t dim : dims) all *= dim;
  return all;
}

std::uint64_t number(const Words& dims, const Words& index) {
  std::uint64_t all = 0;
  for (std::size_t d = 0; d < dims.size(); ++d) all = all * dims[d] + index[d];
  return all;
}

// Row-major, absent cells 0; of cells that occur twice the last.
Bytes dense_record(DType dtype, const Words& dims, const std::vector<Cell>& cells) {
  Words codes(product(dims), 0);
  for (const Cell& cell : cells) codes[number(dims, cell.index)] = cell.code;
  return bytes::dense(dtype, Layout::linear, dims, bytes::pack(btf::info(dtype).bits, codes));
}

// The entries as they stand in the file.
std::vector<Cell> stored_cells(const std::string& path, std::uint64_t tensor = 0) {
  const TensorFile file = bytes::open(path);
  const TensorInfo info = file.tensor(tensor).value();
  if (!info.coo) throw std::runtime_error("not COO");
  const Bytes all = read_file(path);
  const auto load = [&](std::uint64_t at, unsigned count) {
    std::uint64_t value = 0;
    std::memcpy(&value, all.data() + at, count);
    return value;
  };
  const unsigned bits = btf::info(*info.dtype).bits;
  std::vector<Cell> cells(info.coo->nnz);
  for (std::uint64_t k = 0; k < cells.size(); ++k) {
    for (std::size_t d = 0; d < info.dims.size(); ++d)
      cells[k].index.push_back(load(info.coo->indices_offset + 8 * (k * info.dims.size() + d), 8));
    cells[k].code = bits == 4 ? load(info.coo->values_offset + k / 2, 1) >> (k % 2 * 4) & 0xf
                              : load(info.coo->values_offset + k * (bits / 8), bits / 8);
  }
  return cells;
}

// Every converted file is removed with the scratch directory.
class Converter {
 public:
  // The path of the result, or the error.
  btf::Result<std::string> run(const std::vector<Bytes>& records, const ConvertOptions& options) {
    const std::string in = bytes::save(scratch_, "in.btf", bytes::file(records));
    const std::string out = scratch_ / "out" + std::to_string(++count_) + ".btf";
    const TensorFile file = bytes::open(in);
    const auto size = btf::convert(file, out, options);
    if (!size) {
      CHECK_FALSE(std::filesystem::exists(out));
      return std::unexpected(size.error());
    }
    CHECK(std::filesystem::file_size(out) == *size);
    return out;
  }

  Bytes bytes_of(const std::vector<Bytes>& records, const ConvertOptions& options) {
    const auto path = run(records, options);
    if (!path) throw std::runtime_error(path.error().text());
    return read_file(*path);
  }

  const ScratchDir& scratch() const { return scratch_; }

 private:
  ScratchDir scratch_;
  int count_ = 0;
};

std::vector<Cell> random_cells(const Words& dims, std::uint64_t count, unsigned bits,
                               Random& random) {
  std::vector<Cell> cells;
  for (std::uint64_t k = 0; k < count; ++k) {
    Cell cell;
    for (const std::uint64_t dim : dims) cell.index.push_back(random.below(dim));
    cell.code = bits == 64 ? random.next() : random.below(1ULL << bits);
    cells.push_back(cell);
  }
  return cells;
}

// No cell twice.
std::vector<Cell> random_set(const Words& dims, std::uint64_t count, unsigned bits,
                             Random& random) {
  std::map<std::uint64_t, Cell> by_number;
  for (Cell& cell : random_cells(dims, count, bits, random))
    by_number[number(dims, cell.index)] = cell;
  std::vector<Cell> cells;
  for (auto& [at, cell] : by_number) cells.push_back(cell);
  for (std::size_t i = cells.size(); i > 1; --i) std::swap(cells[i - 1], cells[random.below(i)]);
  return cells;
}

std::vector<CooEntry> drain(CooSource& source) {
  std::vector<CooEntry> all;
  for (;;) {
    const auto run = source.next_run();
    if (!run) throw std::runtime_error(run.error().text());
    if (run->count == 0) return all;
    for (std::uint64_t i = 0; i < run->count; ++i) all.push_back((*run)[i]);
  }
}

ConvertOptions to_layout(Layout layout) {
  ConvertOptions options;
  options.layout = layout;
  return options;
}

class TmpDir {
 public:
  explicit TmpDir(const std::string& path) {
    if (const char* old = std::getenv("TMPDIR")) old_ = old;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TmpDir() { old_ ? ::setenv("TMPDIR", old_->c_str(), 1) : ::unsetenv("TMPDIR"); }

 private:
  std::optional<std::string> old_;
};

}  // namespace

TEST_CASE("coo: sorting in any memory is a stable sort") {
  const ScratchDir scratch;
  const ScratchDir spool;
  const TmpDir tmp(spool / "");
  const Words dims{50, 7, 11};
  Random random(1);
  for (const std::uint64_t count : {0U, 1U, 2U, 63U, 64U, 65U, 128U, 129U, 5000U, 20000U}) {
    const auto cells = random_cells(dims, count, 16, random);
    const std::string path =
        bytes::save(scratch, "f.btf", bytes::file({coo_record(DType::uint16, dims, cells)}));
    const TensorFile file = bytes::open(path);
    const TensorInfo info = file.tensor(0).value();
    std::vector<CooEntry> expected;
    for (std::uint64_t k = 0; k < count; ++k)
      expected.push_back({number(dims, cells[k].index), k, cells[k].code});
    std::ranges::sort(expected, {},
                      [](const CooEntry& entry) { return std::pair(entry.key, entry.position); });
    const auto key = [&](std::span<const std::uint64_t> index) {
      return btf::linear_key(dims, index);
    };
    // 1536 bytes are the least: 64 entries a run, so 313 runs of 20000.
    for (const std::uint64_t memory : {0U, 1536U, 4000U, 100'000U, 1U << 25}) {
      CAPTURE(count, memory);
      auto sorted = btf::sorted_entries(file.source(), info, key, {.memory = memory});
      REQUIRE(sorted);
      CHECK(drain(**sorted) == expected);
      CHECK((*sorted)->next_run()->count == 0);
      REQUIRE((*sorted)->rewind());
      REQUIRE((*sorted)->next_run());
      REQUIRE((*sorted)->rewind());
      CHECK(drain(**sorted) == expected);
      CHECK(spool.names().empty());
    }
  }
}

TEST_CASE("coo: runs come whole up to an index out of range, and then the error") {
  const ScratchDir scratch;
  Random random(4);
  for (const DType dtype : {DType::float32, DType::int4}) {
    const unsigned bits = btf::info(dtype).bits;
    for (const std::uint64_t bad : {0U, 1U, 2U, 4999U, 10922U, 10923U, 29999U}) {
      CAPTURE(btf::info(dtype).name, bad);
      const Words dims{100'000, 3};
      auto cells = random_cells(dims, 30'000, bits, random);
      cells[bad].index[1] = 3;
      const TensorFile file =
          bytes::open(bytes::save(scratch, "f.btf", bytes::file({coo_record(dtype, dims, cells)})));
      const TensorInfo info = file.tensor(0).value();
      const auto entries = btf::file_entries(file.source(), info, btf::row_major_key({100'000, 3}));
      std::uint64_t wrong = 0;
      std::uint64_t seen = 0;
      auto run = entries->next_run();
      for (; run && run->count > 0; run = entries->next_run())
        for (std::uint64_t i = 0; i < run->count; ++i, ++seen)
          wrong += (*run)[i] != CooEntry{number(dims, cells[seen].index), seen, cells[seen].code};
      CHECK(wrong == 0);
      CHECK(seen == bad);
      REQUIRE_FALSE(run);
      const std::string text =
          "COO entry " + std::to_string(bad) + " has index 3 in dim 1 of size 3";
      CHECK(run.error().message.find(text) != std::string::npos);
      for (const unsigned jobs : {1U, 2U}) {
        const auto sorted = btf::sorted_entries(file.source(), info,
                                                btf::row_major_key({100'000, 3}), {.jobs = jobs});
        REQUIRE_FALSE(sorted);
        CHECK(sorted.error().message.find(text) != std::string::npos);
      }
    }
  }
}

TEST_CASE("coo: any range of keys of a record that is in order") {
  const ScratchDir scratch;
  Random random(5);
  const Words dims{500, 1000};
  for (const DType dtype : {DType::uint16, DType::uint4}) {
    auto cells = random_cells(dims, 200'001, btf::info(dtype).bits, random);
    std::ranges::sort(cells, {}, [&](const Cell& cell) { return number(dims, cell.index); });
    const TensorFile file =
        bytes::open(bytes::save(scratch, "f.btf", bytes::file({coo_record(dtype, dims, cells)})));
    const TensorInfo info = file.tensor(0).value();
    const auto record =
        btf::CooRecord::open(file.source(), info, btf::row_major_key({500, 1000}), {.jobs = 2})
            .value();
    REQUIRE(record.marks().size() == 4);
    std::vector<std::uint64_t> ends(record.marks().begin(), record.marks().end());
    for (const std::uint64_t mark : record.marks()) {
      ends.push_back(mark + 1);
      ends.push_back(mark - 1);
    }
    for (int i = 0; i < 6; ++i) ends.push_back(random.below(500'000));
    ends.push_back(500'000);
    std::ranges::sort(ends);
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const std::uint64_t first = ends[i];
      const std::uint64_t end = ends[i + 1 + random.below(ends.size() - i - 1)];
      CAPTURE(first, end);
      std::vector<CooEntry> expected;
      for (std::uint64_t k = 0; k < cells.size(); ++k) {
        const std::uint64_t key = number(dims, cells[k].index);
        if (key >= first && key < end) expected.push_back({key, k, cells[k].code});
      }
      const auto entries = record.entries({first, end}).value();
      CHECK((drain(*entries) == expected));
      REQUIRE(entries->rewind());
      CHECK((drain(*entries) == expected));
    }
  }
}

TEST_CASE("coo: indices that occur often and far apart in the runs") {
  const ScratchDir scratch;
  Random random(6);
  const Words dims{5000};
  for (const std::uint64_t entries : {0U, 1U, 2U, 30'000U}) {
    auto cells = random_cells(dims, entries, 16, random);
    // One index for more entries than a run has.
    for (std::uint64_t k = 0; k < entries / 2; ++k) cells[k].index[0] = 77;
    std::ranges::sort(cells, {}, [](const Cell& cell) { return cell.index[0]; });
    const TensorFile file = bytes::open(
        bytes::save(scratch, "f.btf", bytes::file({coo_record(DType::uint16, dims, cells)})));
    for (const Duplicates rule : {Duplicates::first, Duplicates::last}) {
      std::vector<CooEntry> expected;
      for (std::uint64_t k = 0; k < cells.size(); ++k) {
        if (!expected.empty() && expected.back().key == cells[k].index[0]) {
          if (rule == Duplicates::last) expected.back().code = cells[k].code;
        } else {
          expected.push_back({cells[k].index[0], k, cells[k].code});
        }
      }
      const auto canonical = btf::canonical_entries(
          btf::sorted_entries(file.source(), file.tensor(0).value(), btf::row_major_key({5000}), {})
              .value(),
          rule);
      CHECK((drain(*canonical) == expected));
      REQUIRE(canonical->rewind());
      CHECK((drain(*canonical) == expected));
    }
  }
}

TEST_CASE("coo: sorting that finds no room for its temporary file is an error") {
  const ScratchDir scratch;
  const TmpDir tmp(scratch / "no/such/directory");
  Random random(2);
  const Words dims{1000};
  const TensorFile file = bytes::open(bytes::save(
      scratch, "f.btf",
      bytes::file({coo_record(DType::int8, dims, random_cells(dims, 200, 8, random))})));
  const auto sorted = btf::sorted_entries(
      file.source(), file.tensor(0).value(),
      [](std::span<const std::uint64_t> index) { return index[0]; }, {.memory = 0});
  REQUIRE_FALSE(sorted);
  CHECK(sorted.error().code == ErrorCode::io);
  CHECK(said(sorted.error()).find("no/such/directory") != std::string::npos);
}

TEST_CASE("coo: canonical output is sorted, with explicit zeros, whatever the memory") {
  Converter converter;
  Random random(3);
  for (const DType dtype : {DType::float32, DType::int4, DType::boolean, DType::float64}) {
    const Words dims{9, 31, 8};
    auto cells = random_set(dims, 1501, btf::info(dtype).bits, random);
    for (std::size_t k = 0; k < cells.size(); k += 5) cells[k].code = 0;
    auto sorted = cells;
    std::ranges::sort(sorted, {}, [&](const Cell& cell) { return number(dims, cell.index); });
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
        auto& [index, codes] = by_number[number(dims, cell.index)];
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
        auto& [index, codes] = by_number[number(dims, cell.index)];
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

TEST_CASE("coo: an index outside its dim is an error wherever the data is used") {
  const ScratchDir scratch;
  for (const Words& index : {Words{4, 0}, Words{0, 3}, Words{~0ULL, 0}, Words{0, 1ULL << 63}}) {
    CAPTURE(index);
    const Bytes record = coo_record(DType::int8, {4, 3}, {{{0, 0}, 1}, {index, 2}});
    Converter converter;
    for (const Layout layout : {Layout::coo, Layout::linear}) {
      const auto path = converter.run({record}, to_layout(layout));
      REQUIRE_FALSE(path);
      CHECK(path.error().code == ErrorCode::malformed);
      CHECK(path.error().finding == "coo-index-out-of-range");
      CHECK(path.error().offset == 16 + 32 + 16 + 16 + (index[0] < 4 ? 8 : 0));
    }
    const TensorFile file = bytes::open(bytes::save(scratch, "f.btf", bytes::file({record})));
    CHECK(btf::stats(file, file.tensor(0).value()).error().finding == "coo-index-out-of-range");
    CHECK(btf::diff(file, file, {}, {}).error().finding == "coo-index-out-of-range");
  }
}

TEST_CASE("coo: to any layout is the same as by way of dense") {
  Converter converter;
  Random random(5);
  for (const DType dtype : {DType::int8, DType::float16, DType::float32}) {
    const Words dims{2, 3, 3, 4, 9};
    const auto cells = random_set(dims, 300, btf::info(dtype).bits, random);
    const Bytes sparse = coo_record(dtype, dims, cells);
    const Bytes dense = dense_record(dtype, dims, cells);
    for (const naive::Name& name : naive::names()) {
      CAPTURE(name.name, btf::info(dtype).name);
      const auto layout = static_cast<Layout>(name.code);
      ConvertOptions options = to_layout(layout);
      options.execution.memory = 0;
      const Bytes result = converter.bytes_of({sparse}, options);
      CHECK(result == converter.bytes_of({dense}, options));
      const unsigned element = btf::info(dtype).bits / 8;
      const Bytes stored = naive::store(naive::layout(name.name, dims, element),
                                        std::span(dense).subspan(16 + 8 * dims.size()), element);
      CHECK(result == bytes::file({bytes::dense(dtype, layout, dims, stored)}));
      // And back: only what is not zero.
      options.layout = Layout::coo;
      options.prune_zeros = true;
      CHECK(converter.bytes_of({bytes::dense(dtype, layout, dims, stored)}, options) ==
            converter.bytes_of({sparse}, options));
    }
  }
}

TEST_CASE("coo: to dense over many slabs") {
  Converter converter;
  Random random(6);
  const Words dims{3, 40, 300, 200};  // 28.8 MB of float32
  const auto cells = random_set(dims, 3000, 32, random);
  for (const Layout layout : {Layout::linear, Layout::chw32, Layout::hwc8, Layout::dla_linear}) {
    CAPTURE(btf::spec(layout).name);
    ConvertOptions options = to_layout(layout);
    options.execution.memory = 0;
    const bool same = converter.bytes_of({coo_record(DType::float32, dims, cells)}, options) ==
                      converter.bytes_of({dense_record(DType::float32, dims, cells)}, options);
    CHECK(same);
  }
}

TEST_CASE("coo: with a cast, as by way of dense") {
  Converter converter;
  Random random(7);
  const Words dims{3, 5, 7};
  const auto cells = random_set(dims, 60, 32, random);
  for (const DType dtype : {DType::int8, DType::float16, DType::float8_e4m3fn, DType::int4,
                            DType::uint64, DType::boolean}) {
    CAPTURE(btf::info(dtype).name);
    ConvertOptions options = to_layout(Layout::linear);
    options.dtype = dtype;
    const Bytes dense = converter.bytes_of({dense_record(DType::float32, dims, cells)}, options);
    CHECK(converter.bytes_of({coo_record(DType::float32, dims, cells)}, options) == dense);
    options.layout = Layout::coo;
    options.prune_zeros = true;
    CHECK(converter.bytes_of({coo_record(DType::float32, dims, cells)}, options) ==
          converter.bytes_of({dense_record(DType::float32, dims, cells)}, options));
  }
}

TEST_CASE("coo: permuted like a dense tensor") {
  Converter converter;
  Random random(8);
  const Words dims{2, 3, 5, 7};
  const auto cells = random_set(dims, 100, 16, random);
  std::vector<std::uint32_t> order{0, 1, 2, 3};
  do {
    CAPTURE(order);
    for (const Layout layout : {Layout::linear, Layout::hwc8, Layout::chw32, Layout::coo}) {
      ConvertOptions options = to_layout(layout);
      options.edits = {btf::Permute{order}};
      options.execution.memory = 0;
      options.prune_zeros = true;
      const Bytes result = converter.bytes_of({coo_record(DType::float16, dims, cells)}, options);
      CHECK(result == converter.bytes_of({dense_record(DType::float16, dims, cells)}, options));
      if (layout != Layout::linear) continue;
      Words target_dims;
      for (const std::uint32_t d : order) target_dims.push_back(dims[d]);
      auto moved = cells;
      for (Cell& cell : moved) {
        const Words index = cell.index;
        for (std::size_t d = 0; d < order.size(); ++d) cell.index[d] = index[order[d]];
      }
      CHECK(result == bytes::file({dense_record(DType::float16, target_dims, moved)}));
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("coo: from dense keeps every bit that is set") {
  Converter converter;
  const Words codes{0, 0x80000000, 0x7fc00001, 0xffc00000, 0x7fa00000,
                    1, 0x7f800000, 0,          0x3f800000};
  const Bytes dense = bytes::dense(DType::float32, Layout::linear, {3, 3}, bytes::pack(32, codes));
  const auto sparse = converter.run({dense}, to_layout(Layout::coo));
  REQUIRE(sparse);
  CHECK(stored_cells(*sparse) == std::vector<Cell>{{{0, 1}, 0x80000000},
                                                   {{0, 2}, 0x7fc00001},
                                                   {{1, 0}, 0xffc00000},
                                                   {{1, 1}, 0x7fa00000},
                                                   {{1, 2}, 1},
                                                   {{2, 0}, 0x7f800000},
                                                   {{2, 2}, 0x3f800000}});
  const TensorFile file = bytes::open(*sparse);
  const ScratchDir scratch;
  REQUIRE(btf::convert(file, scratch / "back.btf", to_layout(Layout::linear)));
  CHECK(read_file(scratch / "back.btf") == bytes::file({dense}));
}

TEST_CASE("coo: 4-bit values in odd and even numbers") {
  Converter converter;
  for (std::uint64_t count = 0; count <= 9; ++count) {
    CAPTURE(count);
    std::vector<Cell> cells;
    for (std::uint64_t k = 0; k < count; ++k) cells.push_back({{k, k % 3}, 15 - k});
    const Bytes sparse = coo_record(DType::int4, {9, 3}, cells);
    const Bytes dense = dense_record(DType::int4, {9, 3}, cells);
    CHECK(converter.bytes_of({dense}, to_layout(Layout::coo)) == bytes::file({sparse}));
    CHECK(converter.bytes_of({sparse}, to_layout(Layout::linear)) == bytes::file({dense}));
    CHECK(converter.bytes_of({sparse}, {}) == bytes::file({sparse}));
  }
  // More than one block of the reader, with an odd number at the end.
  Random random(9);
  const Words dims{300, 301};
  auto cells = random_set(dims, 60'001, 4, random);
  std::erase_if(cells, [](const Cell& cell) { return cell.code == 0; });
  if (cells.size() % 2 == 0) cells.pop_back();
  const Bytes dense = dense_record(DType::int4, dims, cells);
  CHECK(converter.bytes_of({coo_record(DType::int4, dims, cells)}, to_layout(Layout::linear)) ==
        bytes::file({dense}));
  std::ranges::sort(cells, {}, [&](const Cell& cell) { return number(dims, cell.index); });
  CHECK(converter.bytes_of({dense}, to_layout(Layout::coo)) ==
        bytes::file({coo_record(DType::int4, dims, cells)}));
}

TEST_CASE("coo: rank 0") {
  Converter converter;
  const Bytes one = coo_record(DType::float32, {}, {{{}, 0x3f800000}});
  const Bytes none = coo_record(DType::float32, {}, {});
  const Bytes dense = dense_record(DType::float32, {}, {{{}, 0x3f800000}});
  const Bytes zero = dense_record(DType::float32, {}, {});
  CHECK(converter.bytes_of({one, none}, to_layout(Layout::linear)) == bytes::file({dense, zero}));
  CHECK(converter.bytes_of({dense, zero}, to_layout(Layout::coo)) == bytes::file({one, none}));
  CHECK(converter.bytes_of({one, none}, {}) == bytes::file({one, none}));
  const auto twice = converter.run({coo_record(DType::float32, {}, {{{}, 1}, {{}, 2}})},
                                   to_layout(Layout::linear));
  REQUIRE_FALSE(twice);
  CHECK(twice.error().code == ErrorCode::refused);
}

TEST_CASE("coo: a dim of 0 and no entries") {
  Converter converter;
  for (const Words& dims : {Words{0}, Words{3, 0, 2}, Words{2, 3, 4}}) {
    CAPTURE(dims);
    const Bytes sparse = coo_record(DType::int16, dims, {});
    const Bytes dense = dense_record(DType::int16, dims, {});
    CHECK(converter.bytes_of({sparse}, to_layout(Layout::linear)) == bytes::file({dense}));
    CHECK(converter.bytes_of({dense}, to_layout(Layout::coo)) == bytes::file({sparse}));
  }
}

TEST_CASE("coo: what would not fit the disk is refused before a byte is written") {
  Converter converter;
  const std::vector<Cell> cells{{{1, 1}, 1}};
  const auto path = converter.run({coo_record(DType::float32, {1ULL << 30, 1ULL << 30}, cells)},
                                  to_layout(Layout::linear));
  REQUIRE_FALSE(path);
  CHECK(path.error().code == ErrorCode::no_space);
  const std::string text = path.error().text();
  CAPTURE(text);
  CHECK(text.find("needs " + std::to_string((1ULL << 62) + 16 + 32) + " bytes") !=
        std::string::npos);
  const std::size_t has = text.find(" has ");
  REQUIRE(has != std::string::npos);
  CHECK(std::stoull(text.substr(has + 5)) > 0);

  // Larger than any number of bytes.
  const auto larger = converter.run({coo_record(DType::float32, {1ULL << 31, 1ULL << 32}, cells)},
                                    to_layout(Layout::linear));
  REQUIRE_FALSE(larger);
  CHECK(larger.error().code == ErrorCode::no_space);
  const auto padded =
      converter.run({coo_record(DType::int8, {~0ULL / 4, 2, 2}, {})}, to_layout(Layout::hwc8));
  REQUIRE_FALSE(padded);

  // Sparse stays sparse, however large.
  CHECK(converter.bytes_of({coo_record(DType::float32, {1ULL << 31, 1ULL << 32}, cells)}, {}) ==
        bytes::file({coo_record(DType::float32, {1ULL << 31, 1ULL << 32}, cells)}));
}

TEST_CASE("coo: the golden files") {
  const std::string good = BTF_TESTDATA_DIR "/good/";
  const ScratchDir scratch;
  const auto converted = [&](const std::string& name, const ConvertOptions& options) {
    const TensorFile file = bytes::open(good + name);
    REQUIRE(btf::convert(file, scratch / "out.btf", options));
    return read_file(scratch / "out.btf");
  };
  ConvertOptions tiny;
  tiny.execution.memory = 0;
  CHECK(converted("coo_unsorted.btf", tiny) == read_file(good + "coo_unsorted.canonical.btf"));
  for (const char* name : {"coo_code1", "coo_code2"})
    CHECK(converted(name + std::string(".btf"), to_layout(Layout::linear)) ==
          read_file(good + "coo_code2.dense.btf"));
  CHECK(converted("coo_unsorted.btf", to_layout(Layout::linear)) ==
        read_file(good + "coo_unsorted.dense.btf"));
  ConvertOptions tfrt;
  tfrt.coo_code = btf::kCooCodeTfrt;
  CHECK(converted("coo_code2.btf", tfrt) == read_file(good + "coo_code1.btf"));
}
