#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/file.h"
#include "elements/coo_record.h"
#include "elements/elements.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/tmp_dir.h"
#include "unit/elements/coo_cases.h"

using namespace coo_cases;

using btf::CooSource;

namespace {

std::vector<CooEntry> drain(CooSource& source) {
  std::vector<CooEntry> all;
  for (;;) {
    const auto run = source.next_run();
    if (!run) throw std::runtime_error(run.error().text());
    if (run->count == 0) return all;
    for (std::uint64_t i = 0; i < run->count; ++i) all.push_back((*run)[i]);
  }
}

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
      expected.push_back({number_of(dims, cells[k].index), k, cells[k].code});
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
          wrong +=
              (*run)[i] != CooEntry{number_of(dims, cells[seen].index), seen, cells[seen].code};
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
    std::ranges::sort(cells, {}, [&](const Cell& cell) { return number_of(dims, cell.index); });
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
        const std::uint64_t key = number_of(dims, cells[k].index);
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
