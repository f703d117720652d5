// Elements that became something else, by every dtype: how many causes are found.
#include <catch2/catch.hpp>

#include "support/broken_pairs.h"

using namespace broken_pairs;
using Catch::Matchers::StartsWith;

TEST_CASE("cuts that only golden has are found") {
  Score score;
  for_data(kAll, {{2, 3, 12, 14}, {2000}},
           [&](const Types& types, const Tensor& raw, Random&, std::string what) {
             if (types.golden == DType::uint8) return;
             const double unit = std::min(scale_for(types.actual), scale_for(types.golden));
             const Tensor actual = tensor(types.actual, raw.dims, raw.values());
             const auto cut = [&](double low, double high) {
               return with(types.golden, actual, [&](double v, std::uint64_t) {
                 return std::clamp(v, low * unit, high * unit);
               });
             };
             if (what.ends_with("1") || what.ends_with("3")) return;  // nothing or little to cut
             score.add(what, hint_of(actual, cut(0, 1000)), "saturation: ");
             score.add(what, hint_of(actual, cut(-0.5, 0.5)), "saturation: ");
             score.add(what, hint_of(actual, cut(0, 0.5)), "saturation: ");
           });
  score.check();
}

TEST_CASE("functions that one side has been through are found") {
  const std::vector<std::pair<std::string, double (*)(double)>> functions{
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"SiLU", [](double x) { return x / (1 + std::exp(-x)); }},
      {"GELU", [](double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }},
      {"hard sigmoid", [](double x) { return std::min(std::max(x + 3, 0.0), 6.0) / 6; }},
      {"leaky ReLU", [](double x) { return x > 0 ? x : 0.01 * x; }},
      {"ELU", [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
      {"softplus", [](double x) { return std::log(1 + std::exp(x)); }},
      {"exp", [](double x) { return std::exp(x); }}};
  Score score;
  for_data(kFloats, {{2, 3, 12, 14}, {2000}},
           [&](const Types& types, const Tensor& raw, Random&, std::string what) {
             if (what.ends_with("1") || what.ends_with("3")) return;
             for (const auto& [name, function] : functions) {
               const auto apply = [&](double v, std::uint64_t) { return function(3 * v); };
               const auto larger = [](double v, std::uint64_t) { return 3 * v; };
               const Tensor before = with(types.golden, raw, larger);
               score.add(what + " " + name, hint_of(with(types.actual, raw, apply), before),
                         "activation: actual = " + name + " of golden");
               score.add(what + " " + name,
                         hint_of(with(types.actual, raw, larger), with(types.golden, raw, apply)),
                         "activation: golden = " + name + " of actual");
             }
           });
  score.check();
}

TEST_CASE("a softmax that one side has been through is found") {
  Score score;
  for_data(kFloats, {{6, 40}, {2, 10, 8, 9}},
           [&](const Types& types, const Tensor& raw, Random& random, std::string what) {
             const std::size_t dim = 1 + random.below(raw.dims.size() - 1);
             const bool logarithm = random.below(2) == 0;
             const auto softmax = [&](DType dtype, const Tensor& of) {
               Values sums(product(of.dims));
               const Values values = of.values();
               const auto first = [&](std::uint64_t i) {
                 Words index = index_of(of.dims, i);
                 index[dim] = 0;
                 return number_of(of.dims, index);
               };
               for (std::uint64_t i = 0; i < values.size(); ++i)
                 sums[first(i)] += std::exp(values[i]);
               return with(dtype, of, [&](double v, std::uint64_t i) {
                 const double p = std::exp(v) / sums[first(i)];
                 return logarithm ? std::log(p) : p;
               });
             };
             const std::string name = logarithm ? "log-softmax" : "softmax";
             const std::string along = " along dim " + std::to_string(dim);
             score.add(what, hint_of(softmax(types.actual, raw), raw),
                       "activation: actual = " + name + " of golden" + along);
             const Tensor actual = tensor(types.actual, raw.dims, raw.values());
             score.add(what, hint_of(actual, softmax(types.golden, raw)),
                       "activation: golden = " + name + " of actual" + along);
             // Rows with a peak: most of a softmax is next to nothing then, and what rounds their
             // numbers shows in it.
             const Tensor peaked =
                 with(DType::float64, raw, [](double v, std::uint64_t) { return 8 * v; });
             score.add(what + " peaked",
                       hint_of(tensor(types.actual, raw.dims, peaked.values()),
                               softmax(types.golden, peaked)),
                       "activation: golden = " + name + " of actual" + along);
           });
  score.check();
}

TEST_CASE("Inf against the largest number is found") {
  Score score;
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::float64,
                            DType::float8_e5m2, DType::float8_e4m3fn})
    for (const std::uint64_t few : {3U, 20U, 400U}) {
      Random random(few);
      const unsigned bits = btf::info(dtype).bits;
      // The greatest code of a positive number: one below Inf, or below NaN.
      const std::uint64_t most = dtype == DType::float8_e4m3fn ? 0x7e
                                 : bits == 8                   ? 0x7b
                                 : dtype == DType::float16     ? 0x7bff
                                 : dtype == DType::bfloat16    ? 0x7f7f
                                 : bits == 32                  ? 0x7f7fffff
                                                               : 0x7fefffffffffffff;
      const DType wide = dtype == DType::float64 ? DType::float64 : DType::float32;
      Values values = tensor(dtype, {4000}, gaussians(4000, 1, random)).values();
      Values cut = values;
      for (std::uint64_t k = 0; k < few; ++k) {
        const std::uint64_t at = random.below(values.size());
        const double sign = random.below(2) == 0 ? 1 : -1;
        values[at] = sign * HUGE_VAL;
        cut[at] = sign * value_of(dtype, most);
      }
      const Tensor inf = tensor(wide, {40, 100}, values);
      const std::string what = std::string(btf::info(dtype).name) + " " + std::to_string(few);
      for (const DType held : {wide, dtype}) {
        score.add(what, hint_of(tensor(held, {40, 100}, cut), inf), "saturation: ");
        score.add(what, hint_of(inf, tensor(held, {40, 100}, cut)), "saturation: ");
      }
    }
  score.check();
}

TEST_CASE("whole numbers that were wrapped are found") {
  Score score;
  for (const DType through : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int4})
    for (const DType wide : {DType::int32, DType::int64, DType::float32, DType::float64})
      for (const bool kept : {false, true})
        for (int kind = 0; kind < 2; ++kind) {
          Random random(static_cast<std::uint64_t>(kind) + 7);
          const unsigned bits = btf::info(through).bits;
          const double range = std::ldexp(1.0, static_cast<int>(bits));
          Values values = gaussians(3000, range * (kind == 0 ? 0.5 : 0.25), random);
          for (double& v : values) v = std::nearbyint(v);
          const Tensor golden = tensor(wide, {30, 100}, values);
          const bool is_signed = btf::info(through).kind == btf::NumberKind::signed_integer;
          const double low = is_signed ? -range / 2 : 0;
          const Tensor wrapped = with(through, golden, [&](double v, std::uint64_t) {
            return v - std::floor((v - low) / range) * range;
          });
          const Tensor actual = kept ? tensor(wide, wrapped.dims, wrapped.values()) : wrapped;
          const std::string what =
              std::string(btf::info(through).name) + " of " + std::string(btf::info(wide).name);
          score.add(what, hint_of(actual, golden), "wrapped: actual is golden wrapped to ");
          score.add(what, hint_of(golden, actual), "wrapped: golden is actual wrapped to ");
        }
  score.check();
}

TEST_CASE("whole numbers that were wrapped are found where the other side was cut off") {
  for (const DType dtype : {DType::int8, DType::int16}) {
    const double range = std::ldexp(1.0, static_cast<int>(btf::info(dtype).bits));
    Random random(7);
    Values wide = gaussians(3000, range * 0.3, random);
    std::uint64_t beyond = 0;
    for (double& v : wide) {
      v = std::nearbyint(v);
      beyond += v < -range / 2 || v >= range / 2 ? 1 : 0;
    }
    Values cut = wide;
    for (double& v : cut) v = std::clamp(v, -range / 2, range / 2 - 1);
    Values wrapped = wide;
    for (double& v : wrapped) v -= std::floor(v / range + 0.5) * range;
    const Tensor a = tensor(dtype, {30, 100}, wrapped);
    const Tensor g = tensor(dtype, {30, 100}, cut);
    CHECK_THAT(hint_of(a, g),
               StartsWith("wrapped: " + std::to_string(beyond) + " mismatches have golden at " +
                          std::string(btf::info(dtype).name) + "'s limits, -"));
    CHECK_THAT(hint_of(g, a),
               StartsWith("wrapped: " + std::to_string(beyond) + " mismatches have actual at "));
    // What is in the same half, or anywhere, did not come round.
    Values near = cut;
    for (double& v : near)
      if (v == range / 2 - 1) v -= static_cast<double>(1 + random.below(50));
    CHECK_THAT(hint_of(tensor(dtype, {30, 100}, near), g), !StartsWith("wrapped"));
    Values any = cut;
    for (double& v : any)
      if (v == range / 2 - 1) v = std::floor((uniform(random) - 0.5) * range);
    CHECK_THAT(hint_of(tensor(dtype, {30, 100}, any), g), !StartsWith("wrapped"));
  }
}

TEST_CASE("one line for all channels is no line for each") {
  // Zeros and rounding scatter the lines that are fitted to each.
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Values golden = gaussians(792, 600, random);
    for (double& v : golden) v = std::nearbyint(std::max(v, 0.0));
    Values actual = golden;
    for (double& v : actual) v = 1.02 * v + 0.3 * gaussian(random);
    CHECK_THAT(
        hint_of(tensor(DType::uint32, {22, 36}, actual), tensor(DType::uint32, {22, 36}, golden)),
        !StartsWith("channel-scale"));
  }
}

TEST_CASE("bits that were dropped are found") {
  Score score;
  const std::vector<Types> types{{DType::float32, DType::float32},
                                 {DType::float64, DType::float64},
                                 {DType::float32, DType::float64}};
  for_data(
      types, {{2, 3, 12, 14}, {2000}},
      [&](const Types& types, const Tensor& golden, Random&, std::string what) {
        for (const int bits : {8, 11, 14, 16}) {
          const auto keep = [&](bool nearest) {
            return with(types.actual, golden, [&](double v, std::uint64_t) {
              const std::uint64_t unit = 1ULL << (53 - bits);
              std::uint64_t code = std::bit_cast<std::uint64_t>(v);
              if (nearest) code += unit / 2 - 1 + (code / unit & 1);
              return std::bit_cast<double>(code & ~(unit - 1));
            });
          };
          const std::string count = std::to_string(bits) + " significant bits: ";
          score.add(what, hint_of(keep(false), golden), "rounding: actual is golden truncated");
          score.add(what, hint_of(keep(true), golden), "rounding: actual is golden rounded to");
        }
      });
  score.check();
}

TEST_CASE("bits of a small float read as another are found where golden was never rounded") {
  Score score;
  const std::vector<std::pair<DType, DType>> mixed{{DType::float8_e4m3fn, DType::float8_e5m2},
                                                   {DType::float8_e5m2, DType::float8_e4m3fn},
                                                   {DType::float8_e4m3fn, DType::float8_e4m3fnuz},
                                                   {DType::float8_e4m3fnuz, DType::float8_e4m3fn},
                                                   {DType::float8_e5m2fnuz, DType::float8_e5m2},
                                                   {DType::float8_e4m3fnuz, DType::float8_e5m2},
                                                   {DType::float16, DType::bfloat16},
                                                   {DType::bfloat16, DType::float16}};
  for_data({{DType::float32, DType::float32}, {DType::float64, DType::float64}},
           {{2, 3, 12, 14}, {2000}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             for (const auto& [is, read] : mixed) {
               Tensor actual = tensor(is, golden.dims, golden.values());
               actual.dtype = read;
               const std::string which = what + " " + std::string(btf::info(is).name) + " as " +
                                         std::string(btf::info(read).name);
               score.add(which, hint_of(actual, golden), "dtype-misread: ");
               const Tensor decoded = tensor(types.actual, actual.dims, actual.values());
               score.add(which, hint_of(decoded, golden), "dtype-misread: ");
             }
           });
  score.check();
}

TEST_CASE("scale and offset together are found") {
  Score score;
  const std::vector<std::pair<double, double>> lines{
      {1.0499, 0.25}, {2, -3}, {1 / 255.0, -0.5}, {-1, 1}, {0.017, 1.5}, {1.5, 128}};
  for_data(kFloats, {{2, 3, 12, 14}, {2000}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             for (const auto& [gain, offset] : lines) {
               // What is left of a number in few bits is an offset alone.
               if (std::abs(gain) < 0.02 && types.actual != DType::float32 &&
                   types.actual != DType::float64)
                 continue;
               if (offset > 100 && types.actual == DType::bfloat16) continue;
               const Tensor actual = with(types.actual, golden, [&](double v, std::uint64_t) {
                 return gain * v + offset;
               });
               score.add(what + " " + std::to_string(gain) + " " + std::to_string(offset),
                         hint_of(actual, golden), "affine: actual = ");
             }
           });
  const std::vector<Types> integers{{DType::int32, DType::int32},
                                    {DType::uint8, DType::int8},
                                    {DType::uint8, DType::float32},
                                    {DType::int16, DType::int32}};
  for_data(integers, {{2, 3, 12, 14}},
           [&](const Types& types, const Tensor& golden, Random&, std::string what) {
             const Tensor actual = with(types.actual, golden, [&](double v, std::uint64_t) {
               return (types.golden == DType::float32 ? 50 : 2) * v + 100;
             });
             if (types.golden == DType::float32 || !what.ends_with("3"))
               score.add(what, hint_of(actual, golden), "affine: actual = ");
           });
  score.check();
}

TEST_CASE("a scale or offset of every channel is found") {
  Score score;
  for_data(kFloats, {{2, 8, 12, 14}, {40, 50}, {3, 64, 6, 6}},
           [&](const Types& types, const Tensor& golden, Random& random, std::string what) {
             const std::size_t dim = golden.dims.size() == 2 ? random.below(2) : 1;
             Values gains;
             Values offsets;
             for (std::uint64_t c = 0; c < golden.dims[dim]; ++c) {
               gains.push_back(0.5 + 2 * uniform(random));
               offsets.push_back(4 * uniform(random) - 2);
             }
             const auto lines = [&](bool gain, bool offset) {
               return with(types.actual, golden, [&](double v, std::uint64_t i) {
                 const std::uint64_t c = index_of(golden.dims, i)[dim];
                 return (gain ? gains[c] : 1) * v + (offset ? offsets[c] : 0);
               });
             };
             score.add(what, hint_of(lines(true, false), golden),
                       "channel-scale: actual = s * golden, s of each");
             score.add(what, hint_of(lines(false, true), golden),
                       "channel-scale: actual = golden + o, o of each");
             score.add(what, hint_of(lines(true, true), golden),
                       "channel-scale: actual = s * golden + o of each");
           });
  score.check();
}

TEST_CASE("a scale or offset of every channel is found in few bits") {
  Score score;
  const std::vector<Types> types{{DType::int8, DType::int8},
                                 {DType::float8_e4m3fn, DType::float8_e4m3fn},
                                 {DType::float8_e4m3fn, DType::float32},
                                 {DType::float8_e5m2, DType::float32},
                                 {DType::bfloat16, DType::bfloat16}};
  for_data(
      types, {{2, 8, 12, 14}, {40, 50}},
      [&](const Types& types, const Tensor& golden, Random& random, std::string what) {
        if (what.ends_with("1") || what.ends_with("3")) return;  // mostly zeros stay what they are
        const double unit = scale_for(types.actual);
        const auto line = [&](double least_gain, double most_offset) {
          Values gains;
          Values offsets;
          for (std::uint64_t c = 0; c < golden.dims[1]; ++c) {
            gains.push_back(least_gain + (1 - least_gain) * uniform(random));
            offsets.push_back(most_offset * (2 * uniform(random) - 1) * unit);
          }
          return with(types.actual, golden, [&](double v, std::uint64_t i) {
            const std::uint64_t c = index_of(golden.dims, i)[1];
            return gains[c] * v + offsets[c];
          });
        };
        score.add(what, hint_of(line(0.3, 0), golden), "channel-scale: actual = s * golden, s of");
        score.add(what, hint_of(line(1, 1), golden), "channel-scale: actual = golden + o, o of");
      });
  score.check();
}

TEST_CASE("NaN where a dtype without Inf ends is found on either side") {
  for (const DType dtype : {DType::float8_e4m3fn, DType::float8_e4m3fnuz, DType::float8_e5m2fnuz})
    for (const DType wide : {dtype, DType::float32}) {
      Random random(7);
      Tensor numbers = tensor(wide, {20, 40}, gaussians(800, 1, random));
      numbers = tensor(wide, numbers.dims, tensor(dtype, numbers.dims, numbers.values()).values());
      const double most = value_of(dtype, code_of(dtype, 1e300));
      Tensor nan = numbers;
      Tensor largest = numbers;
      for (std::uint64_t i = 5; i < 800; i += 60) {
        nan.codes[i] = code_of(wide, std::nan(""));
        largest.codes[i] = code_of(wide, i % 120 == 5 ? most : -most);
      }
      INFO(btf::info(dtype).name << " in " << btf::info(wide).name << ": "
                                 << hint_of(nan, largest));
      CHECK(hint_of(nan, largest).starts_with("saturation: 14 mismatches have actual NaN where"));
      CHECK(hint_of(largest, nan).starts_with("saturation: 14 mismatches have actual at"));
    }
}

TEST_CASE("a factor is no misreading of dtypes that neither side has") {
  for (const DType dtype : {DType::uint4, DType::int8, DType::float32})
    for (const double gain : {2.0, 0.5}) {
      Random random(3);
      Values values(2000);
      for (double& v : values)
        v = static_cast<double>(random.below(dtype == DType::uint4 ? 8 : 60));
      if (gain < 1)
        for (double& v : values) v = 2 * std::floor(v / 2);
      const Tensor golden = tensor(dtype, {40, 50}, values);
      const Tensor actual = with(dtype, golden, [&](double v, std::uint64_t) { return gain * v; });
      INFO(btf::info(dtype).name << " times " << gain << ": " << hint_of(actual, golden));
      CHECK(!hint_of(actual, golden).starts_with("dtype-misread"));
    }
}

TEST_CASE("numbers that were cut off instead of rounded are no function of golden, nor a factor") {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float8_e5m2})
    for (const double scale : {0.02, 0.3, 1.0})
      for (const bool smooth : {false, true}) {
        Random random(5);
        const Tensor golden = tensor(DType::float32, {2, 6, 12, 14},
                                     data(smooth ? 2 : 0, {2, 6, 12, 14}, scale, random));
        Tensor actual = tensor(dtype, golden.dims, golden.values());
        for (std::uint64_t i = 0; i < actual.codes.size(); ++i)
          if (std::abs(actual.value(i)) > std::abs(golden.value(i))) --actual.codes[i];
        INFO(btf::info(dtype).name << " " << scale << " " << smooth);
        CHECK(hint_of(actual, golden).starts_with("rounding: "));
      }
}

TEST_CASE("a scale along the wrong dim is found") {
  Score score;
  for_data(
      kFloats, {{24, 24}, {16, 16, 3, 3}, {2, 20, 20}},
      [&](const Types& types, const Tensor& raw, Random& random, std::string what) {
        const std::size_t first = raw.dims.size() == 3 ? 1 : 0;
        Values scales;
        for (std::uint64_t c = 0; c < raw.dims[first]; ++c)
          scales.push_back(0.01 * (0.2 + uniform(random)));
        const auto dequantised = [&](DType dtype, std::size_t dim) {
          return with(dtype, raw, [&](double v, std::uint64_t i) {
            return std::nearbyint(40 * v) * scales[index_of(raw.dims, i)[dim]];
          });
        };
        score.add(what,
                  hint_of(dequantised(types.actual, first + 1), dequantised(types.golden, first)),
                  "scale-axis: ");
      },
      3);
  score.check();
}

TEST_CASE("an inverted mask is found") {
  Score score;
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int8, DType::int32, DType::int64,
                            DType::float16, DType::float32, DType::bfloat16})
    for (int kind = 0; kind < 4; ++kind) {
      Random random(static_cast<std::uint64_t>(kind) + 1);
      Values values(1600);
      for (std::uint64_t i = 0; i < values.size(); ++i) {
        const bool set = kind == 0   ? random.below(2) == 0
                         : kind == 1 ? random.below(8) == 0
                         : kind == 2 ? i % 40 <= i / 40  // causal
                                     : i % 40 < 20 + i / 40 % 7;
        values[i] = set ? 1 : 0;
      }
      const double top = kind == 3 && dtype != DType::boolean ? 100 : 1;
      for (double& v : values) v *= top;
      const Tensor golden = tensor(dtype, {1, 1, 40, 40}, values);
      const Tensor actual = with(dtype, golden, [&](double v, std::uint64_t) { return top - v; });
      score.add(std::string(btf::info(dtype).name) + " kind " + std::to_string(kind),
                hint_of(actual, golden), "inverted: actual is ");
    }
  score.check();
}
