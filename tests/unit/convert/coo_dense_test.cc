#include <algorithm>
#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "btf/file.h"
#include "btf/inspect.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "unit/elements/coo_cases.h"

using namespace coo_cases;

namespace {

ConvertOptions to_layout(Layout layout) {
  ConvertOptions options;
  options.layout = layout;
  return options;
}

}  // namespace

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
  std::ranges::sort(cells, {}, [&](const Cell& cell) { return number_of(dims, cell.index); });
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
