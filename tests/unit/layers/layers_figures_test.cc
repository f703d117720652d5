// What is measured of a pair, against sums that go element by element in long double.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "btf/read.h"
#include "diff/layers/measure.h"
#include "kernels/compare/compare_runs.h"
#include "kernels/number/widen.h"
#include "support/diff_pair.h"
#include "support/forced_level.h"
#include "support/random_tensor.h"

using btf::DType;
using btf::LayerFigures;
using pairs::Tensor;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor of(const std::vector<double>& values, const bytes::Words& dims) {
  Tensor tensor = pairs::f64(values);
  tensor.dims = dims;
  return tensor;
}

// Both begin `misaligned` bytes behind where they would.
LayerFigures measure(const Tensor& actual, const Tensor& golden, std::size_t misaligned = 0) {
  const auto shifted = [&](const Tensor& tensor) {
    bytes::Bytes data = pairs::packed(tensor);
    data.insert(data.begin(), misaligned, bytes::Bytes::value_type{});
    return data;
  };
  const bytes::Bytes left = shifted(actual);
  const bytes::Bytes right = shifted(golden);
  const auto view = [&](const Tensor& tensor, const bytes::Bytes& data) {
    return btf::TensorView{tensor.dtype,
                           btf::resolve(btf::Layout::linear, tensor.dims, tensor.dtype).value(),
                           std::span(data).subspan(misaligned)};
  };
  const btf::TensorView a = view(actual, left);
  const btf::TensorView g = view(golden, right);
  return btf::measure_layer(*btf::memory_side(a).value(), *btf::memory_side(g).value(), {}).value();
}

double uniform(Random& random) {
  return static_cast<double>(random.next() >> 11) * 0x1p-53 * 2 - 1;
}

// By the definitions.
LayerFigures plain(const std::vector<double>& actual, const std::vector<double>& golden) {
  LayerFigures f;
  long double e1 = 0;
  long double e2 = 0;
  long double g2 = 0;
  long double eg = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!std::isfinite(actual[i]) || !std::isfinite(golden[i])) continue;
    const auto g = static_cast<long double>(golden[i]);
    const long double e = static_cast<long double>(actual[i]) - g;
    ++f.pairs;
    f.equal += actual[i] == golden[i] ? 1U : 0U;
    e1 += e;
    e2 += e * e;
    g2 += g * g;
    eg += e * g;
    f.max_error = std::max(f.max_error, static_cast<double>(std::abs(e)));
  }
  f.error = static_cast<double>(std::sqrt(e2));
  f.relative_error = e2 == 0 ? 0 : static_cast<double>(std::sqrt(e2 / g2));
  f.gain_share = eg == 0 ? 0 : static_cast<double>(std::abs(eg) / std::sqrt(e2 * g2));
  f.offset_share = e1 == 0 ? 0
                           : static_cast<double>(std::abs(e1) / std::sqrt(e2) /
                                                 std::sqrt(static_cast<long double>(f.pairs)));
  return f;
}

void check_alike(const LayerFigures& found, const LayerFigures& wanted) {
  CHECK(found.pairs == wanted.pairs);
  CHECK(found.equal == wanted.equal);
  CHECK(found.max_error == wanted.max_error);
  CHECK(found.relative_error == Approx(wanted.relative_error).epsilon(1e-12));
  CHECK(found.error == Approx(wanted.error).epsilon(1e-12));
  CHECK(found.gain_share == Approx(wanted.gain_share).epsilon(1e-9).margin(1e-12));
  CHECK(found.offset_share == Approx(wanted.offset_share).epsilon(1e-9).margin(1e-12));
}

}  // namespace

TEST_CASE("layer figures: as defined, for any size") {
  Random random(1);
  for (const std::uint64_t count : {1U, 2U, 7U, 8U, 9U, 63U, 1023U, 1024U, 1025U, 5000U, 70001U}) {
    std::vector<double> golden(count);
    std::vector<double> actual(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      golden[i] = uniform(random) * 4;
      actual[i] = golden[i] * 1.01 + uniform(random) * 1e-3;
      if (random.below(50) == 0) actual[i] = golden[i];
      if (random.below(500) == 0) actual[i] = kNan;
      if (random.below(500) == 0) golden[i] = kInf;
    }
    CAPTURE(count);
    check_alike(measure(of(actual, {count}), of(golden, {count})), plain(actual, golden));
  }
}

TEST_CASE("layer figures: squares beyond a double, and below one") {
  for (const double scale : {1e200, 1e-200, 5e-324}) {
    const std::vector<double> golden{3 * scale, 4 * scale, -2 * scale};
    const std::vector<double> actual{3 * scale, 5 * scale, -2 * scale};
    CAPTURE(scale);
    const LayerFigures f = measure(of(actual, {3}), of(golden, {3}));
    CHECK(f.relative_error == Approx(std::sqrt(1.0 / 29)).epsilon(1e-9));
    CHECK(f.gain_share == Approx(4 / std::sqrt(29.0)).epsilon(1e-9));
    CHECK(f.offset_share == Approx(1 / std::sqrt(3.0)).epsilon(1e-9));
  }
}

TEST_CASE("layer figures: what is no number is counted by its kind and side") {
  const std::vector<double> golden{1, kNan, kNan, 1, kInf, kInf, -kInf, 2, 3};
  const std::vector<double> actual{kNan, kNan, 1, kInf, kInf, -kInf, 5, 2, 4};
  const LayerFigures f = measure(of(actual, {9}), of(golden, {9}));
  CHECK(f.elements == 9);
  CHECK(f.pairs == 2);
  CHECK(f.equal == 1);
  CHECK(f.nan.both == 1);
  CHECK(f.nan.actual == 1);
  CHECK(f.nan.golden == 1);
  CHECK(f.inf.both == 1);
  CHECK(f.inf.opposite == 1);
  CHECK(f.inf.actual == 1);
  CHECK(f.inf.golden == 1);
  CHECK(f.new_inf() == 2);
  CHECK(f.relative_error == Approx(1 / std::sqrt(13.0)));
}

TEST_CASE("layer figures: the worst slice is that of the channel that is dead") {
  struct Row {
    bytes::Words dims;
    std::uint64_t inner;  // elements of an index of the channel
    std::uint64_t channels;
  };
  for (const Row& row :
       {Row{{2, 16, 8, 8}, 64, 16}, Row{{1, 32, 1, 1}, 1, 32}, Row{{4, 40, 24}, 1, 24},
        Row{{16, 5, 5}, 25, 16}, Row{{3, 48, 7, 7}, 49, 48}, Row{{128, 3}, 1, 3},
        Row{{1, 6000, 2, 2}, 4, 6000}, Row{{2, 9000}, 1, 9000}}) {
    std::uint64_t count = 1;
    for (const std::uint64_t dim : row.dims) count *= dim;
    std::vector<double> golden(count, 1.0);
    std::vector<double> actual = golden;
    for (std::uint64_t i = 0; i < count; ++i)
      if (i / row.inner % row.channels == 2) actual[i] = 0;
    const LayerFigures f = measure(of(actual, row.dims), of(golden, row.dims));
    CAPTURE(row.dims);
    CHECK(f.relative_error == Approx(1 / std::sqrt(static_cast<double>(row.channels))));
    // More than 4096 are folded: two or three share a slice.
    CHECK(f.slice_error >= (row.channels > 4096 ? 0.5 : 0.999));
    CHECK(f.slice_error <= 1.0001);
  }
}

TEST_CASE("layer figures: masks count nowhere, unless large numbers are usual") {
  const std::vector<double> golden{1, -1e9, 2, -kInf, -65504, 3};
  const std::vector<double> actual{1, -kInf, 2, -kInf, -60000, 4};
  const LayerFigures f = measure(of(actual, {6}), of(golden, {6}));
  CHECK(f.masked == 3);
  CHECK(f.pairs == 3);
  CHECK(f.new_inf() == 0);
  CHECK(f.inf.both == 0);
  CHECK(f.relative_error == Approx(1 / std::sqrt(14.0)));
  std::vector<double> large_golden = golden;
  std::vector<double> large_actual = actual;
  large_golden[0] = large_actual[0] = 2000;
  const LayerFigures g = measure(of(large_actual, {6}), of(large_golden, {6}));
  CHECK(g.masked == 0);
  CHECK(g.new_inf() == 1);
  CHECK(g.inf.both == 1);
  check_alike(g, plain(large_actual, large_golden));
}

TEST_CASE("layer figures: bits of significands, steps of quantised numbers, the end of the range") {
  std::vector<double> golden(4096);
  std::vector<double> actual(4096);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = static_cast<double>(static_cast<float>(std::sin(static_cast<double>(i))));
    actual[i] = std::round(golden[i] * 100) * 0.25;
  }
  const LayerFigures f = measure(of(actual, {64, 64}), of(golden, {64, 64}));
  CHECK(f.golden.bits == 24);
  CHECK(f.actual.step == Approx(0.25));
  CHECK(f.golden.step == 0);
  const Tensor half{DType::float16, {3}, {0x7bff, 0xfbff, 0x3c00}};
  const LayerFigures at = measure(half, of({1e6, -65504, 1}, {3}));
  CHECK(at.at_limit == 0);  // golden is as far out
  CHECK(measure(half, of({3, 4, 1}, {3})).at_limit == 2);
}

TEST_CASE("layer figures: of a few numbers only multiples of one are a grid") {
  Random random(7);
  std::vector<double> golden;
  std::vector<double> codes;
  std::vector<double> halves;
  for (int i = 0; i < 192; ++i) {
    golden.push_back(static_cast<double>(static_cast<float>(uniform(random))));
    // As float32 and float16 have codes times a scale.
    const float code = static_cast<float>(std::round(golden.back() * 127) * 0.0078125 * 1.003);
    codes.push_back(static_cast<double>(code));
    const double unit = std::ldexp(1.0, std::ilogb(code) - 10);
    halves.push_back(code == 0 ? 0 : std::round(code / unit) * unit);
  }
  const auto steps = [&](const std::vector<double>& actual) {
    return measure(of(actual, {192}), of(golden, {192}));
  };
  CHECK(steps(codes).golden.step == 0);
  CHECK(steps(golden).actual.step == 0);
  CHECK(steps(codes).actual.step == Approx(0.01).epsilon(0.3));
  CHECK(steps(halves).actual.step > 0);
  // All codes that a byte has are as close as codes can be; one that stands between two of them is
  // no code.
  for (const int least : {-128, 0}) {
    std::vector<double> bytes;
    for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<float>((least + i) * 0.0371));
    const auto step = [&] { return measure(of(bytes, {256}), of(bytes, {256})).actual.step; };
    CHECK(step() == Approx(0.0371));
    bytes[200] = static_cast<float>((least + 199.3) * 0.0371);
    CHECK(step() == 0);
  }
}

TEST_CASE("layer figures: codes against numbers by the scale that fits best") {
  std::vector<double> golden;
  bytes::Words codes;
  for (int i = -100; i < 100; ++i) {
    golden.push_back(i * 0.03125);
    codes.push_back(static_cast<std::uint8_t>(i));
  }
  const LayerFigures f = measure({DType::int8, {200}, codes}, of(golden, {200}));
  CHECK(f.scale_fitted);
  CHECK(f.relative_error == Approx(0).margin(1e-9));
  codes[3] = 100;
  CHECK(measure({DType::int8, {200}, codes}, of(golden, {200})).relative_error > 0.01);
}

TEST_CASE("layer figures: no instruction set changes a bit") {
  Random random(5);
  std::vector<double> golden(3001);
  std::vector<double> actual(3001);
  for (std::size_t i = 0; i < golden.size(); ++i) {
    golden[i] = uniform(random) * 100;
    actual[i] = golden[i] + uniform(random);
  }
  std::vector<LayerFigures> all;
  for (const btf::CpuLevel level : btf::test::cpu_levels()) {
    const btf::test::ForcedLevel forced(level);
    all.push_back(measure(of(actual, {3001}), of(golden, {3001})));
  }
  for (const LayerFigures& f : all) {
    CHECK(f.relative_error == all[0].relative_error);
    CHECK(f.slice_error == all[0].slice_error);
    CHECK(f.gain_share == all[0].gain_share);
    CHECK(f.offset_share == all[0].offset_share);
    CHECK(f.actual.fingerprint == all[0].actual.fingerprint);
  }
}

TEST_CASE("layer figures: elements of any dtype as if they were float64") {
  Random random(29);
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    if (!btf::fits_double(row.dtype)) continue;
    Tensor golden{row.dtype, {4, 3, 7, 41}, {}};
    for (std::uint64_t i = 0; i < 4 * 3 * 7 * 41; ++i)
      golden.codes.push_back(pairs::random_code(row.dtype, random));
    const Tensor actual = pairs::disturbed(golden, random);
    const auto wide = [](const Tensor& tensor) {
      std::vector<double> values(tensor.codes.size());
      for (std::size_t i = 0; i < values.size(); ++i)
        btf::widener<double>(tensor.dtype)(reinterpret_cast<const std::byte*>(&tensor.codes[i]), 1,
                                           1, &values[i]);
      return of(values, tensor.dims);
    };
    // All but the dtype's own limit.
    const auto numbers = [](const LayerFigures& f) {
      std::vector<double> all{f.relative_error, f.slice_error, f.gain_share, f.offset_share,
                              f.gain,           f.error,       f.max_error};
      for (const std::uint64_t count : {f.pairs, f.equal, f.masked, f.nan.both, f.nan.actual,
                                        f.nan.golden, f.inf.both, f.inf.opposite, f.inf.actual})
        all.push_back(static_cast<double>(count));
      for (const btf::LayerSide& side : {f.actual, f.golden}) {
        for (const double x : {side.norm, side.sum, side.peak, side.step}) all.push_back(x);
        for (const double x : side.samples) all.push_back(x);
        all.push_back(side.bits);
        all.push_back(static_cast<double>(side.fingerprint >> 32));
      }
      return all;
    };
    const std::vector<double> doubles = numbers(measure(wide(actual), wide(golden)));
    for (const std::size_t misaligned : {0, 1}) {
      CAPTURE(row.name, misaligned);
      CHECK(numbers(measure(actual, golden, misaligned)) == doubles);
    }
  }
}

TEST_CASE("layer figures: the same numbers have one fingerprint, whatever they are compared with") {
  Random random(77);
  const auto as = [](DType dtype, const std::vector<double>& values) {
    if (dtype == DType::float64) return of(values, {values.size()});
    bytes::Words codes;
    for (const double value : values)
      codes.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(value)));
    return pairs::line(dtype, codes);
  };
  for (const DType dtype : {DType::float64, DType::float32})
    for (const std::uint64_t count : {70U, 5000U, 200'000U}) {
      std::vector<double> values(count);
      for (double& value : values) value = static_cast<double>(random.below(2000)) / 16 - 60;
      const auto with_noise = [&](double noise) {
        std::vector<double> other = values;
        for (double& value : other) value += noise * uniform(random);
        return as(dtype, other);
      };
      const LayerFigures near = measure(as(dtype, values), with_noise(1e-3));
      const LayerFigures far = measure(as(dtype, values), with_noise(90));
      CAPTURE(btf::info(dtype).name, count);
      CHECK(near.actual.fingerprint == far.actual.fingerprint);
      CHECK(near.golden.fingerprint != far.golden.fingerprint);
      for (std::uint64_t i = count / 2; i < count; ++i) values[i] += 1;
      CHECK(measure(as(dtype, values), with_noise(1e-3)).actual.fingerprint !=
            near.actual.fingerprint);
    }
}
