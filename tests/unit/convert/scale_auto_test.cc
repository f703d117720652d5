#include <catch2/catch.hpp>

#include "unit/convert/quantize_cases.h"

using namespace quantize_cases;

// Files: the scale of a tensor

TEST_CASE("scale: the direction follows from the dtypes") {
  const Tensor numbers = tensor_of(DType::float32, {5}, {-3, -0.25, 0, 0.25, 50});
  const Quantization half{.scale = 0.5};
  const Bytes codes = file_of({quantized(numbers, DType::int8, 0.5)});
  CHECK(
      (converted(file_of({numbers}), {.dtype = DType::int8, .quantization = half}).file == codes));
  const Tensor back = tensor_of(DType::float16, {5}, {-3, 0, 0, 0, 50});
  CHECK(
      (converted(codes, {.dtype = DType::float16, .quantization = half}).file == file_of({back})));
  // Both are small: it quantises.
  CHECK((converted(codes, {.dtype = DType::int16, .quantization = half}).file ==
         file_of({quantized(quantized(numbers, DType::int8, 0.5), DType::int16, 0.5)})));
}

TEST_CASE("scale: a zero point there and back") {
  const Tensor numbers = tensor_of(DType::float32, {6}, {-1, -0.5, 0, 0.5, 1, NAN});
  const Quantization given{.scale = 0.0078125, .zero_point = 128};
  const Converted codes =
      converted(file_of({numbers}), {.dtype = DType::uint8, .quantization = given});
  CHECK((codes.file == file_of({Tensor{DType::uint8, {6}, {0, 64, 128, 192, 255, 128}}})));
  REQUIRE(codes.reports.size() == 1);
  CHECK(codes.reports[0].loss.overflowed == 1);
  CHECK(codes.reports[0].loss.nan_lost == 1);
  CHECK(codes.reports[0].scales == std::vector<double>{0.0078125});
  CHECK(codes.reports[0].scale_targets.empty());
  CHECK((converted(codes.file, {.dtype = DType::float32, .quantization = given}).file ==
         file_of({tensor_of(DType::float32, {6}, {-1, -0.5, 0, 0.5, 0.9921875, 0})})));
}

TEST_CASE("scale auto: per tensor, scales behind the data, record by record") {
  const Tensor first = random_tensor(DType::float32, {3, 40}, 1);
  const Tensor second = random_tensor(DType::float64, {7}, 2);
  const Tensor third = random_tensor(DType::bfloat16, {}, 3);
  for (const DType to : small_types()) {
    // Those have a fit of their own.
    if (btf::info(to).kind == btf::NumberKind::unsigned_integer) continue;
    CAPTURE(name_of(to));
    const long double top = oracle_value(to, float_code(to, INFINITY));
    const long double representable =
        std::isinf(top) ? oracle_value(to, float_code(to, INFINITY) - 1) : top;
    std::vector<Tensor> expected;
    for (const Tensor& tensor : {first, second, third}) {
      const float scale = scale_for(largest_of(tensor), representable);
      expected.push_back(quantized(tensor, to, scale));
      expected.push_back(scale_tensor({}, {scale}));
    }
    const Converted got = converted(file_of({first, second, third}), quantizing(to));
    CHECK((got.file == file_of(expected)));
    REQUIRE(got.reports.size() == 3);
    for (std::uint64_t i = 0; i < 3; ++i) {
      CHECK(got.reports[i].source == i);
      CHECK(got.reports[i].target == 2 * i);
      CHECK(got.reports[i].scale_targets == Words{2 * i + 1});
      CHECK(got.reports[i].scales.size() == 1);
    }
  }
}

namespace {

// The ends of the finite elements and 0.
std::pair<long double, long double> ends_of(const Tensor& tensor) {
  long double least = 0;
  long double largest = 0;
  for (const std::uint64_t code : tensor.codes) {
    const long double x = oracle_value(tensor.dtype, code);
    if (!std::isfinite(x)) continue;
    least = std::min(least, x);
    largest = std::max(largest, x);
  }
  return {least, largest};
}

// Codes, scales and zero points as they must stand in the file.
std::vector<Tensor> fitted(const Tensor& tensor, DType to, const std::vector<OracleFit>& fits,
                           std::uint64_t inner, const Dims& scale_dims, bool with_zero_points) {
  const btf::test::IntegerLimits limits(to);
  Tensor codes{to, tensor.dims, {}};
  Tensor zeros{to, scale_dims, {}};
  std::vector<float> scales;
  for (const OracleFit& fit : fits) {
    scales.push_back(fit.scale);
    zeros.codes.push_back(static_cast<std::uint64_t>(fit.zero_point) & limits.mask);
  }
  for (std::size_t i = 0; i < tensor.codes.size(); ++i) {
    const OracleFit& fit = fits[i / inner % fits.size()];
    codes.codes.push_back(
        oracle_quantize(tensor.dtype, to, tensor.codes[i], fit.scale, fit.zero_point).code);
  }
  std::vector<Tensor> all{codes, scale_tensor(scale_dims, scales)};
  if (with_zero_points) all.push_back(zeros);
  return all;
}

}  // namespace

TEST_CASE("scale auto: with a zero point, given or found, both ends get codes") {
  std::uint64_t refused = 0;
  std::uint64_t seed = 100;
  for (const DType to : small_types()) {
    if (btf::test::is_float(to)) continue;
    const btf::test::IntegerLimits limits(to);
    std::vector<std::optional<std::int64_t>> zeros{std::nullopt, 0};
    for (const std::int64_t zero : zero_points(to)) zeros.emplace_back(zero);
    for (const DType from : {DType::float32, DType::float64, DType::float16, DType::int16}) {
      for (int shift = -1; shift <= 1; ++shift) {
        // Of both signs, and of one only.
        Tensor tensor = random_tensor(from, {50}, ++seed);
        for (std::uint64_t& code : tensor.codes) {
          const auto x = static_cast<double>(oracle_value(from, code));
          // Of 24 bits, so that the difference of two is exact.
          const double y = static_cast<float>(shift == 0 ? x : shift * std::abs(x));
          code = float_code(from, from == DType::int16 ? y * 1000 : y);
        }
        if (from != DType::int16) tensor.codes[7] = float_code(from, -INFINITY);
        const auto [least, largest] = ends_of(tensor);
        for (const auto& zero : zeros) {
          if (!zero && bits_of(to) > 32) continue;
          // Signed and without a zero point it is symmetric.
          if (zero == 0 && limits.least < 0) continue;
          CAPTURE(name_of(to), name_of(from), shift, zero.value_or(-777));
          ConvertOptions options = quantizing(to);
          options.quantization.find_zero_point = !zero;
          options.quantization.zero_point = zero;
          const auto fit = btf::test::oracle_fit(to, least, largest, zero);
          const Converted got = try_convert(file_of({tensor}), options);
          REQUIRE(got.error.has_value() == !fit.has_value());
          if (!fit) {
            CHECK_THAT(got.error->message, Catch::Contains("do not fit"));
            ++refused;
            continue;
          }
          CHECK((got.file == file_of(fitted(tensor, to, {*fit}, 1, {}, !zero))));
          REQUIRE(got.reports.size() == 1);
          CHECK(got.reports[0].scales == std::vector<double>{fit->scale});
          CHECK(got.reports[0].loss.overflowed == (from != DType::int16 ? 1 : 0));  // the Inf
          if (zero) continue;
          CHECK(got.reports[0].zero_points == std::vector<std::int64_t>{fit->zero_point});
          ConvertOptions back = dequantizing(DType::float64);
          back.quantization.find_zero_point = true;
          ConvertOptions by_hand = dequantizing(DType::float64);
          by_hand.quantization.zero_point = fit->zero_point;
          by_hand.tensors = Words{0, 1};
          const Bytes numbers = converted(got.file, back).file;
          CHECK((numbers == converted(got.file, by_hand).file));
        }
      }
    }
  }
  CHECK(refused > 20);
}

TEST_CASE("scale auto: a zero point for each index of a dim") {
  for (const DType to : {DType::uint8, DType::int8, DType::uint4, DType::int4}) {
    const Tensor tensor = random_tensor(DType::float32, {4, 5, 3}, 77);
    std::vector<OracleFit> fits;
    for (std::uint64_t c = 0; c < 5; ++c) {
      Tensor channel{DType::float32, {}, {}};
      for (std::size_t i = 0; i < tensor.codes.size(); ++i)
        if (i / 3 % 5 == c) channel.codes.push_back(tensor.codes[i]);
      const auto [least, largest] = ends_of(channel);
      fits.push_back(btf::test::oracle_fit(to, least, largest, std::nullopt).value());
    }
    ConvertOptions options = quantizing(to, 1);
    options.quantization.find_zero_point = true;
    const Converted got = converted(file_of({tensor}), options);
    CHECK((got.file == file_of(fitted(tensor, to, fits, 3, {1, 5, 1}, true))));
    CHECK(got.reports[0].loss.overflowed == 0);
    CHECK(got.reports[0].scale_targets == Words{1, 2});
    ConvertOptions back = dequantizing(DType::float32);
    back.quantization.find_zero_point = true;
    const Converted numbers = converted(got.file, back);
    REQUIRE(numbers.reports.size() == 1);
    CHECK(numbers.reports[0].zero_points.size() == 5);
  }
}

TEST_CASE("scale auto: ties at both ends take the next scale") {
  // 255 steps of 1 from -1.5: both ends are ties, and round out.
  const Tensor tensor = tensor_of(DType::float32, {2}, {-1.5, 253.5});
  ConvertOptions options = quantizing(DType::uint8);
  options.quantization.find_zero_point = true;
  const Converted got = converted(file_of({tensor}), options);
  CHECK(got.reports[0].scales == std::vector<double>{std::nextafter(1.0F, 2.0F)});
  CHECK(got.reports[0].loss.overflowed == 0);
}

TEST_CASE("scale auto: more scales than the memory holds are refused") {
  const Tensor tensor = tensor_of(DType::float32, {60'000, 1}, std::vector<double>(60'000, 0.5));
  ConvertOptions options = quantizing(DType::int8, 0);
  const Bytes codes = converted(file_of({tensor}), options).file;
  options.execution.memory = 1;
  CHECK(
      refusal(file_of({tensor}), options) ==
      "tensor 0: a scale for each of 60000 indices needs more memory than the limit leaves, which "
      "is enough for 52428");
  ConvertOptions back = dequantizing(DType::float32);
  back.execution.memory = 1;
  CHECK_THAT(refusal(codes, back), Catch::Contains("a scale for each of 60000 indices"));
}

TEST_CASE("scale auto: zeros, NaN and Inf, and both ends of float32") {
  const auto scale_of = [](const Tensor& tensor, DType to) {
    return converted(file_of({tensor}), quantizing(to)).reports.at(0).scales.at(0);
  };
  CHECK(scale_of(tensor_of(DType::float32, {3}, {0, -0.0, 0}), DType::int8) == 1);
  CHECK(scale_of(tensor_of(DType::float32, {2}, {NAN, INFINITY}), DType::int8) == 1);
  CHECK(scale_of(tensor_of(DType::float32, {3}, {NAN, -INFINITY, -254}), DType::int8) == 2);
  CHECK(scale_of(tensor_of(DType::float64, {1}, {1e300}), DType::int8) == 0x1.fffffep127);
  CHECK(scale_of(tensor_of(DType::float64, {1}, {-1e-300}), DType::int8) == 0x1p-149);
  // 10 * 2^-149 / 127 rounds to no float32 but 0.
  const Tensor least{DType::float32, {3}, {10, 3, 0x80000007}};
  CHECK((converted(file_of({least}), quantizing(DType::int8)).file ==
         file_of({Tensor{DType::int8, {3}, {10, 3, 0xF9}}, scale_tensor({}, {0x1p-149F})})));
}

TEST_CASE("scale auto: per channel, on every axis") {
  // Kernels take 512 elements at a time: channels begin and end anywhere there.
  const Dims dims =
      GENERATE(Dims{3, 4, 2, 5}, Dims{3, 11, 7, 13}, Dims{2, 1, 3, 1100}, Dims{2, 3, 301, 1});
  CAPTURE(dims);
  Tensor tensor = random_tensor(DType::float32, dims, 5);
  const std::uint64_t of_first = count_of(dims) / dims[0];
  for (std::size_t i = 0; i < of_first; ++i) tensor.codes[i] = 0;  // all of index 0 of dim 0
  for (std::uint32_t axis = 0; axis < 4; ++axis) {
    CAPTURE(axis);
    Dims scale_dims(4, 1);
    scale_dims[axis] = tensor.dims[axis];
    std::uint64_t inner = 1;
    for (std::size_t d = axis + 1; d < 4; ++d) inner *= tensor.dims[d];
    const auto place = [&](std::size_t i) { return i / inner % tensor.dims[axis]; };
    std::vector<Tensor> channels(tensor.dims[axis], Tensor{DType::float32, {}, {}});
    for (std::size_t i = 0; i < tensor.codes.size(); ++i)
      channels[place(i)].codes.push_back(tensor.codes[i]);
    std::vector<float> scales;
    for (const Tensor& channel : channels) scales.push_back(scale_for(largest_of(channel), 127));
    Tensor codes{DType::int8, tensor.dims, {}};
    for (std::size_t i = 0; i < tensor.codes.size(); ++i)
      codes.codes.push_back(
          oracle_quantize(DType::float32, DType::int8, tensor.codes[i], scales[place(i)]).code);
    const Bytes expected = file_of({codes, scale_tensor(scale_dims, scales)});
    const Converted got = converted(file_of({tensor}), quantizing(DType::int8, axis));
    CHECK((got.file == expected));
    CHECK(got.reports.at(0).scales == std::vector<double>(scales.begin(), scales.end()));

    Tensor back{DType::float32, tensor.dims, {}};
    for (std::size_t i = 0; i < codes.codes.size(); ++i)
      back.codes.push_back(
          oracle_dequantize(DType::int8, DType::float32, codes.codes[i], scales[place(i)]).code);
    const Converted returned = converted(expected, dequantizing(DType::float32));
    CHECK((returned.file == file_of({back})));
    CHECK(returned.reports.at(0).scales == got.reports.at(0).scales);

    // The axis is one of the result's dims.
    ConvertOptions turned = quantizing(DType::int8, axis);
    turned.edits = {btf::Permute{{2, 0, 3, 1}}};
    CHECK((converted(file_of({tensor}), turned).file ==
           converted(converted(file_of({tensor}), {.edits = turned.edits}).file,
                     quantizing(DType::int8, axis))
               .file));
  }
}
