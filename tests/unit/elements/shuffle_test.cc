#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/file.h"
#include "btf/read.h"
#include "btf/write.h"
#include "elements/cast.h"
#include "kernels/move/move.h"
#include "support/btf_bytes.h"
#include "support/memory_sink.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::Dims;
using btf::DType;
using btf::Layout;
using bytes::Bytes;

namespace {

constexpr std::uint64_t kBlock = 131072;  // elements, as docs/format.md says

// docs/format.md, subscript by subscript.
Bytes shuffled(const Bytes& data, std::uint64_t width) {
  Bytes result(data.size());
  const std::uint64_t elements = data.size() / width;
  for (std::uint64_t i = 0; i < elements; ++i) {
    const std::uint64_t block = i / kBlock * kBlock;
    const std::uint64_t in_block = std::min(kBlock, elements - block);
    for (std::uint64_t k = 0; k < width; ++k)
      result[block * width + k * in_block + (i - block)] = data[i * width + k];
  }
  return result;
}

Bytes convert(const std::string& input, const ScratchDir& scratch,
              const btf::ConvertOptions& options, const std::string& name = "result.btf") {
  const auto file = bytes::open(input);
  const auto written = btf::convert(file, scratch / name, options);
  INFO((written ? "" : written.error().text()));
  REQUIRE(written);
  return read_file(scratch / name);
}

std::string refusal(const std::string& input, const btf::ConvertOptions& options,
                    const ScratchDir& scratch, const std::string& name = "refused.btf") {
  const auto file = bytes::open(input);
  const auto written = btf::convert(file, scratch / name, options);
  REQUIRE(!written);
  return said(written.error());
}

btf::ConvertOptions shuffle(bool yes = true) {
  btf::ConvertOptions options;
  options.shuffle = yes;
  return options;
}

btf::ConvertOptions to(Layout layout) {
  btf::ConvertOptions options;
  options.layout = layout;
  return options;
}

std::uint64_t product(const Dims& dims) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  return count;
}

const std::vector<Dims> kShapes{{},           {0},         {3, 0, 2},      {1},
                                {15},         {16},        {17},           {2, 3, 5},
                                {kBlock - 1}, {kBlock},    {kBlock + 1},   {3, kBlock / 2},
                                {2 * kBlock}, {7, 11, 13}, {2, 5, 99, 301}};

}  // namespace

TEST_CASE("byte planes: every count and every alignment, nothing beside them") {
  for (const std::size_t width : {1U, 2U, 4U, 8U})
    for (std::size_t count = 0; count < 70; ++count)
      for (const std::size_t shift : {0U, 1U, 5U}) {
        const Bytes elements = random_bytes(count * width, count + 1);
        const std::byte sentinel{0xa5};
        Bytes in(shift + elements.size(), sentinel);
        std::ranges::copy(elements, in.begin() + static_cast<std::ptrdiff_t>(shift));
        Bytes planes(shift + elements.size() + 16, sentinel);
        btf::split_planes(in.data() + shift, count, width, planes.data() + shift);
        Bytes expected(shift, sentinel);
        for (std::size_t k = 0; k < width; ++k)
          for (std::size_t i = 0; i < count; ++i) expected.push_back(elements[i * width + k]);
        expected.resize(planes.size(), sentinel);
        CAPTURE(width, count, shift);
        REQUIRE(planes == expected);
        std::vector<const std::byte*> starts;
        for (std::size_t k = 0; k < width; ++k) starts.push_back(planes.data() + shift + k * count);
        Bytes back(shift + elements.size() + 16, sentinel);
        btf::join_planes(starts.data(), count, width, back.data() + shift);
        in.resize(back.size(), sentinel);
        REQUIRE(back == in);
      }
}

TEST_CASE("shuffled: the bytes of a file as docs/format.md has them") {
  const Bytes file = bytes::hex(
      "01 00 00 00 00 00 00 00  10 00 00 00 00 00 00 00"
      "02 00 00 00 00 00 00 00  04 c0 00 00 00 00 00 00"
      "01 00 00 00 00 00 00 00  03 00 00 00 00 00 00 00"
      "00 00 01  00 00 02  80 00 03  3f c0 04  00 00 00 00");
  ScratchDir scratch;
  const std::string path = bytes::save(scratch, "hand.btf", file);
  const auto opened = bytes::open(path);
  const auto tensor = opened.tensor(0);
  REQUIRE(tensor);
  CHECK(tensor->layout == Layout::shuffled);
  CHECK(tensor->data_bytes == 12);
  const std::vector<Dims> indices{{0, 0}, {0, 1}, {0, 2}};
  const auto elements = btf::read_elements(opened, *tensor, indices);
  REQUIRE(elements);
  CHECK((*elements)[0].code == 0x3f800000);
  CHECK((*elements)[1].code == 0xc0000000);
  CHECK((*elements)[2].code == 0x04030201);
  CHECK((*elements)[1].offset == 0x31);
  const Bytes linear = bytes::file({bytes::dense(
      DType::float32, 0, {1, 3}, bytes::hex("00 00 80 3f  00 00 00 c0  01 02 03 04"))});
  CHECK(convert(path, scratch, to(Layout::linear)) == linear);
  CHECK(convert(path, scratch, shuffle(false)) == linear);
  CHECK(convert(path, scratch, {}) == file);
  CHECK(convert(bytes::save(scratch, "linear.btf", linear), scratch, shuffle()) == file);
  CHECK(convert(scratch / "linear.btf", scratch, to(Layout::shuffled)) == file);
  btf::ConvertOptions plain;
  plain.plain = true;
  CHECK(convert(path, scratch, plain) == linear);
}

TEST_CASE("shuffled: written in pieces of any size, front to back") {
  const std::uint64_t width = 2;
  const std::uint64_t block = kBlock * width;
  const Bytes data = random_bytes(3 * block + 10, 8);
  constexpr std::uint64_t kFirst = 5;
  Bytes expected(kFirst);
  std::ranges::copy(shuffled(data, width), std::back_inserter(expected));
  // A piece ends inside an element, at the end of a block, or in the block after the next.
  const std::uint64_t whole = data.size();
  const std::uint64_t few = 7777;
  for (const std::uint64_t piece :
       {few, block - 1, block, block + 1, 2 * block - 3, 2 * block + 1, whole}) {
    Bytes written(expected.size());
    MemorySink memory(written);
    const auto sink =
        btf::shuffling_sink(memory, kFirst, data.size(), Layout::shuffled, DType::float16);
    REQUIRE(sink);
    for (std::uint64_t at = 0; at < data.size(); at += piece) {
      const std::uint64_t size = std::min<std::uint64_t>(piece, data.size() - at);
      REQUIRE(sink->write_at(kFirst + at, std::span(data).subspan(at, size)));
    }
    INFO("pieces of " << piece);
    CHECK(written == expected);
    CHECK_FALSE(sink->write_at(kFirst + data.size(), std::span(data).first(1)));
    CHECK_FALSE(sink->write_at(kFirst, std::span(data).first(1)));
  }
}

TEST_CASE("shuffled: every dtype and shape there and back") {
  ScratchDir scratch;
  std::uint64_t seed = 1;
  for (const btf::DTypeInfo& dtype : btf::dtypes())
    for (const Dims& dims : kShapes) {
      const std::uint64_t width = dtype.buffer_bytes();
      if (dtype.bits < 8 || (width != 2 && product(dims) > 1000)) {
        if (dtype.dtype != DType::float32 && dtype.dtype != DType::float64) continue;
      }
      const Bytes data = random_bytes(product(dims) * width, ++seed);
      const Bytes linear = bytes::file({bytes::dense(dtype.dtype, 0, dims, data)});
      const Bytes expected =
          dtype.bits > 8
              ? bytes::file({bytes::dense(dtype.dtype, 192, dims, shuffled(data, width))})
              : linear;
      CAPTURE(dtype.name, dims);
      const std::string path = bytes::save(scratch, "linear.btf", linear);
      REQUIRE(convert(path, scratch, shuffle()) == expected);
      auto threads = shuffle();
      threads.execution.jobs = 3;
      REQUIRE(convert(path, scratch, threads) == expected);
      REQUIRE(convert(scratch / "result.btf", scratch, to(Layout::linear), "back.btf") == linear);
    }
}

TEST_CASE("shuffled: read in any order it is the same tensor") {
  ScratchDir scratch;
  const Dims dims{2, 5, 99, 301};  // a little more than two blocks
  const std::string linear = bytes::save(
      scratch, "linear.btf",
      bytes::file({bytes::dense(DType::bfloat16, 0, dims, random_bytes(product(dims) * 2, 7))}));
  convert(linear, scratch, shuffle(), "shuffled.btf");
  std::vector<btf::ConvertOptions> ways;
  for (const Layout layout : {Layout::hwc8, Layout::chw4, Layout::hwc, Layout::coo})
    ways.push_back(to(layout));
  ways.emplace_back().edits = {btf::Permute{{3, 1, 0, 2}}};
  ways.back().layout = Layout::linear;
  ways.emplace_back().dtype = DType::float64;
  ways.back().layout = Layout::linear;
  ways.emplace_back().dtype = DType::int8;
  for (const btf::ConvertOptions& way : ways)
    CHECK((convert(scratch / "shuffled.btf", scratch, way, "a.btf") ==
           convert(linear, scratch, way, "b.btf")));
  // From any of them back to shuffled, with a cast on the way.
  auto wide = shuffle();
  wide.dtype = DType::float32;
  const Bytes expected = convert(linear, scratch, wide, "wide.btf");
  for (const Layout layout : {Layout::hwc8, Layout::chw32, Layout::shuffled, Layout::hwc16}) {
    convert(linear, scratch, to(layout), "other.btf");
    CHECK(convert(scratch / "other.btf", scratch, wide, "again.btf") == expected);
  }
}

TEST_CASE("shuffled: single elements at the borders of blocks") {
  ScratchDir scratch;
  const std::uint64_t count = 2 * kBlock + 100;
  const Bytes data = random_bytes(count * 4, 3);
  convert(bytes::save(scratch, "linear.btf",
                      bytes::file({bytes::dense(DType::int32, 0, {count}, data)})),
          scratch, shuffle(), "shuffled.btf");
  const Bytes stored = read_file(scratch / "shuffled.btf");
  const auto file = bytes::open(scratch / "shuffled.btf");
  const auto tensor = file.tensor(0).value();
  std::vector<Dims> indices;
  for (const std::uint64_t border : {std::uint64_t{1}, kBlock, 2 * kBlock, count - 1})
    for (const std::uint64_t i : {border - 1, border, border + 1})
      if (i < count) indices.push_back({i});
  const auto elements = btf::read_elements(file, tensor, indices);
  REQUIRE(elements);
  for (std::size_t n = 0; n < indices.size(); ++n) {
    const std::uint64_t i = indices[n][0];
    const std::uint64_t in_block = i < 2 * kBlock ? kBlock : 100;
    for (unsigned k = 0; k < 4; ++k) {
      CAPTURE(i, k);
      const std::byte byte = static_cast<std::byte>((*elements)[n].code >> (8 * k));
      CHECK(byte == data[i * 4 + k]);
      CHECK(byte == stored[*(*elements)[n].offset + k * in_block]);
    }
  }
}

TEST_CASE("shuffled: what has nothing to shuffle keeps its layout") {
  ScratchDir scratch;
  const Bytes mixed = bytes::file({
      bytes::dense(DType::int8, 0, {3}, bytes::hex("01 02 03")),
      bytes::dense(DType::int4, 0, {3}, bytes::hex("21 03")),
      bytes::coo(DType::float32, {4}, {{1}}, bytes::hex("00 00 80 3f")),
      bytes::dense(DType::uint8, Layout::hwc, {1, 1, 2}, bytes::hex("01 02")),
      bytes::dense(DType::int16, Layout::hwc, {2, 1, 2}, bytes::hex("0100 0200 0300 0400")),
  });
  const std::string path = bytes::save(scratch, "mixed.btf", mixed);
  convert(path, scratch, shuffle());
  const auto file = bytes::open(scratch / "result.btf");
  const std::vector<Layout> expected{Layout::linear, Layout::linear, Layout::coo, Layout::hwc,
                                     Layout::shuffled};
  for (std::uint64_t i = 0; i < expected.size(); ++i)
    CHECK(file.tensor(i).value().layout == expected[i]);
  // [2, 1, 2] in kHWC: rows 1 2 and 3 4 are the channels of two pixels.
  const Bytes all = read_file(scratch / "result.btf");
  CHECK(Bytes(all.end() - 8, all.end()) == bytes::hex("01 03 02 04 00 00 00 00"));
  // By the layout's name COO becomes dense too.
  convert(path, scratch, to(Layout::shuffled), "by_name.btf");
  CHECK(bytes::open(scratch / "by_name.btf").tensor(2).value().layout == Layout::shuffled);
}

TEST_CASE("shuffled: what cannot be is refused") {
  ScratchDir scratch;
  const std::string path = bytes::save(
      scratch, "a.btf", bytes::file({bytes::dense(DType::int16, 0, {1, 1, 2}, Bytes(4))}));
  auto options = shuffle();
  options.plain = true;
  CHECK(refusal(path, options, scratch) == "`shuffle` and `plain` exclude each other");
  options = shuffle();
  for (const Layout layout : {Layout::hwc8, Layout::coo}) {
    options.layout = layout;
    CHECK(refusal(path, options, scratch) ==
          "`shuffle` takes elements in the order of kLINEAR, not of " +
              std::string(btf::spec(layout).name));
  }
  CHECK(refusal(path, shuffle(), scratch, "a.npy") ==
        "`shuffle` is for BTF, the output is NumPy .npy");
  CHECK(refusal(path, to(Layout::shuffled), scratch, "a.raw") ==
        "`layout` shuffled is for BTF, the output is raw bytes");
  CHECK(scratch.names() == std::vector<std::string>{"a.btf"});

  for (const DType dtype : {DType::int8, DType::int4, DType::boolean}) {
    const auto bad = btf::resolve(Layout::shuffled, Dims{2}, dtype);
    REQUIRE(!bad);
    CHECK(bad.error().finding == "layout-dtype");
  }
  const auto file = bytes::open(bytes::save(
      scratch, "bad.btf",
      bytes::file({bytes::dense(DType::uint8, 192, {2}, Bytes(2)),
                   bytes::dense(DType::float32, 192, {kBlock + 1}, Bytes(kBlock * 4))})));
  CHECK(file.tensor(0).error().finding == "layout-dtype");
  CHECK(file.tensor(1).error().finding == "data-past-end");
}

TEST_CASE("shuffled: in memory elements are whole") {
  ScratchDir scratch;
  const Bytes data = random_bytes(600, 5);
  convert(bytes::save(scratch, "linear.btf",
                      bytes::file({bytes::dense(DType::float16, 0, {300}, data)})),
          scratch, shuffle(), "shuffled.btf");
  const auto file = bytes::open(scratch / "shuffled.btf");
  const auto tensor = file.tensor(0).value();
  const auto loaded = btf::read_tensor(file, tensor);
  REQUIRE(loaded);
  CHECK(loaded->layout == Layout::linear);
  CHECK(std::ranges::equal(loaded->tensor.bytes, data));
  btf::ReadOptions options;
  options.layout = Layout::shuffled;
  const auto refused = btf::read_tensor(file, tensor, options);
  REQUIRE(!refused);
  CHECK(refused.error().code == btf::ErrorCode::unsupported);

  const btf::TensorToWrite write{.tensor = {DType::float16, loaded->tensor.storage, data},
                                 .dtype = {},
                                 .layout = Layout::shuffled};
  REQUIRE(btf::write_tensors(scratch / "written.btf", std::span(&write, 1)));
  CHECK(read_file(scratch / "written.btf") == read_file(scratch / "shuffled.btf"));
}
