#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "convert/tensor/target.h"
#include "elements/cast.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"

namespace btf::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::byte kSentinel{0xa5};
constexpr std::uint64_t kAround = 67;  // sentinels in front of a target and behind it; odd

std::uint64_t count_of(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), std::uint64_t{1}, std::multiplies<>());
}

// A layout, and where it puts every element, by other means than the library's.
struct Placed {
  std::string name;
  StridedLayout layout;
  Dims place;  // the elements in row-major order
};

Placed named(std::string_view name, Layout layout, const Dims& dims) {
  return {std::string(name) + " " + dims_text(dims), *resolve(layout, dims, DType::uint8),
          naive::layout(name, dims, 1).place};
}

// Rows `pitch` elements apart.
Placed pitched(const Dims& dims, std::uint64_t pitch) {
  Placed result{"pitched " + dims_text(dims), {}, {}};
  StridedLayout& layout = result.layout;
  layout.dims = dims;
  layout.strides = {dims[1] * pitch, pitch, 1};
  layout.axes = {{dims[0], dims[1] * pitch, 0, AxisPart::whole},
                 {dims[1], pitch, 1, AxisPart::whole},
                 {pitch, 1, 2, AxisPart::whole}};
  layout.storage_elements = dims[0] * dims[1] * pitch;
  for (std::uint64_t row = 0; row < dims[0] * dims[1]; ++row)
    for (std::uint64_t x = 0; x < dims[2]; ++x) result.place.push_back(row * pitch + x);
  return result;
}

// Rows of the last dim but one, as strides tell of them.
Placed columns(const Dims& dims) {
  Placed result{"columns " + dims_text(dims), {}, {}};
  const auto [planes, height, width] = std::array{dims[0], dims[1], dims[2]};
  result.layout =
      *resolve_strides(dims, std::array{height * width, std::uint64_t{1}, height}, DType::uint4);
  for (std::uint64_t z = 0; z < planes; ++z)
    for (std::uint64_t y = 0; y < height; ++y)
      for (std::uint64_t x = 0; x < width; ++x)
        result.place.push_back(z * height * width + x * height + y);
  return result;
}

std::vector<Placed> all_placed() {
  std::vector<Placed> all{pitched({3, 4, 5}, 8), pitched({3, 5, 5}, 7), pitched({5, 3, 6}, 9)};
  for (const Dims& dims :
       {Dims{1}, Dims{2}, Dims{3}, Dims{64}, Dims{129}, Dims{3, 5}, Dims{4, 6}, Dims{9, 2},
        Dims{1, 1, 1}, Dims{3, 5, 7}, Dims{5, 2, 9}, Dims{7, 3, 1, 5}, Dims{2, 1, 31, 3}})
    all.push_back(named("kLINEAR", Layout::linear, dims));
  for (const Dims& dims : {Dims{3, 5, 7}, Dims{9, 4, 3}, Dims{7, 7, 1}}) {
    all.push_back(named("kCHW4", Layout::chw4, dims));
    all.push_back(named("kHWC8", Layout::hwc8, dims));
    all.push_back(named("kHWC", Layout::hwc, dims));
    all.push_back(columns(dims));
  }
  return all;
}

// Two to a byte, the first one in the low half.
Bytes packed_by_hand(const Placed& target, const Bytes& codes) {
  Bytes bytes((target.layout.storage_elements + 1) / 2);
  for (std::size_t i = 0; i < codes.size(); ++i)
    bytes[target.place[i] / 2] |= codes[i] << (target.place[i] % 2 == 0 ? 0 : 4);
  return bytes;
}

Bytes packed_by_hand(const Bytes& codes) {
  Bytes bytes((codes.size() + 1) / 2);
  for (std::size_t i = 0; i < codes.size(); ++i) bytes[i / 2] |= codes[i] << (i % 2 == 0 ? 0 : 4);
  return bytes;
}

Bytes random_codes(std::uint64_t count, std::uint64_t seed) {
  Bytes codes = random_bytes(count, seed);
  for (std::byte& code : codes) code &= std::byte{15};
  return codes;
}

// Bytes with sentinels around them.
class Guarded {
 public:
  explicit Guarded(std::uint64_t bytes) : all_(kAround + bytes + kAround, kSentinel) {}

  std::span<std::byte> inside() {
    return std::span(all_).subspan(kAround, all_.size() - 2 * kAround);
  }
  std::span<std::byte> all() { return all_; }

  bool operator==(const Bytes& expected) {
    const auto untouched = [](std::span<const std::byte> around) {
      return std::ranges::all_of(around, [](std::byte byte) { return byte == kSentinel; });
    };
    return std::ranges::equal(inside(), expected) && untouched(all().first(kAround)) &&
           untouched(all().last(kAround));
  }

 private:
  Bytes all_;
};

// Counts how often a byte is written, or refuses what does not follow on what was there before.
class GuardedSink final : public ByteSink {
 public:
  GuardedSink(Guarded& target, bool random_access)
      : target_(target.all()), times_(target_.size()), random_access_(random_access) {}

  bool random_access() const override { return random_access_; }

  Status write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (!random_access_ && offset != next_) return fail(ErrorCode::io, "not the next byte");
    if (offset + bytes.size() > target_.size()) return fail(ErrorCode::io, "past the end");
    std::ranges::copy(bytes, target_.begin() + static_cast<std::ptrdiff_t>(offset));
    for (std::size_t i = 0; i < bytes.size(); ++i) ++times_[offset + i];
    if (!random_access_) next_ += bytes.size();
    return {};
  }

  Status commit() override { return {}; }

  bool wrote_once() const {
    return std::ranges::all_of(std::span(times_).subspan(kAround, times_.size() - 2 * kAround),
                               [](int times) { return times == 1; });
  }

 private:
  std::span<std::byte> target_;
  std::vector<int> times_;
  bool random_access_;
  std::uint64_t next_ = kAround;
};

void fill(const Placed& target, const Bytes& codes, const Box& box, const TargetSlab& slab) {
  StridedLayout inside;
  inside.strides = slab.mapping.strides;
  inside.split = slab.mapping.split;
  const Dims counts = box.counts();
  Dims index(counts.size(), 0);
  do {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      number = number * target.layout.dims[d] + box.lo[d] + index[d];
    slab.data[offset(inside, index)] = codes[number];
  } while (naive::next(index, counts));
}

using OpenWriter = std::function<std::unique_ptr<SlabWriter>(NibbleSeams&)>;

Status write_slab(const Placed& target, const Bytes& codes, const Box& box, SlabWriter& writer) {
  const auto slab = writer.begin(box);
  if (!slab) return std::unexpected(slab.error());
  fill(target, codes, box, *slab);
  return writer.finish();
}

// By threads, each taking what comes next.
bool write_all(const Placed& target, const Bytes& codes, const SlabGrid& grid, unsigned workers,
               const OpenWriter& open) {
  NibbleSeams seams;
  std::vector<std::unique_ptr<SlabWriter>> writers(workers);
  for (auto& writer : writers) writer = open(seams);
  return for_each_slab({}, workers, grid.count(),
                       [&](unsigned worker, std::uint64_t slab) {
                         return write_slab(target, codes, grid.box(slab), *writers[worker]);
                       })
      .has_value();
}

// By one thread, but in an order that no threads would come upon soon.
bool write_shuffled(const Placed& target, const Bytes& codes, const SlabGrid& grid,
                    std::uint64_t seed, const OpenWriter& open) {
  Random random(seed);
  std::vector<std::uint64_t> slabs(grid.count());
  std::iota(slabs.begin(), slabs.end(), std::uint64_t{0});
  for (std::size_t i = slabs.size(); i > 1; --i) std::swap(slabs[i - 1], slabs[random.below(i)]);
  NibbleSeams seams;
  std::array<std::unique_ptr<SlabWriter>, 3> writers;
  for (auto& writer : writers) writer = open(seams);
  return std::ranges::all_of(slabs, [&](std::uint64_t slab) {
    return write_slab(target, codes, grid.box(slab), *writers[random.below(writers.size())])
        .has_value();
  });
}

// How many readers a conversion opens, one for each worker.
ElementSource counting(const ElementSource& source, unsigned& opened) {
  ElementSource counted = source;
  counted.open = [open = source.open, &opened](Losses& losses) {
    ++opened;
    return open(losses);
  };
  return counted;
}

// 4-bit codes as elements of a wider type, and what they are when they are packed again.
struct Wide {
  DType from{};
  DType to{};
  Bytes elements;
};

template <typename T>
Bytes bytes_of(const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {bytes.begin(), bytes.end()};
}

std::vector<Wide> wide(const Bytes& codes) {
  constexpr std::array<float, 16> kFloat4{0,    0.5F,  1,  1.5F,  2,  3,  4,  6,
                                          -0.F, -0.5F, -1, -1.5F, -2, -3, -4, -6};
  std::vector<float> float4;
  std::vector<std::int16_t> int4;
  for (const std::byte code : codes) {
    const int value = std::to_integer<int>(code);
    float4.push_back(kFloat4[static_cast<std::size_t>(value)]);
    int4.push_back(static_cast<std::int16_t>(value < 8 ? value : value - 16));
  }
  return {{DType::float32, DType::float4_e2m1fn, bytes_of(float4)},
          {DType::int16, DType::int4, bytes_of(int4)},
          {DType::uint8, DType::uint4, codes}};
}

}  // namespace

TEST_CASE("nibbles: slabs of any size, by any number of workers and in any order") {
  std::size_t seams_in_bytes = 0;
  for (const Placed& target : all_placed()) {
    const Bytes codes = random_codes(count_of(target.layout.dims), target.place.size());
    const Bytes expected = packed_by_hand(target, codes);
    for (const std::uint64_t limit : {1U, 2U, 3U, 5U, 14U, 64U, 1000U}) {
      const SlabGrid grid = choose_slabs({&target.layout, 1}, {&target.layout, 1},
                                         {.bytes = limit, .target_contiguous = true});
      for (std::uint64_t slab = 1; slab < grid.count(); ++slab)
        seams_in_bytes += footprint(target.layout, grid.box(slab)).base % 2;
      CAPTURE(target.name, limit, grid.count());
      for (const bool stream : {false, true}) {
        const auto right = [&](const auto& write) {
          Guarded memory(expected.size());
          const bool written = write([&](NibbleSeams& seams) {
            return nibble_memory_writer(memory.inside().data(), target.layout, stream, seams);
          });
          return written && memory == expected;
        };
        for (const unsigned workers : {1U, 2U, 3U, 8U})
          if (!right([&](const OpenWriter& open) {
                return write_all(target, codes, grid, workers, open);
              })) {
            CAPTURE(stream, workers);
            CHECK(false);
          }
        for (std::uint64_t seed = 0; seed < 5; ++seed)
          if (!right([&](const OpenWriter& open) {
                return write_shuffled(target, codes, grid, seed, open);
              })) {
            CAPTURE(stream, seed);
            CHECK(false);
          }
      }
      for (const unsigned workers : {1U, 2U, 3U, 8U}) {
        Guarded file(expected.size());
        // One worker writes front to back.
        GuardedSink sink(file, workers != 1);
        const bool written = write_all(target, codes, grid, workers, [&](NibbleSeams& seams) {
          return nibble_file_writer(sink, kAround, target.layout, seams);
        });
        const bool right = written && file == expected && sink.wrote_once();
        CAPTURE(workers, written);
        if (!right) CHECK(right);
      }
    }
  }
  CHECK(seams_in_bytes > 1000);
}

TEST_CASE("nibbles: streamed in more pieces than one, wherever the target begins") {
  for (const std::uint64_t count : {32767U, 32768U, 32769U, 100001U}) {
    const Placed target = named("kLINEAR", Layout::linear, {count});
    const Bytes codes = random_codes(count, count);
    const Bytes expected = packed_by_hand(target, codes);
    for (const std::uint64_t limit : {31U * 1024U + 1U, 1U << 20}) {
      const SlabGrid grid = choose_slabs({&target.layout, 1}, {&target.layout, 1},
                                         {.bytes = limit, .target_contiguous = true});
      for (std::uint64_t shift = 0; shift < 65; shift += 13) {
        Guarded memory(shift + expected.size());
        NibbleSeams seams;
        const bool written = write_all(target, codes, grid, 2, [&](NibbleSeams& shared) {
          return nibble_memory_writer(memory.inside().data() + shift, target.layout, true, shared);
        });
        Bytes shifted(shift, kSentinel);
        shifted.insert(shifted.end(), expected.begin(), expected.end());
        CAPTURE(count, limit, shift);
        CHECK((written && memory == shifted));
      }
    }
  }
}

// Rows longer than a slab, of odd and of even lengths, and many short ones.
TEST_CASE("nibbles: conversions by any number of workers, to memory and to a sink") {
  for (const Dims& dims : {Dims{9, 250007}, Dims{4500002}, Dims{301, 77, 97}}) {
    const Bytes codes = random_codes(count_of(dims), dims.front());
    const Bytes expected = packed_by_hand(codes);
    for (const Wide& source : wide(codes)) {
      if (source.elements.size() < 4U << 20) continue;  // too small for threads
      const StridedLayout from = *resolve(Layout::linear, dims, source.from);
      const StridedLayout to = *resolve(Layout::linear, dims, source.to);
      const ElementSource elements = memory_elements({source.from, from, source.elements});
      for (const std::uint64_t memory : {std::uint64_t{0}, Execution{}.memory}) {
        for (const unsigned jobs : {1U, 2U, 3U, 8U}) {
          Execution execution;
          execution.jobs = jobs;
          execution.memory = memory;
          CAPTURE(dims, info(source.to).name, memory, jobs);
          unsigned opened = 0;
          Guarded target(expected.size());
          const auto to_memory = write_memory(counting(elements, opened), {},
                                              {source.to, to, target.inside()}, execution);
          REQUIRE(to_memory);
          CHECK((target == expected));
          CHECK(to_memory->elements == codes.size());
          CHECK(to_memory->changed() == 0);
          CHECK((opened == jobs || memory != 0));  // few slabs where there is much memory
          CHECK((opened > 1) == (jobs > 1));

          for (const bool random_access : {true, false}) {
            opened = 0;
            Guarded file(expected.size());
            GuardedSink sink(file, random_access);
            const auto to_sink = write_dense(counting(elements, opened), {}, to, source.to,
                                             execution, sink, kAround);
            REQUIRE(to_sink);
            CHECK((file == expected));
            CHECK(sink.wrote_once());
            CHECK(to_sink->elements == codes.size());
            CHECK((opened > 1) == (jobs > 1 && random_access));
          }
        }
      }
    }
  }
}

TEST_CASE("nibbles: other orders and padded layouts, by any number of workers") {
  const Dims dims{35, 211, 303};  // blocks of channels, and rows of an odd length
  const std::uint64_t count = count_of(dims);
  const Bytes codes = random_codes(count, 1);
  for (const Placed& target :
       {named("kCHW4", Layout::chw4, dims), named("kHWC8", Layout::hwc8, dims), pitched(dims, 305),
        columns(dims), named("kLINEAR", Layout::linear, dims)}) {
    const Bytes expected = packed_by_hand(target, codes);
    for (const auto& [name, layout] :
         {std::pair{"kCHW32", Layout::chw32}, std::pair{"kHWC", Layout::hwc}}) {
      const std::vector<Wide> sources = wide(codes);
      const Wide& source = sources[1];
      const Bytes stored = naive::store(naive::layout(name, dims, 2), source.elements, 2);
      const StridedLayout from = *resolve(layout, dims, source.from);
      for (const unsigned jobs : {1U, 2U, 3U, 8U}) {
        Execution execution;
        execution.jobs = jobs;
        execution.memory = 0;
        Guarded result(expected.size());
        const auto account =
            convert({source.from, from, stored},
                    MutableTensorView{source.to, target.layout, result.inside()}, {}, execution);
        CAPTURE(target.name, name, jobs);
        REQUIRE(account);
        CHECK((result == expected));
        CHECK(account->elements == count);
      }
    }
  }
}

TEST_CASE("nibbles: targets larger than the caches") {
  for (const std::uint64_t columns : {4099U, 4098U}) {
    const Dims dims{4097, columns};
    const Bytes codes = random_codes(count_of(dims), columns);
    const Bytes expected = packed_by_hand(codes);
    REQUIRE(expected.size() >= 8U << 20);
    for (const unsigned jobs : {1U, 2U, 3U, 8U}) {
      Execution execution;
      execution.jobs = jobs;
      Guarded target(expected.size());
      const auto account =
          convert({DType::uint8, *resolve(Layout::linear, dims, DType::uint8), codes},
                  MutableTensorView{DType::uint4, *resolve(Layout::linear, dims, DType::uint4),
                                    target.inside()},
                  {}, execution);
      CAPTURE(columns, jobs);
      REQUIRE(account);
      CHECK((target == expected));
    }
  }
}

}  // namespace btf::test
