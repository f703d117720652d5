// read_coo(): entries as the file has them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "btf/dtype.h"
#include "btf/read.h"
#include "support/btf_bytes.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "unit/elements/coo_cases.h"

using namespace coo_cases;

namespace {

struct Read {
  std::vector<std::uint64_t> indices;
  std::vector<std::byte> values;
  btf::Status status;
};

Read read(const TensorFile& file, const btf::Execution& execution = {}) {
  const TensorInfo tensor = file.tensor(0).value();
  const std::uint64_t bits = btf::info(*tensor.dtype).bits;
  Read found;
  found.indices.resize(tensor.coo->nnz * tensor.dims.size());
  found.values.resize((tensor.coo->nnz * bits + 7) / 8);
  found.status = btf::read_coo(file, tensor, found.indices, found.values, execution);
  return found;
}

}  // namespace

TEST_CASE("read_coo: entries in the order of the file, of every dtype", "[coo]") {
  const ScratchDir scratch;
  Random random(3);
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    for (const Words& dims : {Words{9}, Words{3, 5, 4}, Words{1, 1, 1, 1}}) {
      for (const std::uint64_t nnz : {0U, 1U, 2U, 37U}) {
        CAPTURE(row.name, dims, nnz);
        const auto cells = random_cells(dims, nnz, row.bits, random);
        const std::string path =
            bytes::save(scratch, "f.btf", bytes::file({coo_record(row.dtype, dims, cells)}));
        const Read found = read(bytes::open(path));
        REQUIRE(found.status);
        Words indices;
        Words codes;
        for (const Cell& cell : cells) {
          indices.insert(indices.end(), cell.index.begin(), cell.index.end());
          codes.push_back(cell.code);
        }
        CHECK(found.indices == indices);
        const Bytes packed = bytes::pack(row.bits, codes);
        REQUIRE(found.values.size() == packed.size());
        CHECK(std::equal(packed.begin(), packed.end(), found.values.begin(),
                         [](auto a, auto b) { return std::byte(a) == std::byte(b); }));
      }
    }
  }
}

TEST_CASE("read_coo: an index outside of the dims is named with its entry", "[coo]") {
  const ScratchDir scratch;
  const Words dims{3, 5};
  for (const std::uint64_t outside : {std::uint64_t{5}, UINT64_MAX}) {
    const std::vector<Cell> cells{{{2, 4}, 1}, {{0, outside}, 2}, {{1, 1}, 3}};
    const std::string path =
        bytes::save(scratch, "f.btf", bytes::file({coo_record(DType::int8, dims, cells)}));
    const Read found = read(bytes::open(path));
    REQUIRE(!found.status);
    CHECK(found.status.error().finding == "coo-index-out-of-range");
    CHECK(found.status.error().text().contains("COO entry 1 has index " + std::to_string(outside) +
                                               " in dim 1 of size 5"));
  }
}

TEST_CASE("read_coo: memory of another size, tensors without entries, a cancelled read", "[coo]") {
  const ScratchDir scratch;
  const Words dims{4};
  const std::vector<Cell> cells{{{1}, 1}, {{3}, 2}};
  const TensorFile file = bytes::open(
      bytes::save(scratch, "coo.btf", bytes::file({coo_record(DType::float32, dims, cells)})));
  const TensorInfo tensor = file.tensor(0).value();
  for (const auto& [indices, values] : {std::pair(1, 8), {3, 8}, {2, 7}, {2, 9}, {0, 0}}) {
    std::vector<std::uint64_t> numbers(static_cast<std::size_t>(indices));
    std::vector<std::byte> codes(static_cast<std::size_t>(values));
    const btf::Status status = btf::read_coo(file, tensor, numbers, codes);
    REQUIRE(!status);
    CHECK(status.error().code == ErrorCode::invalid_argument);
  }
  const TensorFile dense = bytes::open(
      bytes::save(scratch, "dense.btf", bytes::file({dense_record(DType::float32, dims, cells)})));
  const btf::Status status = btf::read_coo(dense, dense.tensor(0).value(), {}, {});
  REQUIRE(!status);
  CHECK(status.error().message.contains("not sparse"));
  const std::atomic<bool> cancel = true;
  const Read cancelled = read(file, {.cancel = &cancel});
  REQUIRE(!cancelled.status);
  CHECK(cancelled.status.error().code == ErrorCode::cancelled);
}
