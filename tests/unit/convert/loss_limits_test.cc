// Limits on what a conversion may lose, and the noise that it is measured by.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "btf/convert.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/quantize_oracle.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::ConvertOptions;
using btf::DType;
using btf::Layout;
using btf::test::float_code;
using btf::test::oracle_value;
using bytes::Bytes;
using bytes::Words;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Outcome {
  std::string error;
  std::optional<double> snr;
};

Outcome converted(const Bytes& record, const ConvertOptions& options) {
  const ScratchDir scratch;
  bytes::save(scratch, "out.btf", Bytes(3));
  const std::string in = bytes::save(scratch, "in.btf", bytes::file({record}));
  Outcome outcome;
  const auto size =
      btf::convert(bytes::open(in), scratch / "out.btf", options,
                   [&](const btf::TensorReport& report) { outcome.snr = report.snr; });
  if (size) return outcome;
  // The old file is still there.
  CHECK(read_file(scratch / "out.btf") == Bytes(3));
  CHECK(scratch.names().size() == 2);
  return {said(size.error()), {}};
}

Bytes floats(const std::vector<double>& values) {
  Words codes;
  for (const double value : values) codes.push_back(float_code(DType::float32, value));
  return bytes::dense(DType::float32, Layout::linear, {values.size()}, bytes::pack(32, codes));
}

ConvertOptions to(DType dtype) {
  ConvertOptions options;
  options.dtype = dtype;
  return options;
}

double decibels(long double signal, long double error) {
  return static_cast<double>(10 * std::log10(signal / error));
}

}  // namespace

TEST_CASE("limits: on elements that became zero, counted or as a share") {
  const Bytes record = floats({0, 0.25, 0.5, 0.75, 1, 2, 3, 4});  // 3 of 8 become zero in int8
  ConvertOptions options = to(DType::int8);
  for (const btf::LossLimit kept : {btf::LossLimit{3, false}, {37.5, true}, {100, true}}) {
    options.limits.zero = kept;
    CHECK(converted(record, options).error.empty());
  }
  options.limits.zero = {2, false};
  CHECK(converted(record, options).error ==
        "tensor 0: 3 of 8 elements (37.5 %) became zero, the limit is 2");
  options.limits.zero = {1, true};
  CHECK(converted(record, options).error ==
        "tensor 0: 3 of 8 elements (37.5 %) became zero, the limit is 1 %");
  options.limits = {.zero = {}, .overflow = btf::LossLimit{0, false}, .snr = {}};
  CHECK(converted(record, options).error.empty());
}

TEST_CASE("limits: on elements beyond the range") {
  const Bytes record = floats({500, -500, 1, 2, kInfinity});
  ConvertOptions options = to(DType::int8);
  options.limits.overflow = btf::LossLimit{0, false};
  CHECK(converted(record, options).error ==
        "tensor 0: 3 of 5 elements (60 %) overflowed, the limit is 0");
  options.limits.overflow = btf::LossLimit{60, true};
  CHECK(converted(record, options).error.empty());
  options.limits.overflow = btf::LossLimit{0, false};
  options.dtype = DType::float16;
  CHECK(converted(record, options).error.empty());
}

TEST_CASE("limits: on the signal-to-noise ratio") {
  const Bytes record = floats({1, 2, 2.5});  // 11.25 of signal, 0.25 of noise in int8
  ConvertOptions options = to(DType::int8);
  const double found = decibels(11.25L, 0.25L);
  options.limits.snr = std::nextafter(found, 100) + 1e-9;
  CHECK_THAT(converted(record, options).error,
             Catch::StartsWith("tensor 0: the signal-to-noise ratio is 16.53 dB, the limit is "));
  options.limits.snr = found - 1e-9;
  const Outcome kept = converted(record, options);
  CHECK(kept.error.empty());
  CHECK(kept.snr.value() == Approx(found).epsilon(1e-14));
  options.limits.snr = 1000;
  CHECK(converted(floats({1, 2, -3}), options).snr == kInfinity);
  CHECK(converted(floats({1, 2, 1e-9}), options).error.find("is 187") != std::string::npos);
  options.limits.snr = -1000;
  // A zero signal with noise, and errors without bound.
  CHECK_THAT(converted(floats({0, NAN}), options).error, Catch::Contains("is -inf dB"));
  CHECK_THAT(converted(floats({5, kInfinity}), options).error, Catch::Contains("is -inf dB"));
  options.dtype = DType::float16;
  CHECK_THAT(converted(floats({5, 1e6}), options).error, Catch::Contains("is -inf dB"));
  CHECK(converted(floats({5, kInfinity, NAN}), options).snr == kInfinity);
}

TEST_CASE("limits: the noise of every pair of dtypes, whatever the layout and the threads") {
  Random random(5);
  for (const btf::DTypeInfo& from : btf::dtypes()) {
    for (const btf::DTypeInfo& target : btf::dtypes()) {
      if (from.bits < 8 && target.dtype == from.dtype) continue;
      CAPTURE(from.name, target.name);
      // Of moderate size, so that a long double adds up their squares.
      Words codes;
      for (int i = 0; i < 120; ++i)
        codes.push_back(btf::test::oracle_cast(
                            DType::float64, from.dtype,
                            btf::test::double_code(static_cast<double>(random.below(4000)) / 16 - 60),
                            {})
                            .code);
      long double signal = 0;
      long double error = 0;
      bool unbounded = false;
      for (const std::uint64_t code : codes) {
        const long double x = oracle_value(from.dtype, code);
        const long double y =
            oracle_value(target.dtype,
                         btf::test::oracle_cast(from.dtype, target.dtype, code, {}).code);
        signal += x * x;
        error += (y - x) * (y - x);
        unbounded = unbounded || !std::isfinite(y);
      }
      REQUIRE_FALSE(unbounded);
      const Bytes record =
          bytes::dense(from.dtype, Layout::linear, {4, 5, 6}, bytes::pack(from.bits, codes));
      for (const Layout layout : {Layout::linear, Layout::hwc8, Layout::coo}) {
        if (layout == Layout::hwc8 && target.bits < 8) continue;
        ConvertOptions options = to(target.dtype);
        options.layout = layout;
        options.limits.snr = -1e9;
        const Outcome outcome = converted(record, options);
        REQUIRE(outcome.snr);
        if (error == 0 || from.dtype == target.dtype)
          CHECK(outcome.snr == kInfinity);
        else
          CHECK(*outcome.snr == Approx(decibels(signal, error)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("limits: the noise does not depend on threads and memory") {
  Random random(6);
  Words codes;
  for (int i = 0; i < 1'500'000; ++i) codes.push_back(random.below(0x7f000000));
  const Bytes record =
      bytes::dense(DType::float32, Layout::linear, {3, 500'000}, bytes::pack(32, codes));
  std::optional<double> first;
  for (const unsigned jobs : {1U, 3U}) {
    for (const std::uint64_t memory : {1U << 16, 1U << 26}) {
      ConvertOptions options = to(DType::bfloat16);
      options.limits.snr = 0;
      options.execution.jobs = jobs;
      options.execution.memory = memory;
      const Outcome outcome = converted(record, options);
      REQUIRE(outcome.snr);
      if (!first) first = outcome.snr;
      CHECK(*outcome.snr == *first);
    }
  }
}

TEST_CASE("limits: the noise of scaled codes is that of the numbers they stand for") {
  const std::vector<double> values{-1, -0.3, 0, 0.26, 0.5, 0.77};
  ConvertOptions options = to(DType::uint8);
  options.quantization = {.scale = 0.25, .zero_point = 100};
  options.limits.snr = 0;
  long double signal = 0;
  long double error = 0;
  for (const double value : values) {
    const long double x = static_cast<float>(value);
    const long double y = std::nearbyint(static_cast<double>(x * 4)) / 4.0L;
    signal += x * x;
    error += (y - x) * (y - x);
  }
  CHECK(converted(floats(values), options).snr.value() ==
        Approx(decibels(signal, error)).epsilon(1e-13));

  // Back, rounded to float16.
  Words codes{0, 100, 103, 255};
  const Bytes record = bytes::dense(DType::uint8, Layout::linear, {4}, bytes::pack(8, codes));
  options.dtype = DType::float16;
  options.quantization.scale = 0.1;
  signal = error = 0;
  for (const std::uint64_t code : codes) {
    const long double x = (static_cast<long double>(code) - 100) * static_cast<long double>(0.1);
    const long double y = oracle_value(
        DType::float16, btf::test::oracle_dequantize(DType::uint8, DType::float16, code,
                                                     static_cast<long double>(0.1), 100)
                            .code);
    signal += x * x;
    error += (y - x) * (y - x);
  }
  CHECK(converted(record, options).snr.value() == Approx(decibels(signal, error)).epsilon(1e-12));
}

TEST_CASE("limits: COO to COO counts what is absent, and what was added up") {
  // 2^-127 in each of the absent elements of E8M0 becomes 0.
  ConvertOptions options = to(DType::float16);
  options.limits.snr = -1e9;
  const Bytes small = bytes::coo(DType::float8_e8m0fnu, {100}, {{3}}, bytes::pack(8, {0}));
  CHECK(converted(small, options).snr == 0.0);  // every one of 100 is lost
  options = to(DType::int8);
  options.limits.snr = -1e9;
  options.duplicates = btf::Duplicates::sum;
  const Bytes sums = bytes::coo(DType::int8, {4}, {{1}, {1}, {2}}, bytes::pack(8, {100, 100, 3}));
  for (const Layout layout : {Layout::coo, Layout::linear}) {
    options.layout = layout;
    CHECK(converted(sums, options).snr.value() ==
          Approx(decibels(200.0L * 200 + 9, 73.0L * 73)).epsilon(1e-13));
  }
}
