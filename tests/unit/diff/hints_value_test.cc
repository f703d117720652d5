// Elements that became something else: byte order, dtypes, scale, offset, sign, limits, rounding.
#include <catch2/catch.hpp>

#include "support/hint_data.h"

using namespace hint_data;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;

namespace {

const std::vector<Words> kShapes{{800}, {25, 32}, {1, 8, 10, 10}, {2, 4, 5, 4, 5}};

std::string all_of(std::uint64_t count) {
  return ": " + std::to_string(count) + " of " + std::to_string(count) + " elements";
}

double size_for(DType dtype) {
  if (is_float(dtype)) return 1;
  return btf::info(dtype).bits <= 8 ? 35 : 3000;
}

Tensor random_tensor(DType dtype, const Words& dims, std::uint64_t seed) {
  Random random(seed);
  return tensor(dtype, dims, gaussians(product(dims), size_for(dtype), random));
}

std::uint64_t reversed(std::uint64_t code, unsigned bits) {
  std::uint64_t result = 0;
  for (unsigned i = 0; i < bits / 8; ++i) result = result << 8 | (code >> (8 * i) & 0xff);
  return result;
}

template <typename Map>
Tensor mapped(const Tensor& source, Map&& map) {
  Values values = source.values();
  for (double& value : values) value = map(value);
  return tensor(source.dtype, source.dims, values);
}

// Codes of one dtype under the name of another.
Tensor relabelled(const Tensor& source, DType dtype) {
  Tensor result = source;
  result.dtype = dtype;
  return result;
}

}  // namespace

TEST_CASE("reversed bytes are found") {
  std::uint64_t seed = 1;
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    if (row.bits < 16) continue;
    for (const Words& dims : kShapes) {
      const Tensor golden = random_tensor(row.dtype, dims, ++seed);
      Tensor actual = golden;
      for (std::uint64_t& code : actual.codes) code = reversed(code, row.bits);
      INFO(row.name);
      CHECK(hint_of(actual, golden) ==
            "byte-order: actual equals golden with its bytes reversed" + all_of(800));
    }
  }
  const Tensor golden = random_tensor(DType::float32, {800}, 2);
  Tensor halves = golden;
  for (std::uint64_t& code : halves.codes) code = (code >> 16 | code << 16) & 0xffffffff;
  CHECK(hint_of(halves, golden) ==
        "byte-order: actual equals golden with its halves exchanged" + all_of(800));
}

TEST_CASE("bits read as another dtype are found") {
  int pairs = 0;
  for (const btf::DTypeInfo& is : btf::dtypes())
    for (const btf::DTypeInfo& as : btf::dtypes()) {
      if (is.bits != as.bits || is.dtype == as.dtype || is.dtype == DType::boolean ||
          as.dtype == DType::boolean)
        continue;
      const Tensor golden = random_tensor(is.dtype, {1, 8, 10, 10}, 5);
      const Tensor actual = relabelled(golden, as.dtype);
      const btf::TensorDiff diff = diff_of(actual, golden);
      if (diff.mismatched == 0) continue;
      ++pairs;
      INFO(is.name << " as " << as.name << ": " << hint_of(diff));
      const std::string bits(as.name);
      CHECK_THAT(hint_of(diff), StartsWith("dtype-misread: "));
      CHECK_THAT(hint_of(diff),
                 Contains(std::string(is.name)) && Contains(bits) && Contains(all_of(800)));
    }
  CHECK(pairs > 40);
}

TEST_CASE("bits that were read as another dtype and then cast are found") {
  const Tensor half = random_tensor(DType::float16, {800}, 6);
  const Tensor wrong = tensor(DType::float32, {800}, relabelled(half, DType::bfloat16).values());
  const Tensor right = tensor(DType::float32, {800}, half.values());
  CHECK(hint_of(wrong, right) ==
        "dtype-misread: actual equals golden when its bfloat16 bits are read as float16" +
            all_of(800));
  CHECK(hint_of(right, wrong) ==
        "dtype-misread: actual equals golden when its float16 bits are read as bfloat16" +
            all_of(800));
  const Tensor byte = random_tensor(DType::int8, {25, 32}, 7);
  const Tensor odd = tensor(DType::float32, {25, 32}, relabelled(byte, DType::uint8).values());
  CHECK(hint_of(odd, tensor(DType::float32, {25, 32}, byte.values())) ==
        "dtype-misread: actual equals golden when its uint8 bits are read as int8" + all_of(800));
}

TEST_CASE("a constant scale is found") {
  struct Scale {
    double value;
    std::string text;
  };
  const std::vector<Scale> scales{{2, "2"},
                                  {0.5, "0.5 (1/2)"},
                                  {1 / 255.0, "0.00392157 (1/255)"},
                                  {255, "255"},
                                  {1 / 127.0, "0.00787402 (1/127)"},
                                  {-2, "-2"},
                                  {1.25, "1.25"},
                                  {0.0625, "0.0625 (1/16)"},
                                  {3.7, "3.7"},
                                  {0.9, "0.9"}};
  std::uint64_t seed = 20;
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16})
    for (const Scale& scale : scales) {
      const Words& dims = kShapes[++seed % kShapes.size()];
      const Tensor golden = random_tensor(dtype, dims, seed);
      const Tensor actual = mapped(golden, [&](double v) { return v * scale.value; });
      INFO(btf::info(dtype).name);
      CHECK_THAT(hint_of(actual, golden),
                 StartsWith("scale: actual = " + scale.text + " * golden: "));
    }
}

TEST_CASE("a scale of integers is found, rounded and cut off as they are") {
  const Tensor golden = random_tensor(DType::int32, {800}, 30);
  CHECK_THAT(hint_of(mapped(golden, [](double v) { return v * 3; }), golden),
             StartsWith("scale: actual = 3 * golden"));
  CHECK_THAT(hint_of(mapped(golden, [](double v) { return std::trunc(v * 0.3); }), golden),
             StartsWith("scale: actual = 0.3 * golden"));
  const Tensor bytes = random_tensor(DType::int8, {800}, 31);
  CHECK_THAT(hint_of(mapped(bytes, [](double v) { return v * 2; }), bytes),
             StartsWith("scale: actual = 2 * golden"));
  // Pixels from 0 to 255 against 0 to 1.
  Random random(32);
  const Tensor pixels = tensor(DType::uint8, {1, 3, 16, 16}, integers(768, 0, 255, random));
  Values unit = pixels.values();
  for (double& value : unit) value /= 255;
  CHECK(hint_of(tensor(DType::float32, pixels.dims, unit), pixels) ==
        "scale: actual = 0.00392157 (1/255) * golden" + all_of(768) + ", residual 1.24e-08 rms");
  CHECK_THAT(hint_of(pixels, tensor(DType::float32, pixels.dims, unit)),
             StartsWith("scale: actual = 255 * golden" + all_of(768)));
}

TEST_CASE("noise that the tolerance covers does not hide a scale") {
  Random random(33);
  const Tensor golden = random_tensor(DType::float32, {800}, 34);
  const Tensor actual =
      mapped(golden, [&](double v) { return v * 2 * (1 + 1e-3 * gaussian(random)); });
  btf::DiffOptions options;
  options.tolerance.rtol = 1e-2;
  CHECK_THAT(hint_of(actual, golden, options), StartsWith("scale: actual = 2 * golden"));
  CHECK_THAT(hint_of(actual, golden), StartsWith("scale: actual = 2 * golden"));
}

TEST_CASE("a constant offset is found") {
  std::uint64_t seed = 40;
  for (const DType dtype : {DType::float32, DType::float64, DType::float16, DType::int32,
                            DType::int16, DType::int64, DType::uint16, DType::int8})
    for (const double by : {1.0, -3.0, 10.0}) {
      const Words& dims = kShapes[++seed % kShapes.size()];
      const Tensor golden = random_tensor(dtype, dims, seed);
      const Tensor actual = mapped(golden, [&](double v) { return v + by; });
      INFO(btf::info(dtype).name << " " << by);
      CHECK_THAT(hint_of(actual, golden),
                 StartsWith("offset: actual = golden " + std::string(by < 0 ? "- " : "+ ") +
                            std::to_string(static_cast<int>(std::abs(by))) + ": "));
    }
  const Tensor golden = random_tensor(DType::float32, {800}, 41);
  CHECK_THAT(hint_of(mapped(golden, [](double v) { return v - 0.125; }), golden),
             StartsWith("offset: actual = golden - 0.125: "));
}

TEST_CASE("a law that holds nearly says for how many elements it holds") {
  Random random(45);
  const Words dims{4096};
  const Tensor golden = tensor(DType::int32, dims, gaussians(4096, 3000, random));
  std::uint64_t exact = 0;
  const Tensor off = mapped(golden, [&](double v) {
    const bool more = random.below(100) < 37;
    exact += more ? 0 : 1;
    return v + 100 + (more ? 1 : 0);
  });
  CHECK(hint_of(off, golden) == "offset: actual = golden + 100: " + std::to_string(exact) +
                                    " of 4096 elements, " + std::to_string(4096 - exact) +
                                    " more within 1 of it, residual 0.619 rms");
  CHECK(std::abs(std::sqrt(static_cast<double>(4096 - exact) / 4096) - 0.619) < 0.0005);
  const Tensor floats = tensor(DType::float32, dims, gaussians(4096, 1, random));
  std::uint64_t left = 0;
  const Tensor scaled = mapped(floats, [&](double v) { return v * (left++ % 4 == 0 ? 2.01 : 2); });
  const std::string text = hint_of(scaled, floats);
  CHECK_THAT(text, StartsWith("scale: actual = 2 * golden: 3072 of 4096 elements, 1024 more within "
                              "0.5") &&
                       Contains("% of it"));
}

TEST_CASE("a flipped sign is found") {
  std::uint64_t seed = 50;
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::int64,
                            DType::float8_e4m3fn, DType::float8_e5m2})
    for (const Words& dims : kShapes) {
      const Tensor golden = random_tensor(dtype, dims, ++seed);
      const Tensor actual = mapped(golden, [](double v) { return -v; });
      INFO(btf::info(dtype).name);
      CHECK_THAT(hint_of(actual, golden), StartsWith("sign: actual = -golden: "));
    }
}

TEST_CASE("numbers cut off at a limit are found") {
  Random random(60);
  const Values wide = gaussians(4000, 100, random);
  const Tensor golden = tensor(DType::int16, {4000}, wide);
  CHECK_THAT(hint_of(tensor(DType::int8, {4000}, golden.values()), golden),
             StartsWith("saturation: ") && Contains("int8's limits, -128 or 127"));
  const Tensor positive = mapped(golden, [](double v) { return std::abs(v); });
  CHECK_THAT(hint_of(tensor(DType::int8, {4000}, positive.values()), positive),
             StartsWith("saturation: ") && Contains("int8's largest, 127,"));
  CHECK_THAT(hint_of(mapped(golden, [](double v) { return std::max(v, 0.0); }), golden),
             StartsWith("saturation: ") && Contains("negative numbers were cut off"));
  const Tensor floats = tensor(DType::float32, {4000}, wide);
  CHECK_THAT(hint_of(mapped(floats, [](double v) { return std::clamp(v, -150.0, 150.0); }), floats),
             StartsWith("saturation: ") && Contains("-150 or 150"));
  // What is beyond 448 saturates; what was rounded on the way is covered.
  const Tensor fp8 = tensor(DType::float32, {4000}, gaussians(4000, 200, random));
  btf::DiffOptions close;
  close.tolerance.close = true;
  CHECK_THAT(hint_of(tensor(DType::float8_e4m3fn, {4000}, fp8.values()), fp8, close),
             StartsWith("saturation: ") && Contains("float8_e4m3fn's limits, -448 or 448"));
}

TEST_CASE("a cut at 6, 7 or 30 is not that of a dtype, unless it is there") {
  Random random(64);
  const Tensor golden = tensor(DType::float32, {4096}, gaussians(4096, 5, random));
  const auto cut = [&](double low, double high) {
    return mapped(golden, [=](double v) { return std::clamp(v, low, high); });
  };
  for (const Tensor& actual :
       {cut(-99, 6), cut(0, 6), cut(-99, 7), cut(-8, 7), cut(-6, 6), cut(0, 15), cut(-9, 9)}) {
    const std::string text = hint_of(actual, golden);
    CHECK_THAT(text, StartsWith("saturation: ") && !Contains("int4") && !Contains("float4"));
  }
  const Tensor wider = tensor(DType::float32, {4096}, gaussians(4096, 20, random));
  for (const double limit : {15.5, 30.0}) {
    const Tensor actual = mapped(wider, [=](double v) { return std::clamp(v, -limit, limit); });
    CHECK_THAT(hint_of(actual, wider), StartsWith("saturation: ") && !Contains("float8"));
  }
  btf::DiffOptions close;
  close.tolerance.close = true;
  CHECK_THAT(hint_of(tensor(DType::float8_e3m4, {4096}, wider.values()), wider, close),
             Contains("float8_e3m4's limits, -15.5 or 15.5"));
  CHECK_THAT(hint_of(cut(-99, 6), golden), Contains(" have actual at 6, where golden is above it"));
  const Values whole = integers(4096, -20, 20, random);
  CHECK_THAT(hint_of(tensor(DType::int4, {4096}, whole), tensor(DType::int8, {4096}, whole)),
             Contains("have actual at int4's limits, -8 or 7, where golden is beyond"));
}

TEST_CASE("golden at the limit of its dtype is found") {
  Random random(65);
  const Values wide = gaussians(4096, 100, random);
  const Tensor bytes = tensor(DType::int8, {4096}, wide);
  const Tensor exact = tensor(DType::int16, {4096}, wide);
  CHECK_THAT(hint_of(exact, bytes),
             Contains(" have golden at int8's limits, -128 or 127, where actual is beyond"));
  Values counting(1000);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<double>(i);
  CHECK_THAT(hint_of(tensor(DType::float32, {1000}, counting),
                     tensor(DType::float8_e4m3fn, {1000}, counting)),
             Contains(" have golden at float8_e4m3fn's largest, 448, where actual is above it"));
}

TEST_CASE("numbers that became Inf are found") {
  Random random(61);
  Values values = gaussians(5000, 25000, random);
  const Tensor golden = tensor(DType::float32, {5000}, values);
  btf::DiffOptions close;
  close.tolerance.close = true;
  const btf::TensorDiff diff =
      diff_of(tensor(DType::float16, {5000}, golden.values()), golden, close);
  CHECK(hint_of(diff) == "saturation: " + std::to_string(diff.mismatched) +
                             " mismatches have actual Inf where golden is beyond float16's "
                             "largest, 65504");
  // Three of many are enough.
  values = gaussians(5000, 1, random);
  values[17] = 70000;
  values[1000] = -1e6;
  values[4321] = 123456;
  const Tensor few = tensor(DType::float32, {5000}, values);
  CHECK_THAT(hint_of(tensor(DType::float16, {5000}, few.values()), few, close),
             StartsWith("saturation: 3 mismatches have actual Inf"));
}

TEST_CASE("NaN where golden is Inf tells of no dtype that neither side has") {
  Random random(79);
  Values values = gaussians(4000, 1, random);
  Values lost = values;
  for (const std::size_t i : {5U, 600U, 1700U, 2900U, 3999U}) {
    values[i] = HUGE_VAL;
    lost[i] = NAN;
  }
  const Tensor golden = tensor(DType::float32, {4000}, values);
  CHECK_THAT(hint_of(tensor(DType::float32, {4000}, lost), golden), !Contains("float8"));
  CHECK_THAT(hint_of(tensor(DType::float16, {4000}, lost), golden), !Contains("float8"));
  // It has no Inf itself.
  CHECK_THAT(hint_of(tensor(DType::float8_e4m3fn, {4000}, lost), golden),
             StartsWith("saturation: 5 mismatches have actual NaN"));
}

TEST_CASE("numbers that went through a narrower dtype are found") {
  for (const DType through : {DType::bfloat16, DType::float16, DType::float8_e4m3fn,
                              DType::float8_e5m2, DType::float4_e2m1fn, DType::float8_e3m4}) {
    const Tensor golden = random_tensor(DType::float32, {1, 8, 10, 10}, 69);
    const Tensor actual =
        mapped(golden, [&](double v) { return value_of(through, code_of(through, v)); });
    CHECK(hint_of(actual, golden) == "rounding: actual is golden rounded to " +
                                         std::string(btf::info(through).name) + all_of(800));
  }
  // Counting up, where the numbers that a dtype does not hold are places, too.
  Values counting(4096);
  for (std::size_t i = 0; i < counting.size(); ++i) counting[i] = static_cast<double>(i);
  const Tensor golden = tensor(DType::float32, {64, 64}, counting);
  CHECK(hint_of(
            mapped(golden,
                   [](double v) { return value_of(DType::bfloat16, code_of(DType::bfloat16, v)); }),
            golden) == "rounding: actual is golden rounded to bfloat16" + all_of(4096));
}

TEST_CASE("where the dtypes differ and every number is rounded, that is said") {
  Random random(68);
  Values counting(4096);
  Values waves(4096);
  for (std::size_t i = 0; i < counting.size(); ++i) {
    counting[i] = static_cast<double>(i);
    waves[i] = std::sin(0.01 * static_cast<double>(i));
  }
  for (const Values& values : {counting, waves, gaussians(4096, 1, random)})
    for (const DType narrow : {DType::float16, DType::bfloat16, DType::float8_e5m2})
      for (const Words& dims : {Words{4096}, Words{4, 8, 8, 16}}) {
        const Tensor fine = tensor(DType::float32, dims, values);
        const Tensor coarse = tensor(narrow, dims, values);
        const std::string name(btf::info(narrow).name);
        CHECK(hint_of(coarse, fine) ==
              "rounding: actual is golden rounded to " + name + all_of(4096));
        CHECK(hint_of(fine, coarse) ==
              "rounding: golden is actual rounded to " + name + all_of(4096));
        btf::DiffOptions some;
        some.tolerance.rtol = 1e-4;
        CHECK(hint_of(coarse, fine, some) ==
              "rounding: actual is golden rounded to " + name + all_of(4096));
      }
}

TEST_CASE("numbers that a dtype does not hold were not rounded to it") {
  // float4's tolerance is wider than what rounding to whole numbers does to 1.5.
  Random random(78);
  const Tensor golden = tensor(DType::float4_e2m1fn, {3000}, gaussians(3000, 2.5, random));
  const Tensor pruned = mapped(golden, [](double v) { return std::abs(v) < 0.6 ? 0 : v; });
  CHECK(hint_of(pruned, golden).empty());
}

TEST_CASE("rounding to the coarser dtype leaves Inf and NaN as they are") {
  Random random(77);
  Values values = gaussians(4096, 1, random);
  values[5] = HUGE_VAL;
  values[6] = -HUGE_VAL;
  values[7] = NAN;
  CHECK(hint_of(tensor(DType::float16, {4096}, values), tensor(DType::float32, {4096}, values)) ==
        "rounding: actual is golden rounded to float16" + all_of(4096));
}

TEST_CASE("rounding to the coarser dtype hides nothing") {
  Random random(67);
  const Words dims{1, 32, 16, 16};
  const Tensor golden = tensor(DType::float32, dims, gaussians(8192, 1, random));
  const auto broken = [&](DType dtype, auto change) {
    Values values = golden.values();
    for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = change(values[i], i);
    return hint_of(tensor(dtype, dims, values), golden);
  };
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    const std::string beyond = " mismatches beyond " + std::string(btf::info(dtype).name);
    CHECK_THAT(broken(dtype, [](double v, std::uint64_t i) { return i >= 7500 ? 0 : v; }),
               StartsWith("zero-tail: actual is 0 from element 7500 ") &&
                   Contains(": 692" + beyond + "'s rounding (") &&
                   Contains(" within it), actual 0 at all of them"));
    CHECK_THAT(broken(dtype, [](double v, std::uint64_t i) { return i / 256 == 5 ? 3 - v : v; }),
               StartsWith("region: all 256" + beyond + "'s rounding (") &&
                   Contains(" within it) have dim 1 (C) = 5 (256 elements)"));
    CHECK_THAT(broken(dtype, [](double v, std::uint64_t i) { return i / 256 == 3 ? NAN : v; }),
               StartsWith("region: all 256" + beyond + "'s rounding (") &&
                   Contains(" within it) have dim 1 (C) = 3 (256 elements); actual is NaN there"));
    CHECK_THAT(broken(dtype, [](double v, std::uint64_t) { return std::min(v, 2.0); }),
               StartsWith("saturation: ") && Contains("have actual at 2, where golden is above"));
    // Noise within the tolerance of the dtype as well.
    CHECK_THAT(broken(dtype,
                      [&](double v, std::uint64_t i) {
                        return i >= 7500 ? 0 : v * (1 + 2e-4 * gaussian(random)) + 1e-6;
                      }),
               StartsWith("zero-tail: actual is 0 from element 7500 ") &&
                   Contains(": 692" + beyond + "'s tolerance (") &&
                   Contains(" within it), actual 0 at all of them"));
  }
  Values large = golden.values();
  for (double& value : large) value *= 100;
  for (const std::uint64_t i : {5U, 700U, 4000U}) large[i] = 70000;
  CHECK_THAT(hint_of(tensor(DType::float16, dims, large), tensor(DType::float32, dims, large)),
             StartsWith("saturation: 3 mismatches have actual Inf where golden is beyond "
                        "float16's largest, 65504; the other ") &&
                 Contains(" are within float16's rounding"));
}

TEST_CASE("another rounding mode is found") {
  Random random(70);
  const Tensor golden = tensor(DType::float32, {4000}, gaussians(4000, 1, random));
  const auto cut = [&](std::uint64_t mask) {
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes) code &= ~mask;
    return actual;
  };
  CHECK_THAT(hint_of(tensor(DType::bfloat16, {4000}, cut(0xffff).values()), golden),
             StartsWith("rounding: ") && Contains("one step of bfloat16 toward zero"));
  const Tensor half = tensor(DType::float16, {4000}, golden.values());
  CHECK_THAT(hint_of(tensor(DType::float16, {4000}, cut(0x1fff).values()), half),
             StartsWith("rounding: ") && Contains("one step of float16 toward zero"));
  Values exact = gaussians(4000, 30, random);
  Values down = exact;
  for (double& value : down) value = std::floor(value);
  CHECK_THAT(hint_of(tensor(DType::int8, {4000}, down), tensor(DType::int8, {4000}, exact)),
             StartsWith("rounding: ") && Contains("one step of 1 down,"));
  for (double& value : exact) value = std::abs(value);
  for (std::size_t i = 0; i < exact.size(); ++i) down[i] = std::floor(exact[i]);
  CHECK_THAT(hint_of(tensor(DType::uint8, {4000}, down), tensor(DType::uint8, {4000}, exact)),
             StartsWith("rounding: ") && Contains("one step of 1 down (toward zero),"));
}

TEST_CASE("changed values are found in data of every kind, across dtypes") {
  const Words dims{2, 8, 12, 14};
  const std::uint64_t count = product(dims);
  const std::vector<double (*)(double v, std::uint64_t i)> kinds{
      [](double v, std::uint64_t) { return v; },
      [](double v, std::uint64_t) { return std::max(v, 0.0); },
      [](double v, std::uint64_t i) { return i * 7919 % 23 == 0 ? v : 0; },
      [](double v, std::uint64_t i) { return std::sin(0.013 * static_cast<double>(i)) + 1e-3 * v; },
      [](double v, std::uint64_t) { return std::nearbyint(4 * v); },
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
      const auto actual = [&](auto map) {
        Values changed = golden.values();
        for (double& value : changed) value = map(value);
        return tensor(actual_type, dims, changed);
      };
      INFO("kind " << kind << " " << btf::info(actual_type).name << " against "
                   << btf::info(golden_type).name);
      CHECK_THAT(hint_of(actual([](double v) { return 3 * v; }), golden),
                 StartsWith("scale: actual = 3 * golden: "));
      CHECK_THAT(hint_of(actual([](double v) { return v / 255; }), golden),
                 StartsWith("scale: actual = 0.00392157 (1/255) * golden: "));
      CHECK_THAT(hint_of(actual([](double v) { return -v; }), golden),
                 StartsWith("sign: actual = -golden: "));
      // Where most are 0 too few numbers tell an offset from a constant.
      if (kind != 2)
        CHECK_THAT(hint_of(actual([](double v) { return v + 3; }), golden),
                   StartsWith("offset: actual = golden + 3: "));
      Tensor swapped = tensor(actual_type, dims, values);
      const unsigned bits = btf::info(actual_type).bits;
      for (std::uint64_t& code : swapped.codes) code = reversed(code, bits);
      CHECK_THAT(hint_of(swapped, golden), StartsWith("byte-order: actual equals golden with its"));
    }
}
