#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/inspect.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "support/shapes.h"

using btf::Channels;
using btf::ChannelState;
using btf::Distribution;
using btf::DType;
using btf::Layout;
using bytes::Bytes;
using bytes::Words;
using shapes::product;

namespace {

const std::vector<double> kPercentiles{0, 0.1, 33, 50, 99.9, 100};
constexpr std::uint32_t kBins = 5;

struct Found {
  Distribution distribution;
  Channels channels;
};

template <typename T>
T value(btf::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

Found look(const Bytes& record, std::uint32_t axis, const btf::Execution& execution = {}) {
  const ScratchDir scratch;
  const auto file = bytes::open(bytes::save(scratch, "f.btf", bytes::file({record})));
  const btf::TensorInfo tensor = value(file.tensor(0));
  const btf::TensorStats stats = value(btf::stats(file, tensor, execution));
  return {value(btf::distribution(file, tensor, stats, {.percentiles = kPercentiles, .bins = kBins},
                                  execution)),
          value(btf::channel_stats(file, tensor, stats, axis, execution))};
}

std::vector<long double> finite_of(DType dtype, const Words& codes) {
  std::vector<long double> values;
  for (const std::uint64_t code : codes)
    if (const long double v = btf::test::oracle_value(dtype, code); std::isfinite(v))
      values.push_back(v);
  return values;
}

// By sorting, and by asking every edge.
void check_distribution(const Distribution& found, DType dtype, const Words& codes) {
  std::vector<long double> sorted = finite_of(dtype, codes);
  std::ranges::sort(sorted);
  if (sorted.empty()) {
    CHECK(found.percentiles.empty());
    CHECK_FALSE(found.histogram);
    return;
  }
  REQUIRE(found.percentiles.size() == kPercentiles.size());
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const double place = static_cast<double>(sorted.size() - 1) * (kPercentiles[i] / 100);
    const auto low = static_cast<std::size_t>(place);
    const auto a = static_cast<long double>(static_cast<double>(sorted[low]));
    const auto b =
        static_cast<long double>(static_cast<double>(sorted[std::min(low + 1, sorted.size() - 1)]));
    const long double wanted = a + (b - a) * (place - static_cast<double>(low));
    CAPTURE(kPercentiles[i]);
    CHECK(std::abs(found.percentiles[i] - wanted) <= 1e-15L * std::max(std::abs(a), std::abs(b)));
  }
  const auto& [edges, counts] = *found.histogram;
  REQUIRE(edges.size() == kBins + 1);
  REQUIRE(counts.size() == kBins);
  for (std::uint32_t bin = 0; bin < kBins; ++bin) {
    const auto inside = [&](long double v) {
      return (bin == 0 || v >= edges[bin]) && (bin + 1 == kBins || v < edges[bin + 1]);
    };
    CHECK(counts[bin] == static_cast<std::uint64_t>(std::ranges::count_if(sorted, inside)));
  }
}

void check_channels(const Channels& found, DType dtype, const Words& dims, const Words& codes) {
  std::uint64_t inner = 1;
  for (std::size_t d = found.axis + 1; d < dims.size(); ++d) inner *= dims[d];
  REQUIRE(found.channels.size() == dims[found.axis]);
  for (std::uint64_t c = 0; c < dims[found.axis]; ++c) {
    Words mine;
    for (std::uint64_t i = 0; i < codes.size(); ++i)
      if (i / inner % dims[found.axis] == c) mine.push_back(codes[i]);
    const std::vector<long double> values = finite_of(dtype, mine);
    const btf::ChannelStats& channel = found.channels[c];
    CAPTURE(c);
    CHECK(channel.elements == mine.size());
    CHECK(channel.finite == values.size());
    CHECK(channel.zeros == static_cast<std::uint64_t>(std::ranges::count(values, 0.0L)));
    CHECK(channel.min.has_value() == !values.empty());
    if (values.empty()) continue;
    const auto [low, high] = std::ranges::minmax(values);
    CHECK(btf::test::oracle_value(dtype, *channel.min) == low);
    CHECK(btf::test::oracle_value(dtype, *channel.max) == high);
    long double mean = 0;
    for (const long double v : values) mean += v / static_cast<long double>(values.size());
    long double squares = 0;
    for (const long double v : values)
      squares += (v - mean) / static_cast<long double>(values.size()) * (v - mean);
    const long double half = std::max(high / 2 - low / 2, std::abs(mean));
    CHECK(std::abs(*channel.mean - mean) <= 1e-12L * half);
    CHECK(std::abs(*channel.std - std::sqrt(squares)) <= 1e-9L * half);
  }
}

Words random_codes(DType dtype, std::uint64_t count, Random& random) {
  const unsigned bits = btf::info(dtype).bits;
  const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  Words codes(count);
  const std::uint64_t common = random.next() & mask;
  for (std::uint64_t& code : codes)
    code = random.below(4) == 0 ? common : random.below(4) == 0 ? 0 : random.next() & mask;
  return codes;
}

Bytes linear(DType dtype, const Words& dims, const Words& codes) {
  return bytes::dense(dtype, Layout::linear, dims, bytes::pack(btf::info(dtype).bits, codes));
}

}  // namespace

TEST_CASE("distribution: every dtype by sorting, its channels by loops") {
  Random random(1);
  for (const btf::DTypeInfo& dtype : btf::dtypes())
    for (const Words& dims : {Words{1}, Words{4, 3, 5}, Words{2, 700}}) {
      CAPTURE(dtype.name, dims);
      const Words codes = random_codes(dtype.dtype, product(dims), random);
      const auto axis = static_cast<std::uint32_t>(dims.size() - 1);
      const Found found = look(linear(dtype.dtype, dims, codes), axis);
      check_distribution(found.distribution, dtype.dtype, codes);
      check_channels(found.channels, dtype.dtype, dims, codes);
    }
}

TEST_CASE("distribution: more elements than are sorted at once, on threads, in little memory") {
  Random random(2);
  const Words dims{7, 300, 120};
  for (const DType dtype : {DType::float32, DType::float64, DType::int64, DType::bfloat16}) {
    CAPTURE(btf::info(dtype).name);
    const Words codes = random_codes(dtype, product(dims), random);
    const Bytes record = linear(dtype, dims, codes);
    const Found one = look(record, 1, {.jobs = 1});
    check_distribution(one.distribution, dtype, codes);
    check_channels(one.channels, dtype, dims, codes);
    const Found many = look(record, 1, {.jobs = 3, .memory = 1U << 20});
    CHECK(many.distribution.percentiles == one.distribution.percentiles);
    CHECK(many.distribution.histogram->counts == one.distribution.histogram->counts);
    for (std::size_t c = 0; c < one.channels.channels.size(); ++c) {
      CHECK(many.channels.channels[c].mean == one.channels.channels[c].mean);
      CHECK(many.channels.channels[c].std == one.channels.channels[c].std);
    }
  }
}

TEST_CASE("distribution: the most elements that there can be") {
  constexpr std::uint64_t kSide = 1ULL << 62;
  const Found found = look(
      bytes::coo(DType::float32, {2, kSide}, {{1, 7}, {0, 6}}, bytes::values<float>({4.0F, -2.0F})),
      0);
  CHECK(found.distribution.percentiles == std::vector<double>{-2, 0, 0, 0, 0, 4});
  CHECK(found.distribution.histogram->counts ==
        std::vector<std::uint64_t>{1, (1ULL << 63) - 2, 0, 0, 1});
  CHECK(found.channels.channels[1].zeros == kSide - 1);
  CHECK(*found.channels.channels[1].mean == Approx(std::ldexp(4.0, -62)).epsilon(1e-6));

  const ScratchDir scratch;
  const auto file = bytes::open(bytes::save(
      scratch, "f.btf",
      bytes::file({bytes::coo(DType::int8, {~0ULL}, {{~0ULL - 1}}, bytes::hex("05"))})));
  const btf::TensorInfo tensor = value(file.tensor(0));
  const btf::TensorStats stats = value(btf::stats(file, tensor));
  const Distribution all =
      value(btf::distribution(file, tensor, stats, {.percentiles = {50, 100}, .bins = 2}));
  CHECK(all.percentiles == std::vector<double>{0, 5});
  CHECK(all.histogram->counts == std::vector<std::uint64_t>{~0ULL - 1, 1});
  CHECK_FALSE(btf::channel_stats(file, tensor, stats, 0));
}

TEST_CASE("distribution: the largest doubles overflow nothing") {
  constexpr double kMax = std::numeric_limits<double>::max();
  const Found found = look(bytes::dense(DType::float64, Layout::linear, {2, 2},
                                        bytes::values<double>({-kMax, kMax, 0, kMax})),
                           0);
  CHECK(found.distribution.percentiles.back() == kMax);
  CHECK(found.distribution.histogram->counts == std::vector<std::uint64_t>{1, 0, 1, 0, 2});
  CHECK(*found.channels.channels[0].mean == 0);
  CHECK(*found.channels.channels[0].std == kMax);
}

TEST_CASE("channels: dead, saturated and neither") {
  const Found found =
      look(bytes::dense(
               DType::float32, Layout::linear, {5, 4},
               bytes::values<float>({0, 0, 0, 0, 3, 3, 3, 3, 6, 1, 6, 2, 6, 1, 2, 3, 0, 0, 0, 1})),
           0);
  CHECK(found.channels.states == std::vector{ChannelState::zero, ChannelState::constant,
                                             ChannelState::saturated, ChannelState::alive,
                                             ChannelState::alive});
  CHECK_FALSE(found.channels.greatest_of_dtype);
}

TEST_CASE("channels: the letters of dims") {
  const auto axis = [](const Words& dims, Layout layout, std::string_view word) {
    btf::TensorInfo tensor;
    tensor.dims = dims;
    tensor.layout = layout;
    const auto found = btf::find_axis(tensor, word);
    return found ? static_cast<int>(*found) : -1;
  };
  CHECK(axis({8}, Layout::linear, "C") == 0);
  CHECK(axis({2, 8}, Layout::linear, "c") == 1);
  CHECK(axis({8, 3, 3}, Layout::linear, "C") == 0);
  CHECK(axis({2, 8, 3, 3}, Layout::linear, "N") == 0);
  CHECK(axis({2, 8, 3, 3}, Layout::hwc8, "C") == 1);
  CHECK(axis({2, 8, 4, 3, 3}, Layout::linear, "C") == 1);
  CHECK(axis({2, 8, 4, 3, 3}, Layout::dhwc8, "D") == 2);
  CHECK(axis({2, 8, 4, 3, 3}, Layout::chw4, "C") == 2);
  CHECK(axis({2, 8, 4, 3, 3}, Layout::linear, "W") == 4);
  CHECK(axis({2, 8, 4, 3, 3, 3}, Layout::linear, "C") == -1);
  CHECK(axis({2, 8, 3, 3}, Layout::linear, "-1") == 3);
  CHECK(axis({2, 8, 3, 3}, Layout::linear, "-5") == -1);
  CHECK(axis({2, 8, 3, 3}, Layout::linear, "D") == -1);
  CHECK(axis({}, Layout::linear, "C") == -1);
}
