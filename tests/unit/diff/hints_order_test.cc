// Elements in other places: layouts, permutations, shifts, nibbles.
#include <catch2/catch.hpp>
#include <numeric>

#include "support/hint_data.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

using Order = std::vector<std::uint32_t>;

const std::vector<DType> kTypes{DType::float32,  DType::float16, DType::int8,
                                DType::bfloat16, DType::uint16,  DType::int64};

Tensor random_tensor(DType dtype, const Words& dims, std::uint64_t seed) {
  Random random(seed);
  return tensor(dtype, dims, gaussians(product(dims), is_float(dtype) ? 1 : 40, random));
}

// Of another dtype each time.
Tensor next_tensor(const Words& dims, std::uint64_t& seed) {
  ++seed;
  return random_tensor(kTypes[seed % kTypes.size()], dims, seed);
}

std::string all_of(std::uint64_t count) {
  return ": " + std::to_string(count) + " of " + std::to_string(count) + " elements";
}

// The transposed tensor's elements, one after the other, under the tensor's own dims.
Tensor transposed(const Tensor& source, const Order& order) {
  Words dims;
  for (const std::uint32_t d : order) dims.push_back(source.dims[d]);
  return gathered(source, [&](std::uint64_t i) {
    const Words index = index_of(dims, i);
    Words from(index.size());
    for (std::size_t d = 0; d < order.size(); ++d) from[order[d]] = index[d];
    return number_of(source.dims, from);
  });
}

std::string text(const Order& order) {
  std::string all;
  for (const std::uint32_t d : order) all += (all.empty() ? "" : ", ") + std::to_string(d);
  return all;
}

// The name behind "read as ".
std::string layout_in(const std::string& hint) {
  const std::size_t at = hint.find("read as ");
  if (at == std::string::npos) return "none";
  return hint.substr(at + 8, hint.find(':', at) - at - 8);
}

Tensor rolled(const Tensor& source, std::int64_t by, bool round) {
  Tensor result = source;
  const auto count = static_cast<std::int64_t>(source.codes.size());
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = i - by;
    const bool inside = from >= 0 && from < count;
    result.codes[static_cast<std::size_t>(i)] =
        inside || round ? source.codes[static_cast<std::size_t>((from + count) % count)] : 0;
  }
  return result;
}

Tensor rolled_along(const Tensor& source, std::size_t dim, std::int64_t by, bool round) {
  Tensor result = source;
  const auto size = static_cast<std::int64_t>(source.dims[dim]);
  for (std::uint64_t i = 0; i < source.codes.size(); ++i) {
    Words index = index_of(source.dims, i);
    const std::int64_t from = static_cast<std::int64_t>(index[dim]) - by;
    index[dim] = static_cast<std::uint64_t>((from + size) % size);
    const bool inside = from >= 0 && from < size;
    result.codes[i] = inside || round ? source.codes[number_of(source.dims, index)] : 0;
  }
  return result;
}

}  // namespace

TEST_CASE("a stored array taken for another layout is found") {
  const Words dims{1, 32, 4, 16};
  for (const DType dtype : {DType::float32, DType::float16, DType::int8}) {
    const unsigned size = btf::info(dtype).bits / 8;
    const Tensor golden = random_tensor(dtype, dims, 1);
    const naive::Dims plain = naive::layout("kLINEAR", dims, size).place;
    for (const naive::Name& name : naive::names()) {
      if (!naive::can_hold(name, dims.size(), dims[1])) continue;
      const naive::Array array = naive::layout(name.name, dims, size);
      if (array.elements() != golden.codes.size() || array.place == plain) continue;
      const Bytes data = stored(std::string(name.name), golden);
      const Memory misread(dtype, dims, "kLINEAR", data);
      INFO(name.name << " " << btf::info(dtype).name);
      const std::string hint = hint_of(misread, Memory(golden));
      CHECK_THAT(hint, StartsWith("layout: actual equals golden when its bytes are read as "));
      CHECK_THAT(hint, Contains(all_of(2048)));
      CHECK(naive::layout(layout_in(hint), dims, size).place == array.place);
      // The same mistake on the other side.
      const std::string back = hint_of(Memory(golden), misread);
      CHECK_THAT(back, StartsWith("layout: "));
      CHECK_THAT(back, Contains(all_of(2048)));
    }
  }
}

TEST_CASE("a padded array taken for another layout is found") {
  const Tensor golden = random_tensor(DType::float16, {2, 5, 6, 7}, 2);
  const Bytes data = stored("kHWC8", golden);
  const Memory actual(DType::float16, golden.dims, "kCHW4", data);
  CHECK(hint_of(actual, Memory(golden)) ==
        "layout: actual equals golden when its bytes are read as kHWC8" + all_of(420));
  CHECK(hint_of(actual, Memory(golden, "kCHW32")) ==
        "layout: actual equals golden when its bytes are read as kHWC8" + all_of(420));
}

TEST_CASE("noise does not hide a layout, whether the tolerance covers it or not") {
  const Words dims{1, 8, 12, 12};
  const Tensor golden = random_tensor(DType::float32, dims, 3);
  Random random(4);
  Values values = golden.values();
  for (double& value : values) value *= 1 + 2e-7 * gaussian(random);
  const Tensor noisy = tensor(DType::float32, dims, values);
  const Memory close(DType::float32, dims, "kLINEAR", stored("kHWC", noisy));
  CHECK_THAT(hint_of(close, Memory(golden)), StartsWith("layout: ") && Contains("kHWC"));
  for (double& value : values) value += 1e-3 * gaussian(random);
  const Memory rough(DType::float32, dims, "kLINEAR",
                     stored("kHWC", tensor(DType::float32, dims, values)));
  CHECK_THAT(hint_of(rough, Memory(golden)),
             StartsWith("layout: actual equals golden when its bytes are read as kHWC, but for "
                        "noise of 0.001") &&
                 Contains(" rms: correlation 0.999999"));
  btf::DiffOptions options;
  options.tolerance.atol = 1e-2;
  CHECK_THAT(hint_of(rough, Memory(golden), options), StartsWith("layout: ") && Contains("kHWC"));
}

TEST_CASE("permuted dims are found") {
  const std::vector<Words> shapes{{12, 20},     {3, 7, 11},   {6, 6, 6},       {1, 6, 9, 10},
                                  {2, 3, 4, 5}, {1, 8, 1, 9}, {2, 3, 4, 5, 3}, {2, 3, 2, 3, 4, 2}};
  std::uint64_t seed = 10;
  for (const Words& dims : shapes) {
    Order order(dims.size());
    std::iota(order.begin(), order.end(), 0U);
    int taken = 0;
    while (std::next_permutation(order.begin(), order.end()) && taken < 40) {
      const Tensor golden = next_tensor(dims, seed);
      const Tensor actual = transposed(golden, order);
      if (actual.codes == golden.codes) continue;
      ++taken;
      INFO(btf::dims_text(dims) << " by " << text(order));
      const btf::TensorDiff diff = diff_of(actual, golden);
      REQUIRE(diff.hints.size() == 1);
      const bool named = diff.hints[0].cause == btf::Cause::layout ||
                         diff.hints[0].evidence.find("dims ") != std::string::npos;
      CHECK(named);
      CHECK_THAT(hint_of(diff), Contains(all_of(golden.codes.size())));
      if (diff.hints[0].cause == btf::Cause::permutation && std::ranges::count(dims, 1) == 0)
        CHECK_THAT(diff.hints[0].evidence, Contains("to dims " + text(order) + ":"));
    }
  }
}

TEST_CASE("channels moved are a layout") {
  const Tensor golden = random_tensor(DType::float32, {2, 3, 8, 9}, 5);
  CHECK(hint_of(transposed(golden, {0, 2, 3, 1}), golden) ==
        "layout: actual equals golden when its bytes are read as kHWC" + all_of(432));
  // Stored in a layout of its own, so that its bytes cannot tell.
  const Memory last(transposed(golden, {0, 2, 3, 1}), "kCHW4");
  CHECK(hint_of(last, Memory(golden, "kCHW4")) ==
        "layout: actual holds golden with channels last (dims 0, 2, 3, 1) under the same dims" +
            all_of(432));
  const Memory first(transposed(golden, {0, 3, 1, 2}), "kCHW4");
  CHECK(hint_of(first, Memory(golden, "kCHW32")) ==
        "layout: actual holds golden with channels first (dims 0, 3, 1, 2) under the same dims" +
            all_of(432));
}

TEST_CASE("three or four in another order are channels where they may be") {
  const std::vector<std::uint64_t> order{2, 1, 0, 3};
  const std::vector<std::pair<Words, std::string>> shapes{
      {{4, 8, 10, 4}, "channels-reversed: actual has the channels of golden, dim 3 (W),"},
      {{8, 4, 10, 4}, "shuffled: actual has the indices of golden's dim 3 (W)"},
      {{8, 1, 10, 4}, "shuffled: actual has the indices of golden's dim 3 (W)"}};
  for (const auto& [dims, words] : shapes) {
    const Tensor golden = random_tensor(DType::float32, dims, 6);
    const Tensor actual =
        gathered(golden, [&](std::uint64_t i) { return i / 4 * 4 + order[i % 4]; });
    CHECK(hint_of(actual, golden) == words + " in the order 2, 1, 0, 3" + all_of(product(dims)));
  }
}

TEST_CASE("a shift in row-major order is found") {
  std::uint64_t seed = 30;
  for (const Words& dims : {Words{1000}, Words{40, 25}, Words{1, 3, 18, 18}, Words{2, 4, 3, 5, 6}})
    for (const std::int64_t by : {1, -1, 2, 3, -7, 32, -100, 250})
      for (const bool round : {false, true}) {
        const Tensor golden = next_tensor(dims, seed);
        INFO(btf::dims_text(dims) << " by " << by << " round " << round);
        const std::string hint = hint_of(rolled(golden, by, round), golden);
        const auto count = static_cast<std::int64_t>(golden.codes.size());
        if (dims.size() == 1 || by % static_cast<std::int64_t>(dims.back()) != 0 ||
            hint.find("along") == std::string::npos)
          CHECK(hint ==
                "shift: actual is golden shifted by " + std::to_string(by) +
                    (std::abs(by) == 1 ? " element" : " elements") + " in row-major order" +
                    (round ? ", wrapping around" : "") +
                    all_of(static_cast<std::uint64_t>(round ? count : count - std::abs(by))));
      }
}

TEST_CASE("a shift along a dim is found") {
  const Words dims{2, 6, 10, 12};
  std::uint64_t seed = 60;
  for (std::size_t dim = 1; dim < dims.size(); ++dim)
    for (const std::int64_t by : {1, -1, 2, 3})
      for (const bool round : {false, true}) {
        const Tensor golden = next_tensor(dims, seed);
        const std::string hint = hint_of(rolled_along(golden, dim, by, round), golden);
        const std::string name = "dim " + std::to_string(dim) + " (" + "NCHW"[dim] + ")";
        INFO(hint);
        // Half a turn is the same either way.
        const bool half = round && 2 * by == static_cast<std::int64_t>(dims[dim]);
        if (!half)
          CHECK_THAT(hint, StartsWith("shift: actual is golden shifted by " + std::to_string(by) +
                                      " along " + name + (round ? ", wrapping around: " : ": ")));
      }
}

TEST_CASE("a shift in the stored array is found") {
  const Words dims{1, 8, 10, 10};
  const Tensor golden = random_tensor(DType::float16, dims, 90);
  Bytes data = stored("kCHW4", golden);
  std::rotate(data.begin(), data.end() - 6, data.end());
  CHECK(hint_of(Memory(DType::float16, dims, "kCHW4", data), Memory(golden, "kCHW4")) ==
        "shift: actual is golden shifted by 3 elements in the stored array, wrapping around" +
            all_of(800));
}

TEST_CASE("masks and other tensors of few values can be shifted, too") {
  Random random(91);
  const Tensor mask = tensor(DType::boolean, {40, 50}, integers(2000, 0, 1, random));
  CHECK_THAT(hint_of(rolled(mask, 5, false), mask),
             Contains("shifted by 5 elements") && Contains(all_of(1995)));
  Values sparse(3000);
  for (double& value : sparse)
    if (random.below(25) == 0) value = static_cast<double>(random.between(1, 9));
  const Tensor few = tensor(DType::int8, {3000}, sparse);
  CHECK_THAT(hint_of(rolled(few, -11, true), few),
             Contains("shifted by -11 elements") && Contains(all_of(3000)));
}

TEST_CASE("exchanged nibbles are found") {
  for (const DType dtype : {DType::int4, DType::uint4, DType::float4_e2m1fn})
    for (const Words& dims : {Words{500}, Words{7, 31}, Words{1, 4, 9, 9}}) {
      Random random(100);
      const Tensor golden = tensor(dtype, dims, integers(product(dims), 0, 6, random));
      Bytes data = stored("kLINEAR", golden);
      for (std::byte& byte : data) byte = byte << 4 | byte >> 4;
      INFO(btf::info(dtype).name << " " << btf::dims_text(dims));
      CHECK(hint_of(Memory(dtype, dims, "kLINEAR", data), Memory(golden)) ==
            "nibble-order: actual equals golden with the two nibbles of every byte exchanged" +
                all_of(golden.codes.size() / 2 * 2));
    }
  for (const DType dtype : {DType::int8, DType::uint8, DType::float8_e4m3fn}) {
    const Tensor golden = random_tensor(dtype, {30, 20}, 101);
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes) code = (code << 4 | code >> 4) & 0xff;
    CHECK(hint_of(actual, golden) ==
          "nibble-order: actual equals golden with its nibbles exchanged" + all_of(600));
  }
}

TEST_CASE("moved elements are found in data of every kind, across dtypes") {
  const Words dims{2, 8, 12, 14};
  const std::uint64_t count = product(dims);
  const std::vector<double (*)(double v, std::uint64_t i)> kinds{
      [](double v, std::uint64_t) { return v; },
      [](double v, std::uint64_t) { return std::max(v, 0.0); },
      [](double v, std::uint64_t i) { return i * 7919 % 23 == 0 ? v : 0; },
      [](double v, std::uint64_t i) { return std::sin(0.013 * static_cast<double>(i)) + 1e-3 * v; },
      [](double v, std::uint64_t) { return std::nearbyint(2 * v); },
      [](double v, std::uint64_t i) { return v * static_cast<double>(1U << (i / 168 % 8)); },
      [](double, std::uint64_t i) { return static_cast<double>(i % 1000); }};
  const std::vector<std::pair<DType, DType>> types{{DType::float32, DType::float32},
                                                   {DType::float16, DType::float32},
                                                   {DType::float32, DType::float16},
                                                   {DType::bfloat16, DType::float32},
                                                   {DType::float64, DType::float64}};
  std::uint64_t seed = 200;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    for (const auto& [actual_type, golden_type] : types) {
      Random random(++seed);
      Values values = gaussians(count, 1, random);
      for (std::uint64_t i = 0; i < count; ++i) values[i] = kinds[kind](values[i], i);
      const Tensor golden = tensor(golden_type, dims, values);
      const Tensor actual = tensor(actual_type, dims, values);
      INFO("kind " << kind << " " << btf::info(actual_type).name << " against "
                   << btf::info(golden_type).name);
      CHECK_THAT(hint_of(transposed(actual, {0, 1, 3, 2}), golden),
                 StartsWith("permutation: actual holds golden transposed to dims 0, 1, 3, 2: "));
      const Memory misread(actual_type, dims, "kLINEAR", stored("kHWC", actual));
      CHECK_THAT(hint_of(misread, Memory(golden)), StartsWith("layout: ") && Contains("kHWC"));
      CHECK_THAT(hint_of(rolled(actual, 3, true), golden),
                 StartsWith("shift: actual is golden shifted by 3 elements"));
      CHECK_THAT(hint_of(rolled_along(actual, 3, 1, true), golden),
                 StartsWith("shift: actual is golden shifted by 1 along dim 3 (W)"));
    }
}
