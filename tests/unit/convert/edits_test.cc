// Conversions with edits of dims, to the byte.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "support/btf_bytes.h"
#include "support/naive_edits.h"
#include "support/naive_layout.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::ConvertOptions;
using btf::Dims;
using btf::DType;
using btf::Edit;
using btf::Layout;
using btf::Permute;
using btf::Reshape;
using btf::Slice;
using btf::SliceRange;
using btf::Squeeze;
using btf::Unsqueeze;
using bytes::Bytes;
using bytes::Words;

namespace {

Bytes converted(const Bytes& file, const ConvertOptions& options) {
  const ScratchDir dir;
  write_file(dir / "in", file);
  const auto input = btf::TensorFile::open(dir / "in");
  REQUIRE(input);
  const auto size = btf::convert(*input, dir / "out", options);
  INFO((size ? "" : size.error().text()));
  REQUIRE(size);
  return read_file(dir / "out");
}

std::string refusal(const Bytes& file, const ConvertOptions& options) {
  const ScratchDir dir;
  write_file(dir / "in", file);
  const auto input = btf::TensorFile::open(dir / "in");
  REQUIRE(input);
  const auto size = btf::convert(*input, dir / "out", options);
  return size ? "" : said(size.error());
}

// Elements of `width` bytes, of which none is zero.
Bytes elements_of(std::uint64_t count, std::uint64_t width, std::uint64_t seed) {
  Bytes all = random_bytes(count * width, seed);
  for (std::byte& byte : all) byte |= std::byte{1};
  return all;
}

Bytes picked(const Bytes& elements, const std::vector<std::uint64_t>& cells, std::uint64_t width) {
  Bytes all(cells.size() * width);
  for (std::size_t i = 0; i < cells.size(); ++i)
    std::memcpy(all.data() + i * width, elements.data() + cells[i] * width, width);
  return all;
}

Bytes dense(DType dtype, const naive::Name& name, const Dims& dims, const Bytes& elements) {
  const std::uint64_t width = btf::info(dtype).buffer_bytes();
  return bytes::file({bytes::dense(
      dtype, static_cast<Layout>(name.code), dims,
      naive::store(naive::layout(name.name, dims, width), elements, width))});
}

const naive::Name& linear() { return naive::names().front(); }

// Every element is an entry, in the order of its row-major number, or in a random one.
Bytes sparse(const Dims& dims, const Bytes& elements, Random* shuffle) {
  std::vector<std::uint64_t> order(elements.size() / 2);
  for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
  if (shuffle != nullptr)
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[shuffle->below(i)]);
  std::vector<Words> indices;
  for (const std::uint64_t i : order) indices.push_back(naive::index_of(dims, i));
  return bytes::file({bytes::coo(DType::uint16, dims, indices, picked(elements, order, 2))});
}

}  // namespace

TEST_CASE("edits: random chains from every layout to every layout, sparse ones too") {
  Random random(31);
  REQUIRE(linear().code == 0);
  const auto names = naive::names();
  for (int round = 0; round < 400; ++round) {
    const naive::Name& from = names[random.below(names.size())];
    const std::uint64_t channel_counts[] = {1, 3, 4, 20, 33, 64};
    const std::uint64_t channels = channel_counts[random.below(std::size(channel_counts))];
    const std::uint64_t rank = random.between(std::max<std::uint64_t>(3, from.least_rank), 5);
    if (!naive::can_hold(from, rank, channels)) continue;
    const Dims dims = naive::dims_for(from, rank, channels, random.between(1, 6));
    const std::vector<Edit> edits = naive::random_edits(random, dims);
    const naive::Edited result = naive::edited(dims, edits);
    const Bytes elements = elements_of(naive::product(dims), 2, random.next());
    const Bytes wanted = picked(elements, result.cells, 2);
    ConvertOptions options{.layout = Layout::linear, .edits = edits};
    options.execution.jobs = static_cast<unsigned>(random.between(1, 4));
    options.execution.memory = random.below(2) == 0 ? 0 : btf::Execution{}.memory;
    CAPTURE(round, from.name, dims, result.dims);
    const Bytes file = dense(DType::uint16, from, dims, elements);
    CHECK((converted(file, options) == dense(DType::uint16, linear(), result.dims, wanted)));
    CHECK((converted(sparse(dims, elements, &random), options) ==
           dense(DType::uint16, linear(), result.dims, wanted)));
    const naive::Name& to = names[random.below(names.size())];
    if (btf::resolve(static_cast<Layout>(to.code), result.dims, DType::uint16)) {
      options.layout = static_cast<Layout>(to.code);
      CHECK((converted(file, options) == dense(DType::uint16, to, result.dims, wanted)));
    }
    options.layout = Layout::coo;
    CHECK((converted(file, options) == sparse(result.dims, wanted, nullptr)));
    CHECK((converted(sparse(dims, elements, &random), options) ==
           sparse(result.dims, wanted, nullptr)));
  }
}

// Of several slabs, whose runs begin anywhere in rows, blocks and bytes.
TEST_CASE("edits: large tensors, by any number of threads") {
  const Dims dims{2, 75, 89, 101};
  const std::vector<std::vector<Edit>> chains{
      {Reshape{{150, -1}}, Permute{{1, 0}}},
      {Permute{{0, 2, 3, 1}}, Reshape{{-1}}},
      {Reshape{{2, 89, 75, 101}}},
      {Slice{{SliceRange{}, SliceRange{1, 71}}}},
      {Slice{{1, SliceRange{{}, {}, -1}, SliceRange{}, SliceRange{{}, {}, -2}}}, Unsqueeze{0}},
      {Permute{{3, 2, 1, 0}}, Reshape{{101, -1}}, Slice{{SliceRange{{}, {}, -1}}}},
  };
  const Bytes elements = elements_of(naive::product(dims), 2, 33);
  for (const std::vector<Edit>& edits : chains) {
    const naive::Edited result = naive::edited(dims, edits);
    const Bytes wanted =
        dense(DType::uint16, linear(), result.dims, picked(elements, result.cells, 2));
    for (const naive::Name& name : naive::names()) {
      if (name.code != 0 && name.code != 130 && name.code != 133 && name.code != 137) continue;
      const Bytes file = dense(DType::uint16, name, dims, elements);
      for (const unsigned jobs : {1U, 3U}) {
        ConvertOptions options{.layout = Layout::linear, .edits = edits};
        options.execution.jobs = jobs;
        options.execution.memory = jobs == 1 ? 1U << 20 : btf::Execution{}.memory;
        CAPTURE(&edits - chains.data(), name.name, jobs);
        CHECK((converted(file, options) == wanted));
      }
    }
  }
}

TEST_CASE("edits: 4-bit codes begin in the middle of bytes") {
  Random random(34);
  for (int round = 0; round < 200; ++round) {
    const Dims dims = naive::random_dims(random, random.between(1, 4), 300);
    const std::vector<Edit> edits = naive::random_edits(random, dims);
    const naive::Edited result = naive::edited(dims, edits);
    Words codes(naive::product(dims));
    for (std::uint64_t& code : codes) code = random.below(16);
    Words wanted;
    for (const std::uint64_t cell : result.cells) wanted.push_back(codes[cell]);
    CAPTURE(round, dims, result.dims);
    CHECK((converted(bytes::file({bytes::dense(DType::uint4, Layout::linear, dims,
                                               bytes::pack(4, codes))}),
                     {.edits = edits}) ==
           bytes::file({bytes::dense(DType::uint4, Layout::linear, result.dims,
                                     bytes::pack(4, wanted))})));
  }
}

TEST_CASE("edits: shuffled elements are read one by one") {
  const Dims dims{3, 70001};
  const Bytes elements = elements_of(naive::product(dims), 2, 35);
  const Bytes file = dense(DType::uint16, linear(), dims, elements);
  const Bytes shuffled = converted(file, {.layout = Layout::shuffled});
  for (const std::vector<Edit>& edits :
       {std::vector<Edit>{Slice{{1, SliceRange{65000, {}, 3}}}},
        std::vector<Edit>{Permute{{1, 0}}, Reshape{{-1}}},
        std::vector<Edit>{Slice{{SliceRange{{}, {}, -1}, SliceRange{{}, 10, -7}}}}}) {
    const naive::Edited result = naive::edited(dims, edits);
    CHECK((converted(shuffled, {.layout = Layout::linear, .edits = edits}) ==
           dense(DType::uint16, linear(), result.dims, picked(elements, result.cells, 2))));
    CHECK((converted(file, {.layout = Layout::shuffled, .edits = edits}) ==
           converted(converted(file, {.edits = edits}), {.layout = Layout::shuffled})));
  }
}

// Entries that a slice leaves out are not looked at.
TEST_CASE("edits: duplicates of COO entries count where they are kept") {
  const Bytes file = bytes::file({bytes::coo(DType::uint16, {4}, {{0}, {0}, {2}, {3}},
                                             bytes::values<std::uint16_t>({7, 8, 9, 10}))});
  const auto sliced = [](std::int64_t start, std::int64_t stop) {
    return ConvertOptions{.layout = Layout::coo, .edits = {Slice{{SliceRange{start, stop}}}}};
  };
  CHECK((converted(file, sliced(1, 4)) ==
         bytes::file({bytes::coo(DType::uint16, {3}, {{1}, {2}},
                                 bytes::values<std::uint16_t>({9, 10}))})));
  CHECK(refusal(file, sliced(0, 3)) == "tensor 0: COO entries 0 and 1 have the same index");
  ConvertOptions sum = sliced(0, 3);
  sum.duplicates = btf::Duplicates::sum;
  CHECK((converted(file, sum) ==
         bytes::file({bytes::coo(DType::uint16, {3}, {{0}, {2}},
                                 bytes::values<std::uint16_t>({15, 9}))})));
}

TEST_CASE("edits: an element that is lost is named by its place in the result") {
  const Bytes file =
      bytes::file({bytes::dense(DType::float32, Layout::linear, {2, 3},
                                bytes::values<float>({0, 1, 2, 3, 4.5F, 5}))});
  ConvertOptions options{.dtype = DType::int8,
                         .edits = {Slice{{1, SliceRange{{}, {}, -1}}}, Reshape{{3, 1}}}};
  options.policy.lossless = true;
  CHECK(refusal(file, options) == "tensor 0: element [1, 0] = 4.5 is not exact in int8");
  const Bytes coo = converted(file, {.layout = Layout::coo});
  CHECK(refusal(coo, options) == "tensor 0: element [1, 0] = 4.5 is not exact in int8");
}

TEST_CASE("edits: refused with the tensor's number") {
  const Bytes file = bytes::file(
      {bytes::dense(DType::int8, Layout::linear, {2, 3}, Bytes(6, std::byte{1}))});
  CHECK(refusal(file, {.edits = {Squeeze{{0}}}}) ==
        "tensor 0: squeeze removes dims of size 1, but dim 0 has size 2");
  CHECK(refusal(file, {.layout = Layout::hwc8, .edits = {Reshape{{6}}}}) != "");
}

TEST_CASE("edits: nothing is left") {
  const Bytes file = bytes::file(
      {bytes::dense(DType::int16, Layout::linear, {2, 3}, Bytes(12, std::byte{1}))});
  for (const Layout layout : {Layout::linear, Layout::coo}) {
    const Bytes source = converted(file, {.layout = layout});
    CHECK((converted(source, {.layout = Layout::linear, .edits = {Slice{{SliceRange{2, {}}}}}}) ==
           bytes::file({bytes::dense(DType::int16, Layout::linear, {0, 3}, {})})));
    CHECK((converted(source, {.layout = Layout::coo, .edits = {Slice{{SliceRange{2, {}}}}}}) ==
           bytes::file({bytes::coo(DType::int16, {0, 3}, {}, {})})));
  }
}
