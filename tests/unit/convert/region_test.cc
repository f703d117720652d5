// Boxes of tensors in files: the elements are those of the whole tensor, and little else is read.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "btf/read.h"
#include "formats/io/byte_source.h"
#include "formats/tensor_file.h"
#include "support/btf_bytes.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"
#include "support/shapes.h"

using btf::DimRange;
using btf::Dims;
using btf::DType;
using btf::Layout;
using btf::ReadOptions;
using bytes::Bytes;
using bytes::Words;
using Region = std::vector<DimRange>;

namespace {

// The region by trying every index of every dim.
struct Picked {
  Dims dims;
  std::vector<std::uint64_t> cells;  // row-major numbers in the whole tensor
};

Picked picked(const Dims& dims, const Region& region) {
  Picked result;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::uint64_t count = 0;
    for (std::uint64_t i = region[d].begin; i < region[d].end.value_or(dims[d]);
         i += region[d].step)
      ++count;
    result.dims.push_back(count);
  }
  for (std::uint64_t i = 0; i < shapes::product(dims); ++i) {
    const Dims index = shapes::index_of(dims, i);
    bool inside = true;
    for (std::size_t d = 0; d < dims.size(); ++d)
      inside = inside && index[d] >= region[d].begin &&
               index[d] < region[d].end.value_or(dims[d]) &&
               (index[d] - region[d].begin) % region[d].step == 0;
    if (inside) result.cells.push_back(i);
  }
  return result;
}

Bytes gathered(std::span<const std::byte> elements, const Picked& box, std::uint64_t width) {
  Bytes all(box.cells.size() * width);
  for (std::size_t i = 0; i < box.cells.size(); ++i)
    std::memcpy(all.data() + i * width, elements.data() + box.cells[i] * width, width);
  return all;
}

Words nibbles(std::span<const std::byte> packed, std::uint64_t count) {
  Words codes;
  for (std::uint64_t i = 0; i < count; ++i)
    codes.push_back(std::to_integer<std::uint64_t>(packed[i / 2]) >> (i % 2 * 4) & 15);
  return codes;
}

// Of the whole tensor in row-major order, as the file would have it.
Bytes gathered(std::span<const std::byte> whole, const Dims& dims, const Picked& box, DType dtype) {
  const unsigned bits = btf::info(dtype).bits;
  if (bits >= 8) return gathered(whole, box, bits / 8);
  const Words codes = nibbles(whole, shapes::product(dims));
  Words some;
  for (const std::uint64_t cell : box.cells) some.push_back(codes[cell]);
  return bytes::pack(4, some);
}

std::vector<DimRange> ranges_of(std::uint64_t dim) {
  std::vector<DimRange> all;
  for (std::uint64_t begin = 0; begin <= dim; ++begin)
    for (std::uint64_t end = begin; end <= dim; ++end)
      for (std::uint64_t step = 1; step <= std::max<std::uint64_t>(1, end - begin); ++step)
        all.push_back({begin, end, step});
  return all;
}

DimRange random_range(Random& random, std::uint64_t dim) {
  DimRange range;
  range.begin = random.below(dim + 1);
  if (random.below(3) > 0) range.end = random.between(range.begin, dim);
  constexpr std::uint64_t kSteps[] = {1, 1, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33};
  range.step = kSteps[random.below(std::size(kSteps))];
  return range;
}

Region random_region(Random& random, const Dims& dims) {
  Region region;
  for (const std::uint64_t dim : dims)
    region.push_back(random.below(4) == 0 ? DimRange{} : random_range(random, dim));
  return region;
}

// Bytes that were asked for.
using Tally = std::atomic<std::uint64_t>;

class CountingSource final : public btf::ByteSource {
 public:
  CountingSource(Bytes bytes, Tally& read) : bytes_(std::move(bytes)), read_(read) {}

  std::uint64_t size() const override { return bytes_.size(); }
  btf::Status read_at(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      return btf::fail(btf::ErrorCode::io, "past the end");
    read_ += out.size();
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }
  btf::Status check_unchanged() const override { return {}; }

 private:
  Bytes bytes_;
  Tally& read_;
};

btf::TensorFile counted(Bytes content, const std::string& name, Tally& read) {
  auto source = btf::unpacked_source(
      name, std::make_unique<CountingSource>(std::move(content), read), std::nullopt);
  REQUIRE(source);
  auto file = btf::TensorFile::open(*std::move(source), name);
  INFO((file ? "" : file.error().text()));
  REQUIRE(file);
  return *std::move(file);
}

btf::TensorFile in_memory(Bytes content) {
  static Tally none;
  return counted(std::move(content), "in.btf", none);
}

Bytes read(const btf::TensorFile& file, const ReadOptions& options, std::uint64_t index = 0) {
  const auto tensor = file.tensor(index);
  REQUIRE(tensor);
  const auto shape = btf::read_shape(*tensor, options);
  INFO((shape ? "" : shape.error().text()));
  REQUIRE(shape);
  const auto loaded = btf::read_tensor(file, *tensor, options);
  INFO((loaded ? "" : loaded.error().text()));
  REQUIRE(loaded);
  CHECK(loaded->tensor.storage.dims == shape->storage.dims);
  return {loaded->tensor.bytes.begin(), loaded->tensor.bytes.end()};
}

ReadOptions alone(Region region) {
  ReadOptions options{.region = std::move(region)};
  options.execution.jobs = 1;
  return options;
}

Bytes floats_of(const Bytes& numbers) {
  std::vector<float> all;
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    std::uint16_t number = 0;
    std::memcpy(&number, numbers.data() + i, 2);
    all.push_back(number);
  }
  return bytes::values(all);
}

Bytes uint16_elements(std::uint64_t count, std::uint64_t seed) {
  Bytes all = random_bytes(2 * count, seed);
  for (std::byte& byte : all) byte |= std::byte{1};  // none is 0, which is padding
  return all;
}

Bytes dense(const naive::Name& name, const Dims& dims, const Bytes& elements) {
  return bytes::file({bytes::dense(DType::uint16, static_cast<Layout>(name.code), dims,
                                   naive::store(naive::layout(name.name, dims, 2), elements, 2))});
}

Bytes sparse(DType dtype, const Dims& dims, const Bytes& stream,
             const std::vector<std::uint64_t>& order) {
  std::vector<Words> indices;
  indices.reserve(order.size());
  for (const std::uint64_t cell : order) indices.push_back(shapes::index_of(dims, cell));
  return bytes::file({bytes::coo(dtype, dims, indices, stream)});
}

}  // namespace

TEST_CASE("region: every box of a small tensor, of every layout") {
  for (const naive::Name& name : naive::names()) {
    for (const std::uint64_t channels : {3U, 4U}) {
      const std::size_t rank = std::max<std::size_t>(3, name.least_rank);
      if (!naive::can_hold(name, rank, channels)) continue;
      Dims dims(rank, 1);
      dims[rank - name.channel_from_end] = channels;
      dims[rank - 1] = 2;
      if (name.channel_from_end != 2) dims[rank - 2] = 2;
      const Bytes elements = uint16_elements(shapes::product(dims), channels);
      const btf::TensorFile file = in_memory(dense(name, dims, elements));
      std::vector<std::vector<DimRange>> all;
      std::uint64_t boxes = 1;
      for (const std::uint64_t dim : dims) {
        all.push_back(ranges_of(dim));
        boxes *= all.back().size();
      }
      bool right = true;
      for (std::uint64_t i = 0; i < boxes; ++i) {
        Region region;
        std::uint64_t left = i;
        for (const std::vector<DimRange>& ranges : all) {
          region.push_back(ranges[left % ranges.size()]);
          left /= ranges.size();
        }
        const Picked box = picked(dims, region);
        ReadOptions options = alone(region);
        options.layout = Layout::linear;
        right = right && read(file, options) == gathered(elements, box, 2);
      }
      CAPTURE(name.name, channels);
      CHECK(right);
    }
  }
}

TEST_CASE("region: every range of channels, across blocks of lanes") {
  for (const naive::Name& name : naive::names()) {
    for (const std::uint64_t channels : {4U, 37U}) {
      const std::size_t rank = std::max<std::size_t>(3, name.least_rank);
      if (!naive::can_hold(name, rank, channels)) continue;
      const Dims dims = naive::dims_for(name, rank, channels, 3);
      const Bytes elements = uint16_elements(shapes::product(dims), channels);
      const btf::TensorFile file = in_memory(dense(name, dims, elements));
      bool right = true;
      for (const DimRange& range : ranges_of(channels)) {
        if (range.step > 5 && range.step != 8 && range.step != 16) continue;
        Region region(rank);
        region[rank - name.channel_from_end] = range;
        ReadOptions options = alone(region);
        options.layout = Layout::linear;
        right = right && read(file, options) == gathered(elements, picked(dims, region), 2);
      }
      CAPTURE(name.name, channels);
      CHECK(right);
    }
  }
}

TEST_CASE("region: random boxes from every layout to every layout and another dtype") {
  Random random(71);
  const auto names = naive::names();
  for (int round = 0; round < 1500; ++round) {
    const naive::Name& from = names[random.below(names.size())];
    const naive::Name& to = names[random.below(names.size())];
    constexpr std::uint64_t kChannels[] = {1, 3, 4, 20, 33, 70};
    const std::uint64_t channels = kChannels[random.below(std::size(kChannels))];
    const std::uint64_t rank = random.between(std::max<std::uint64_t>(3, from.least_rank), 5);
    if (!naive::can_hold(from, rank, channels)) continue;
    const Dims dims = naive::dims_for(from, rank, channels, random.between(1, 9));
    const Bytes elements = uint16_elements(shapes::product(dims), random.next());
    const Region region = random_region(random, dims);
    const Picked box = picked(dims, region);
    const btf::TensorFile file = in_memory(dense(from, dims, elements));
    ReadOptions options{.region = region, .layout = static_cast<Layout>(to.code)};
    options.execution.jobs = static_cast<unsigned>(random.between(1, 3));
    options.execution.memory = random.below(2) == 0 ? 0 : btf::Execution{}.memory;
    CAPTURE(round, from.name, to.name, dims, box.dims);
    if (!btf::resolve(*options.layout, box.dims, DType::float32)) continue;
    const Bytes wanted = gathered(elements, box, 2);
    CHECK((read(file, options) == naive::store(naive::layout(to.name, box.dims, 2), wanted, 2)));
    options.dtype = DType::float32;
    CHECK((read(file, options) ==
           naive::store(naive::layout(to.name, box.dims, 4), floats_of(wanted), 4)));
  }
}

TEST_CASE("region: every dtype to every dtype is the whole tensor's part") {
  Random random(72);
  const Dims dims{3, 5, 7};
  for (std::size_t f = 0; f < btf::dtypes().size(); ++f) {
    const DType from = btf::dtypes()[f].dtype;
    Bytes elements = random_bytes(btf::info(from).bits * shapes::product(dims) / 8 + 1, f);
    elements.resize((btf::info(from).bits * shapes::product(dims) + 7) / 8);
    const btf::TensorFile file =
        in_memory(bytes::file({bytes::dense(from, Layout::linear, dims, elements)}));
    for (const btf::DTypeInfo& to : btf::dtypes()) {
      const Region region = random_region(random, dims);
      ReadOptions options = alone({});
      options.dtype = to.dtype;
      const Bytes whole = read(file, options);
      options.region = region;
      CAPTURE(btf::info(from).name, to.name);
      CHECK((read(file, options) == gathered(whole, dims, picked(dims, region), to.dtype)));
    }
  }
}

TEST_CASE("region: 4-bit codes from any nibble to any nibble") {
  const Dims dims{4, 5};
  Words codes(20);
  std::iota(codes.begin(), codes.end(), 0U);
  for (std::uint64_t& code : codes) code = code * 7 % 16;
  const Bytes packed = bytes::pack(4, codes);
  const btf::TensorFile file =
      in_memory(bytes::file({bytes::dense(DType::uint4, Layout::linear, dims, packed)}));
  bool right = true;
  for (const DimRange& rows : ranges_of(4))
    for (const DimRange& columns : ranges_of(5)) {
      const Region region{rows, columns};
      right = right && read(file, alone(region)) ==
                           gathered(packed, dims, picked(dims, region), DType::uint4);
    }
  CHECK(right);
}

TEST_CASE("region: of sparse tensors, in order and not") {
  Random random(73);
  for (int round = 0; round < 300; ++round) {
    const Dims dims{random.between(1, 6), random.between(1, 9), random.between(1, 9)};
    const std::uint64_t count = shapes::product(dims);
    const Bytes elements = uint16_elements(count, random.next());
    Bytes whole(2 * count);
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < count; ++i)
      if (random.below(3) > 0) order.push_back(i);
    if (round % 2 == 1)
      for (std::size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.below(i)]);
    Bytes stream;
    for (const std::uint64_t cell : order)
      for (std::size_t k = 2 * cell; k < 2 * cell + 2; ++k) {
        stream.push_back(elements[k]);
        whole[k] = elements[k];
      }
    const btf::TensorFile file = in_memory(sparse(DType::uint16, dims, stream, order));
    const Region region = random_region(random, dims);
    const Picked box = picked(dims, region);
    CAPTURE(round, dims, box.dims);
    CHECK((read(file, alone(region)) == gathered(whole, box, 2)));
    ReadOptions options = alone(region);
    options.layout = Layout::hwc8;
    options.duplicates = btf::Duplicates::sum;
    CHECK((read(file, options) ==
           naive::store(naive::layout("kHWC8", box.dims, 2), gathered(whole, box, 2), 2)));
  }
}

// Entries between two marks of which none is wanted are left out, and those behind still count.
TEST_CASE("region: of a sparse tensor of many entries, the indices and little else is read") {
  const Dims dims{500, 1000};
  std::vector<std::uint64_t> order(400'000);
  std::iota(order.begin(), order.end(), 1000U);
  const Bytes stream = random_bytes(8 * order.size(), 5);
  const Region region{{300, 302}, {10, 900, 3}};
  const Picked box = picked(dims, region);
  Bytes whole(8 * shapes::product(dims));
  std::ranges::copy(stream, whole.begin() + 8000);
  const Bytes wanted = gathered(whole, box, 8);
  Bytes shuffled_stream = stream;
  for (const bool shuffled : {false, true}) {
    if (shuffled) {  // two entries, far from the box and in it
      std::swap(order[10], order[300'000]);
      std::swap_ranges(shuffled_stream.begin() + 80, shuffled_stream.begin() + 88,
                       shuffled_stream.begin() + 2'400'000);
    }
    Tally read_bytes = 0;
    const btf::TensorFile file =
        counted(sparse(DType::float64, dims, shuffled ? shuffled_stream : stream, order), "in.btf",
                read_bytes);
    ReadOptions options = alone(region);
    const std::uint64_t before = read_bytes;
    CHECK((read(file, options) == wanted));
    const std::uint64_t indices = 16 * order.size();
    const std::uint64_t one_stretch = 65536 * (16 + 8);
    CHECK(read_bytes - before < indices + (shuffled ? 3 : 2) * one_stretch);
  }
}

TEST_CASE("region: of files of every format is part of the whole tensor") {
  Random random(74);
  std::uint64_t tensors = 0;
  std::vector<std::string> formats;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(BTF_TESTDATA_DIR)) {
    const std::string path = entry.path().string();
    if (!entry.is_regular_file() || path.find("bad") != std::string::npos) continue;
    const auto file = btf::TensorFile::open(path);
    if (!file) continue;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(file->tensor_count(), 40); ++i) {
      auto tensor = file->tensor(i);
      if (!tensor) continue;
      if (const auto numbers = file->dequantized(i); numbers && *numbers) tensor = **numbers;
      if (!tensor->known() || tensor->dims.empty() || shapes::product(tensor->dims) > 100'000)
        continue;
      ReadOptions options = alone({});
      options.layout = Layout::linear;
      const auto whole = btf::read_tensor(*file, *tensor, options);
      if (!whole) continue;
      for (int round = 0; round < 4; ++round) {
        options.region = random_region(random, tensor->dims);
        const auto part = btf::read_tensor(*file, *tensor, options);
        CAPTURE(path, i, tensor->dims);
        INFO((part ? "" : part.error().text()));
        REQUIRE(part);
        CHECK((Bytes(part->tensor.bytes.begin(), part->tensor.bytes.end()) ==
               gathered(whole->tensor.bytes, tensor->dims, picked(tensor->dims, options.region),
                        whole->tensor.dtype)));
      }
      ++tensors;
      if (std::ranges::find(formats, file->format()) == formats.end())
        formats.emplace_back(file->format());
    }
  }
  CHECK(tensors > 500);
  CAPTURE(formats);
  CHECK(formats.size() >= 8);
}

TEST_CASE("region: a small box of a large file reads little of it") {
  const ScratchDir scratch;
  const Dims dims{4, 64, 128, 128};
  const Bytes elements = random_bytes(4 * shapes::product(dims), 9);
  const std::string linear =
      bytes::save(scratch, "linear.btf",
                  bytes::file({bytes::dense(DType::uint32, Layout::linear, dims, elements)}));
  const Region region{{2, 3}, {30, 37}, {100, 110, 3}, {50, 62}};
  const Bytes wanted = gathered(elements, picked(dims, region), 4);
  struct Row {
    std::string name;
    btf::ConvertOptions options;
    std::uint64_t most;  // bytes
  };
  btf::ConvertOptions seekable;
  seekable.compression = 3;
  btf::ConvertOptions shuffled{.layout = Layout::shuffled};
  btf::ConvertOptions vectors;
  vectors.layout = Layout::chw32;
  btf::ConvertOptions packed = vectors;
  packed.compression = 3;
  btf::ConvertOptions pixels;
  pixels.layout = Layout::hwc8;
  const std::vector<Row> rows{
      {"a.btf", {}, 100'000},
      {"b.btf", vectors, 200'000},
      {"c.btf", pixels, 200'000},
      {"d.btf", shuffled, 1'600'000},
      {"e.btf.zst", seekable, 3'200'000},
      {"f.btf.zst", packed, 3'200'000},
      {"a.npy", {}, 100'000},
      {"a.npz", {}, 200'000},
      {"a.safetensors", {}, 100'000},
      {"a.pb", {}, 100'000},
      {"a.params", {}, 100'000},
      {"a.npy.zst", seekable, 3'200'000},
  };
  const btf::TensorFile input = bytes::open(linear);
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const auto size = btf::convert(input, scratch / row.name, row.options);
    INFO((size ? "" : size.error().text()));
    REQUIRE(size);
    Tally read_bytes = 0;
    const btf::TensorFile file = counted(read_file(scratch / row.name), row.name, read_bytes);
    ReadOptions options = alone(region);
    options.layout = Layout::linear;
    CHECK((read(file, options) == wanted));
    CHECK(read_bytes < row.most);  // of 16 MiB, the header among them
  }
}

TEST_CASE("region: into strides of the caller") {
  const Dims dims{5, 6};
  const Bytes elements = uint16_elements(30, 3);
  const btf::TensorFile file =
      in_memory(bytes::file({bytes::dense(DType::uint16, Layout::linear, dims, elements)}));
  const auto tensor = file.tensor(0);
  REQUIRE(tensor);
  const Region region{{1, 5, 2}, {2, 4}};
  const auto storage = btf::resolve_strides(Dims{2, 2}, Dims{1, 5}, DType::uint16);
  REQUIRE(storage);
  Bytes memory(btf::storage_bytes(*storage, DType::uint16));
  REQUIRE(btf::read_tensor_into(file, *tensor, {DType::uint16, *storage, memory}, alone(region)));
  const Bytes wanted = gathered(elements, picked(dims, region), 2);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(std::memcmp(memory.data() + 2 * (i / 2 + i % 2 * 5), wanted.data() + 2 * i, 2) == 0);
  const auto other = btf::read_tensor_into(file, *tensor, {DType::uint16, *storage, memory},
                                           alone({{0, 1}, {0, 2}}));
  REQUIRE_FALSE(other);
  CHECK(said(other.error()) == "tensor 0: the region has dims [1, 2], the target [2, 2]");
}

TEST_CASE("region: what is no box") {
  const btf::TensorFile file = in_memory(
      bytes::file({bytes::dense(DType::int8, Layout::linear, {2, 3}, Bytes(6, std::byte{1})),
                   bytes::dense(DType::int8, Layout::linear, {}, Bytes(1, std::byte{1})),
                   bytes::coo(DType::int8, {UINT64_MAX, 1}, {{4, 0}}, Bytes(1, std::byte{1}))}));
  const auto refusal = [&](const Region& region, std::uint64_t index = 0) {
    const auto tensor = file.tensor(index);
    REQUIRE(tensor);
    const auto loaded = btf::read_tensor(file, *tensor, alone(region));
    return loaded ? "" : said(loaded.error());
  };
  CHECK(refusal({{0, 2}}) == "tensor 0: the region has 1 dims, the tensor has rank 2");
  CHECK(refusal({{}}, 1) == "tensor 1: the region has 1 dims, the tensor has rank 0");
  CHECK(refusal({{0, 2}, {2, 1}}) == "tensor 0: region, dim 1: begin 2 is beyond end 1");
  CHECK(refusal({{3}, {}}) == "tensor 0: region, dim 0: begin 3 is beyond end 2");
  CHECK(refusal({{}, {0, 4}}) == "tensor 0: region, dim 1: end 4 is beyond its size 3");
  CHECK(refusal({{}, {0, UINT64_MAX}}) ==
        "tensor 0: region, dim 1: end 18446744073709551615 is beyond its size 3");
  CHECK(refusal({{}, {0, 3, 0}}) == "tensor 0: region, dim 1: the step is 0");
  CHECK(refusal({{4, 5}, {}}, 2) ==
        "tensor 2: region, dim 0: a size of 2^63 and more is not supported");
  CHECK(refusal({{2, 2}, {0, 3, UINT64_MAX}}).empty());
}
