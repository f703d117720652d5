// What recomputing elements is made of: numbers read where they are stored, and the sample of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "btf/file.h"
#include "btf/tensor_spec.h"
#include "diff/layers/spot/ladder.h"
#include "diff/layers/spot/sample.h"
#include "network/stored.h"
#include "support/scratch_dir.h"

using btf::Dims;
using btf::network::StoredNumbers;

namespace {

constexpr std::uint64_t kChannels = 96;
constexpr std::uint64_t kRows = 50;
constexpr std::uint64_t kColumns = 70;
constexpr std::uint64_t kElements = kChannels * kRows * kColumns;

// Numbers of 16 bits, so that neighbours differ and every one is exact.
std::uint16_t number_of(std::uint64_t element) {
  return static_cast<std::uint16_t>(element * 40503);
}

std::uint64_t at(std::uint64_t channel, std::uint64_t row, std::uint64_t column) {
  return (channel * kRows + row) * kColumns + column;
}

// The file has the elements row by row, or with channels last.
StoredNumbers stored(const std::string& path, bool channels_last) {
  std::vector<std::uint16_t> codes(kElements);
  for (std::uint64_t c = 0; c < kChannels; ++c)
    for (std::uint64_t h = 0; h < kRows; ++h)
      for (std::uint64_t w = 0; w < kColumns; ++w)
        codes[channels_last ? (h * kColumns + w) * kChannels + c : at(c, h, w)] =
            number_of(at(c, h, w));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(codes.data()),
             static_cast<std::streamsize>(codes.size() * sizeof(codes[0])));
  btf::OpenOptions options;
  const std::string dims = ":1x96x50x70";
  options.spec =
      btf::parse_tensor_spec(channels_last ? "uint16" + dims + ":strides=336000,1,6720,96"
                                           : "uint16" + dims)
          .value();
  auto file = std::make_shared<const btf::TensorFile>(btf::TensorFile::open(path, options).value());
  auto tensor = file->tensor(0).value();
  return StoredNumbers::open(std::move(file), std::move(tensor)).value();
}

}  // namespace

TEST_CASE("spot checks read the numbers that are stored, in any order") {
  const ScratchDir scratch;
  for (const bool channels_last : {false, true}) {
    StoredNumbers numbers = stored(scratch / "x.raw", channels_last);
    REQUIRE(numbers.elements() == kElements);
    const auto check = [&](std::uint64_t element) {
      const auto found = numbers.at(element);
      REQUIRE(found);
      if (*found != number_of(element)) FAIL("element " << element << ": " << *found);
    };
    // Windows of 3 x 3 in all channels, as a convolution reads them; the last one ends the file.
    std::mt19937_64 random(1);
    for (int place = 0; place < 40; ++place) {
      const std::uint64_t h = place == 0 ? kRows - 3 : random() % (kRows - 2);
      const std::uint64_t w = place == 0 ? kColumns - 3 : random() % (kColumns - 2);
      for (std::uint64_t c = 0; c < kChannels; ++c)
        for (std::uint64_t tap = 0; tap < 9; ++tap) check(at(c, h + tap / 3, w + tap % 3));
    }
    for (int i = 0; i < 20'000; ++i) check(random() % kElements);
    for (std::uint64_t element = kElements; element-- > kElements - 5000;) check(element);
    for (std::uint64_t element = 0; element < kElements; element += 997) check(element);
    // Runs begin and end anywhere, in blocks that are held and in others.
    for (const std::uint64_t first :
         {std::uint64_t{0}, std::uint64_t{61}, kElements / 2 + 1, kElements - 1000}) {
      std::vector<double> run(1000);
      numbers.numbers_at(first, run);
      for (std::size_t i = 0; i < run.size(); ++i)
        if (run[i] != numbers.number_at(first + i)) FAIL(first << " + " << i);
    }
    CHECK(numbers.peak().value() == 65535);
    for (std::uint64_t element = 0; element < kElements; ++element) check(element);
  }
}

TEST_CASE("the sample of a layer: each element once, the worst first, the same each time") {
  const std::vector<std::uint64_t> worst{7, 4000, 3};
  for (const Dims& dims : {Dims{1, 256, 40, 40}, Dims{1, 3, 1000, 700}, Dims{2, 5000},
                           Dims{300'000}, Dims{1, 2, 1, 1, 90'000}, Dims{64, 1, 50, 50}}) {
    const auto sample = btf::spot_sample(dims, "conv1", worst);
    CHECK(sample.size() == btf::kSpotElements);
    CHECK(std::equal(worst.begin(), worst.end(), sample.begin()));
    CHECK(std::set<std::uint64_t>(sample.begin(), sample.end()).size() == sample.size());
    std::uint64_t elements = 1;
    for (const std::uint64_t dim : dims) elements *= dim;
    CHECK(*std::ranges::max_element(sample) < elements);
    CHECK(sample == btf::spot_sample(dims, "conv1", worst));
    CHECK(sample != btf::spot_sample(dims, "conv2", worst));
  }
  const auto all = btf::spot_sample({2, 3, 4}, "x", {23, 5});
  CHECK(all.size() == 24);
  CHECK(std::set<std::uint64_t>(all.begin(), all.end()).size() == 24);
  CHECK(all[0] == 23);
}

TEST_CASE("the sample of a layer looks into every part of its channels, at few places") {
  for (const std::uint64_t channels : {16, 64, 100, 1000}) {
    std::set<std::uint64_t> places, parts;
    for (const std::uint64_t number : btf::spot_sample({1, channels, 30, 20}, "x", {})) {
      places.insert(number % 600);
      parts.insert(number / 600 * 16 / channels);
    }
    CHECK(parts.size() == 16);
    CHECK(places.size() >= 6);
    // Where channels are few, a place costs little and there are more of them.
    if (channels >= 64) CHECK(places.size() <= 40);
  }
}

TEST_CASE("the sample of a layer looks at all channels where its worst elements are") {
  constexpr std::uint64_t kImage = 30 * 20;
  const std::vector<std::uint64_t> worst{5, 3 * kImage + 5, 40 * kImage + 7, 99 * kImage + 599};
  std::map<std::uint64_t, std::set<std::uint64_t>> channels;  // by place
  for (const std::uint64_t number : btf::spot_sample({1, 100, 30, 20}, "x", worst))
    channels[number % kImage].insert(number / kImage);
  for (const std::uint64_t place : {5U, 7U, 599U}) CHECK(channels[place].size() >= 14);
  // What is looked at anywhere else is read for that alone.
  CHECK(channels.size() <= 12);
}

TEST_CASE("the precision of a run is the finest that explains nearly all layers") {
  using btf::LevelVotes;
  CHECK_FALSE(LevelVotes{}.choose());
  CHECK(LevelVotes{.layers = 20, .follow = {20, 20, 20, 20, 20}}.choose() == 0U);
  CHECK(LevelVotes{.layers = 20, .follow = {2, 3, 19, 20, 20}}.choose() == 2U);
  CHECK(LevelVotes{.layers = 20, .follow = {2, 2, 2, 2, 20}}.choose() == 4U);
  // A few that only codes explain are faults.
  CHECK(LevelVotes{.layers = 20, .follow = {2, 3, 18, 18, 20}}.choose() == 2U);
  CHECK_FALSE(LevelVotes{.layers = 20, .follow = {1, 1, 1, 2, 3}}.choose());
  CHECK(btf::first_level(btf::DType::float16) == 2);
  CHECK(btf::first_level(btf::DType::bfloat16) == 3);
  CHECK(btf::first_level(btf::DType::float32) == 0);
  CHECK(btf::level_of(btf::DType::int8) == 4);
}
