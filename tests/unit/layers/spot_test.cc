// What recomputing elements is made of: numbers read where they are stored, and the sample of them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "btf/file.h"
#include "btf/tensor_spec.h"
#include "diff/layers/first_checks.h"
#include "diff/layers/own_error.h"
#include "diff/layers/spot_check.h"
#include "diff/layers/spots.h"
#include "network/network.h"
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

namespace {

using Outcome = btf::OwnErrorAssessment::Outcome;

const Dims kWeighed{1, 16, 4, 4};

// Numbers about 1, of which `change` makes what is dumped.
template <typename Change>
btf::OwnErrorAssessment weighed(Change change, double half_step, bool product,
                                std::optional<double> usual = std::nullopt) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<btf::SpotPoint> points;
  for (std::uint64_t number = 0; number < 256; ++number) {
    const double value = normal(random);
    const double dumped = change(number, value, normal(random));
    points.push_back({number, dumped, value, 1e-7, !(std::abs(dumped - value) <= 1e-7)});
  }
  return btf::assess_own_error(points, {kWeighed, half_step, product, usual});
}

constexpr double kFloat32Step = 0x1p-24;

}  // namespace

TEST_CASE("spot: what is small and spread is arithmetic") {
  const auto noise = [](double size) {
    return [size](std::uint64_t, double value, double chance) { return value + size * chance; };
  };
  CHECK(weighed(noise(1e-6), kFloat32Step, true).outcome == Outcome::follows);
  // As of Winograd's transformations; alone among others that have nothing like it.
  CHECK(weighed(noise(4e-5), kFloat32Step, true).outcome == Outcome::follows);
  CHECK(weighed(noise(4e-5), kFloat32Step, true, 1e-7).outcome == Outcome::coarser);
  CHECK(weighed(noise(4e-5), kFloat32Step, true, 3e-5).outcome == Outcome::follows);
  CHECK(weighed(noise(3e-3), kFloat32Step, true, 1e-7).outcome == Outcome::coarser);
  CHECK(weighed(noise(3e-3), 0x1p-8, true, 2e-3).outcome == Outcome::follows);
  CHECK(weighed(noise(3e-2), kFloat32Step, true, 1e-7).outcome == Outcome::matters);
  CHECK(weighed(noise(1e-2), kFloat32Step, true, 1e-7).outcome == Outcome::coarser);
  CHECK(weighed(noise(1.2e-2), 0x1p-8, true, 3e-3).outcome == Outcome::follows);
  // However many others are as far off: it is another model.
  CHECK(weighed(noise(0.5), kFloat32Step, true, 0.5).outcome == Outcome::matters);
}

TEST_CASE("spot: what has a structure is a fault") {
  const auto channel = [](std::uint64_t number) { return number / 16; };
  const auto dead = [&](std::uint64_t number, double value, double) {
    return channel(number) == 5 ? 0 : value;
  };
  CHECK(weighed(dead, kFloat32Step, true).outcome == Outcome::matters);
  CHECK(weighed(dead, 0x1p-8, true, 3e-3).outcome == Outcome::matters);
  const auto biased = [&](std::uint64_t number, double value, double) {
    return channel(number) == 5 ? value + 0.02 : value;
  };
  const btf::OwnErrorAssessment one = weighed(biased, kFloat32Step, true, 1e-7);
  CHECK(one.outcome == Outcome::matters);
  CHECK(one.where == "dim 1 = 5");
  const auto scaled = [](std::uint64_t, double value, double) { return 1.002 * value; };
  CHECK(weighed(scaled, kFloat32Step, true, 1e-7).where == "along the signal");
  CHECK(weighed(scaled, 0x1p-8, true, 2e-3).outcome == Outcome::follows);
  const auto moved = [](std::uint64_t, double value, double) { return value + 0.002; };
  CHECK(weighed(moved, kFloat32Step, false).where == "the same everywhere");
  const auto born = [](std::uint64_t number, double value, double) {
    return number == 9 ? std::numeric_limits<double>::quiet_NaN() : value;
  };
  CHECK(weighed(born, kFloat32Step, false).outcome == Outcome::matters);
  const auto spike = [](std::uint64_t number, double value, double) {
    return number == 9 ? value + 0.1 : value;
  };
  CHECK(weighed(spike, kFloat32Step, true, 1e-7).where == "1 of 256 by far");
  const auto tail = [](std::uint64_t number, double value, double) {
    return number >= 240 ? 0 : value;
  };
  CHECK(weighed(tail, kFloat32Step, false).where == "16 of 16 are 0");
  // What a function's tail is rounded to.
  const auto flat = [](std::uint64_t number, double value, double) {
    return number % 64 == 0 ? value + 1e-5 : value;
  };
  CHECK(weighed(flat, kFloat32Step, false).outcome == Outcome::follows);
}

TEST_CASE("spot: others of a kind tell what is usual") {
  btf::Peers peers;
  const btf::Peers::Kind narrow{"Conv 3 x 3", "Conv", "3 x 3"};
  const btf::Peers::Kind other{"Conv 1 x 1", "Conv", "1 x 1"};
  for (std::uint64_t i = 0; i < 10; ++i) peers.add(i, narrow, 1e-5 * static_cast<double>(i + 1));
  peers.add(10, other, 1e-7);
  peers.add(11, {"Softmax", "Softmax", ""}, 1e-7);
  peers.sort();
  CHECK(peers.usual(9, narrow).value() == 8e-5);  // without itself
  CHECK(peers.usual(0, narrow).value() == 9e-5);
  CHECK(peers.usual(10, other).value() == 8e-5);  // too few of its window
  CHECK(!peers.usual(11, {"Softmax", "Softmax", ""}));
}

TEST_CASE("spot: own errors tell the arithmetic of a run") {
  const auto text = [](double products, double rest, std::uint32_t bits) {
    std::vector<btf::OwnSample> layers;
    for (int i = 0; i < 5; ++i) {
      layers.push_back({.product = true, .own_error = products, .bits = bits});
      layers.push_back({.own_error = rest, .bits = bits});
    }
    return btf::arithmetic_text(layers);
  };
  CHECK(text(1e-7, 3e-8, 24) == "all in float32 (from 10 layers)");
  CHECK(text(2e-3, 3e-8, 24) ==
        "products in bfloat16, sums and the rest in float32 (from 10 layers)");
  CHECK(text(2e-4, 3e-8, 24) ==
        "products in TF32 or float16, sums and the rest in float32 (from 10 layers)");
  CHECK(text(2e-3, 2e-3, 8) == "all in bfloat16 (from 10 layers)");
  CHECK(text(3e-4, 2e-4, 11) == "all in float16 (from 10 layers)");
  std::vector<btf::OwnSample> layers;
  for (int i = 0; i < 5; ++i) {
    layers.push_back({.product = true, .window = "3 x 3", .own_error = 3e-5, .bits = 24});
    layers.push_back({.product = true, .window = "1 x 1", .own_error = 1e-7, .bits = 24});
    layers.push_back({.own_error = 3e-8, .bits = 24});
  }
  CHECK(btf::arithmetic_text(layers).starts_with("3 x 3 convolutions in float32 by way of"));
  CHECK(btf::arithmetic_text({}).empty());
}
