// Every criterion of diff at, just below and just above its threshold, for every kind of dtype; how
// criteria combine; and reports that are judged again.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/random_tensor.h"

using btf::DiffOptions;
using btf::DiffResult;
using btf::DType;
using btf::Gates;
using btf::Layout;
using btf::TensorDiff;
using btf::Tolerance;
using bytes::Bytes;
using bytes::Words;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double below(double x) { return std::nextafter(x, -kInf); }
double above(double x) { return std::nextafter(x, kInf); }

struct Tensor {
  DType dtype{};
  Words dims;
  Words codes;
};

btf::Result<TensorDiff> try_diff(const Tensor& actual, const Tensor& golden,
                                 const DiffOptions& options) {
  const Bytes left = bytes::pack(btf::info(actual.dtype).bits, actual.codes);
  const Bytes right = bytes::pack(btf::info(golden.dtype).bits, golden.codes);
  return btf::diff(
      {actual.dtype, btf::resolve(Layout::linear, actual.dims, actual.dtype).value(), left},
      {golden.dtype, btf::resolve(Layout::linear, golden.dims, golden.dtype).value(), right},
      options);
}

TensorDiff diff_of(const Tensor& actual, const Tensor& golden, DiffOptions options) {
  options.hints = false;
  auto result = try_diff(actual, golden, options);
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

bool passes(const Tensor& actual, const Tensor& golden, const DiffOptions& options) {
  return diff_of(actual, golden, options).result == DiffResult::same;
}

DiffOptions with(const Gates& gates, const Tolerance& tolerance = {}) {
  DiffOptions options;
  options.gates = gates;
  options.tolerance = tolerance;
  return options;
}

DiffOptions with(const Tolerance& tolerance) { return with({}, tolerance); }

bool failed(const TensorDiff& diff, const std::string& name) {
  const auto found = std::ranges::find(diff.criteria, name, &btf::CriterionResult::name);
  return found != diff.criteria.end() && !found->passed;
}

std::uint64_t random_code(DType dtype, Random& random) {
  const unsigned bits = btf::info(dtype).bits;
  if (dtype == DType::boolean) return random.below(2);
  return bits == 64 ? random.next() : random.next() & ((1ULL << bits) - 1);
}

// Finite numbers of middling size, no two tensors alike.
Tensor random_numbers(DType dtype, const Words& dims, Random& random) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  Tensor tensor{dtype, dims, Words(count)};
  for (std::uint64_t& code : tensor.codes) {
    do code = random_code(dtype, random);
    while (!std::isfinite(btf::test::oracle_value(dtype, code)) ||
           (std::abs(btf::test::oracle_value(dtype, code)) > 1e6L && btf::info(dtype).floating() &&
            dtype != DType::float8_e8m0fnu));
  }
  return tensor;
}

std::vector<DType> all_dtypes() {
  std::vector<DType> all;
  for (const btf::DTypeInfo& row : btf::dtypes()) all.push_back(row.dtype);
  return all;
}

// A gate on one figure: how to set it, and on which side of it passing lies.
struct GateRow {
  const char* name;
  bool at_least;
  std::function<double(const TensorDiff&)> figure;
  std::function<void(Gates&, double)> set;
};

const std::vector<GateRow>& gate_rows() {
  static const std::vector<GateRow> kRows{
      {"cosine", true, [](const TensorDiff& d) { return d.figures.value().cosine; },
       [](Gates& g, double x) { g.cosine = x; }},
      {"psnr", true, [](const TensorDiff& d) { return d.figures.value().psnr; },
       [](Gates& g, double x) { g.psnr = x; }},
      {"snr", true, [](const TensorDiff& d) { return d.figures.value().snr; },
       [](Gates& g, double x) { g.snr = x; }},
      {"rmse", false, [](const TensorDiff& d) { return d.figures.value().rmse; },
       [](Gates& g, double x) { g.rmse = x; }},
      {"mae", false, [](const TensorDiff& d) { return d.figures.value().mae; },
       [](Gates& g, double x) { g.mae = x; }},
      {"bias", false, [](const TensorDiff& d) { return std::abs(d.figures.value().bias); },
       [](Gates& g, double x) { g.bias = x; }},
      {"max-abs", false, [](const TensorDiff& d) { return d.max_abs; },
       [](Gates& g, double x) { g.max_abs = x; }},
      {"max-mismatch", false, [](const TensorDiff& d) { return static_cast<double>(d.mismatched); },
       [](Gates& g, double x) { g.max_mismatch = btf::MismatchLimit{x, false}; }},
      {"max-mismatch", false,
       [](const TensorDiff& d) {
         return 100 * static_cast<double>(d.mismatched) / static_cast<double>(d.compared);
       },
       [](Gates& g, double x) { g.max_mismatch = btf::MismatchLimit{x, true}; }},
      {"quantile", false,
       [](const TensorDiff& d) { return d.quantiles.empty() ? 0 : d.quantiles.front().value; },
       [](Gates& g, double x) { g.quantiles = {{.q = 0.75, .most = x}}; }},
  };
  return kRows;
}

}  // namespace

TEST_CASE("criteria: every gate at, just below and just above its threshold, every dtype") {
  Random random(11);
  for (const DType dtype : all_dtypes()) {
    for (int round = 0; round < 5; ++round) {
      // 64 elements: a share in percent is exact.
      const Tensor golden = random_numbers(dtype, {4, 16}, random);
      const Tensor actual = random_numbers(dtype, {4, 16}, random);
      DiffOptions options;
      options.figures = true;
      options.gates.quantiles = {{.q = 0.75, .most = 0}};
      const TensorDiff diff = diff_of(actual, golden, options);
      REQUIRE(diff.figures);
      REQUIRE(diff.figures->pairs == 64);
      for (const GateRow& row : gate_rows()) {
        const double value = row.figure(diff);
        CAPTURE(btf::info(dtype).name, row.name, value);
        REQUIRE(std::isfinite(value));
        const auto result = [&](double limit) {
          Gates gates;
          row.set(gates, limit);
          const TensorDiff judged = diff_of(actual, golden, with(gates));
          CHECK(failed(judged, row.name) == (judged.result == DiffResult::different));
          return judged.result == DiffResult::same;
        };
        CHECK(result(value));
        CHECK(result(row.at_least ? below(value) : above(value)));
        CHECK_FALSE(result(row.at_least ? above(value) : below(value)));
      }
    }
  }
}

TEST_CASE("criteria: steps at, just below and just above the limit, every dtype") {
  Random random(12);
  for (const DType dtype : all_dtypes()) {
    CAPTURE(btf::info(dtype).name);
    int tried = 0;
    for (int round = 0; round < 200; ++round) {
      const Tensor golden = random_numbers(dtype, {1}, random);
      const Tensor actual = random_numbers(dtype, {1}, random);
      const std::uint64_t steps = diff_of(actual, golden, {}).max_ulp;
      if (steps == 0) continue;
      ++tried;
      CHECK(passes(actual, golden, with(Tolerance{.ulp = steps})));
      CHECK(passes(actual, golden, with(Tolerance{.ulp = steps + 1})));
      CHECK_FALSE(passes(actual, golden, with(Tolerance{.ulp = steps - 1})));
    }
    CHECK(tried > 20);
  }
}

TEST_CASE("criteria: steps of one type are counted on its codes") {
  struct Row {
    DType dtype;
    std::uint64_t a, b, steps;
  };
  const Row rows[] = {
      {DType::float32, 0x3f800000, 0x3f800001, 1},
      {DType::float32, 0x00000000, 0x80000000, 0},  // 0 and -0
      {DType::float32, 0x00000001, 0x80000001, 2},  // across 0
      {DType::float32, 0x7f7fffff, 0xff7fffff, 2 * 0x7f7fffffULL},
      {DType::float32, 0x007fffff, 0x00800000, 1},  // subnormal to normal
      {DType::float64, 0x3ff0000000000000, 0x3ff0000000000003, 3},
      {DType::float64, 0x7fefffffffffffff, 0xffefffffffffffff, 2 * 0x7fefffffffffffffULL},
      {DType::float16, 0x3bff, 0x3c00, 1},
      {DType::bfloat16, 0x3f80, 0x3f85, 5},
      {DType::float8_e4m3fn, 0x00, 0x7e, 0x7e},
      {DType::float8_e5m2, 0x3c, 0x3d, 1},
      {DType::float8_e8m0fnu, 0x00, 0xfe, 0xfe},
      {DType::float4_e2m1fn, 0x7, 0xf, 14},
      {DType::float8_e4m3fnuz, 0x81, 0x01, 2},
      {DType::float8_e5m2fnuz, 0x7f, 0xff, 254},
      {DType::float8_e3m4, 0x00, 0x6f, 0x6f},
      {DType::float8_e4m3, 0x80, 0x77, 0x77},
      {DType::float8_e4m3b11fnuz, 0x07, 0x08, 1},
      {DType::int8, 0x80, 0x7f, 255},
      {DType::int64, 1ULL << 63, (1ULL << 63) - 1, ~0ULL},
      {DType::uint64, 0, ~0ULL, ~0ULL},
      {DType::int64, (1ULL << 53) + 1, 1ULL << 53, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(btf::info(row.dtype).name, row.a, row.b);
    CHECK(diff_of({row.dtype, {1}, {row.a}}, {row.dtype, {1}, {row.b}}, {}).max_ulp == row.steps);
    CHECK(diff_of({row.dtype, {1}, {row.b}}, {row.dtype, {1}, {row.a}}, {}).max_ulp == row.steps);
  }
}

TEST_CASE("criteria: between two types the coarser one counts the steps") {
  // float32 1 + 2^-11, halfway between two float16: ties to even, 0 steps from 1.
  const Tensor half{DType::float16, {1}, {0x3c00}};
  CHECK(diff_of(half, {DType::float32, {1}, {0x3f801000}}, {}).max_ulp == 0);
  CHECK(diff_of(half, {DType::float32, {1}, {0x3f801001}}, {}).max_ulp == 1);
  CHECK(diff_of({DType::float32, {1}, {0x3f803000}}, half, {}).max_ulp == 2);
  // 1e6 lies beyond float16: 65504, and on with steps of 64 up to 2^17, 128 up to 2^18, ...
  const std::uint64_t steps =
      diff_of({DType::float16, {1}, {0x7bff}}, {DType::float32, {1}, {0x49742400}}, {}).max_ulp;
  CHECK(steps > 3 * 1024);
  CHECK(steps < 4 * 1024);
  // bfloat16 has fewer significant bits than float16.
  CHECK(diff_of({DType::bfloat16, {1}, {0x3f81}}, {DType::float16, {1}, {0x3c00}}, {}).max_ulp ==
        1);
  // int8 against float32: whole numbers.
  CHECK(diff_of({DType::int8, {1}, {3}}, {DType::float32, {1}, {0x4059999a}}, {}).max_ulp == 0);
  CHECK(diff_of({DType::int8, {1}, {3}}, {DType::float32, {1}, {0x40a00000}}, {}).max_ulp == 2);
}

TEST_CASE("criteria: close takes the larger tolerances of two floats, and none of an integer") {
  struct Row {
    DType dtype;
    double rtol, atol;
  };
  const Row rows[] = {{DType::float64, 1e-7, 1e-7},
                      {DType::float32, 1.3e-6, 1e-5},
                      {DType::float16, 1e-3, 1e-5},
                      {DType::bfloat16, 1.6e-2, 1e-5},
                      {DType::float8_e4m3fn, 0x1p-4, 0x1p-10},
                      {DType::float8_e5m2, 0x1p-3, 0x1p-17},
                      {DType::float4_e2m1fn, 0.25, 0.25},
                      {DType::float8_e8m0fnu, 0.5, 0x1p-128},
                      {DType::float8_e4m3fnuz, 0x1p-4, 0x1p-11},
                      {DType::float8_e5m2fnuz, 0x1p-3, 0x1p-18},
                      {DType::float8_e3m4, 0x1p-5, 0x1p-7},
                      {DType::float8_e4m3, 0x1p-4, 0x1p-10},
                      {DType::float8_e4m3b11fnuz, 0x1p-4, 0x1p-14},
                      {DType::int8, 0, 0},
                      {DType::uint64, 0, 0},
                      {DType::boolean, 0, 0}};
  for (const Row& left : rows) {
    for (const Row& right : rows) {
      CAPTURE(btf::info(left.dtype).name, btf::info(right.dtype).name);
      const TensorDiff diff =
          diff_of({left.dtype, {1}, {1}}, {right.dtype, {1}, {1}}, with(Tolerance{.close = true}));
      const bool floats = btf::info(left.dtype).floating() && btf::info(right.dtype).floating();
      CHECK(diff.tolerance.rtol == (floats ? std::max(left.rtol, right.rtol) : 0));
      CHECK(diff.tolerance.atol == (floats ? std::max(left.atol, right.atol) : 0));
      CHECK_FALSE(diff.tolerance.half_step);
    }
  }
  const TensorDiff own = diff_of({DType::float16, {1}, {1}}, {DType::float16, {1}, {1}},
                                 with(Tolerance{.atol = 0.25, .close = true}));
  CHECK(own.tolerance.atol == 0.25);
  CHECK(own.tolerance.rtol == 1e-3);
}

TEST_CASE("criteria: several of them must all hold") {
  const Tensor golden{DType::float32, {4}, {0x3f800000, 0x40000000, 0x40400000, 0x40800000}};
  Tensor actual = golden;
  actual.codes[3] += 4;
  CHECK(passes(actual, golden, with(Tolerance{.ulp = 4})));
  CHECK(passes(actual, golden, with(Tolerance{.rtol = 1e-6})));
  CHECK(passes(actual, golden, with(Tolerance{.rtol = 1e-6, .ulp = 4})));
  CHECK_FALSE(passes(actual, golden, with(Tolerance{.rtol = 1e-6, .ulp = 3})));
  CHECK_FALSE(passes(actual, golden, with(Tolerance{.rtol = 1e-9, .ulp = 4})));
  CHECK(passes(actual, golden, with(Gates{.cosine = 0.999}, Tolerance{.ulp = 4})));
  CHECK_FALSE(passes(actual, golden, with(Gates{.cosine = 0.999}, Tolerance{.ulp = 3})));
  const TensorDiff diff =
      diff_of(actual, golden, with(Gates{.rmse = 1e-9, .max_abs = 1}, Tolerance{.ulp = 3}));
  CHECK(failed(diff, "elements"));
  CHECK(failed(diff, "rmse"));
  CHECK_FALSE(failed(diff, "max-abs"));
  CHECK(diff.criteria.size() == 3);
}

TEST_CASE("criteria: a gate alone stands for equality, but never for NaN and Inf") {
  const Tensor golden{DType::float32, {3}, {0x3f800000, 0x40000000, 0x40400000}};
  Tensor actual = golden;
  actual.codes[0] += 1;
  const Gates gates{.cosine = 0.9};
  CHECK(passes(actual, golden, with(gates)));
  CHECK(diff_of(actual, golden, with(gates)).mismatched == 1);
  for (const std::uint64_t special : {0x7fc00000ULL, 0x7f800000ULL, 0xff800000ULL}) {
    actual.codes[1] = special;
    CHECK_FALSE(passes(actual, golden, with(gates)));
    CHECK_FALSE(passes(golden, actual, with(gates)));
    CHECK(failed(diff_of(actual, golden, with(gates)), "nonfinite"));
    CHECK(passes(actual, actual, with(gates)));
    // Only a number of mismatches that was asked for lets it pass.
    CHECK(passes(actual, golden, with(Gates{.max_mismatch = btf::MismatchLimit{2, false}})));
  }
  actual.codes[1] = 0x7fc00000;
  CHECK_FALSE(passes(actual, actual, with(gates, Tolerance{.equal_nan = false})));
}

TEST_CASE("criteria: figures of tensors that are equal, zero, or have no number") {
  const auto figures = [](const Tensor& actual, const Tensor& golden) {
    DiffOptions options;
    options.figures = true;
    return diff_of(actual, golden, options).figures.value();
  };
  const Tensor zero{DType::float32, {2}, {0, 0x80000000}};
  const Tensor ones{DType::float32, {2}, {0x3f800000, 0x3f800000}};
  const Tensor nans{DType::float32, {2}, {0x7fc00000, 0x7fc00000}};
  CHECK(figures(zero, zero).cosine == 1);
  CHECK(figures(ones, ones).cosine == 1);
  CHECK(figures(ones, ones).psnr == kInf);
  CHECK(figures(ones, zero).cosine == 0);
  CHECK(figures(ones, zero).snr == -kInf);
  CHECK(figures(zero, ones).cosine == 0);
  CHECK(figures(zero, ones).psnr == 0);
  CHECK(figures(nans, nans).pairs == 0);
  CHECK(passes(nans, nans, with(Gates{.cosine = 1.0, .rmse = 0.0})));
  CHECK_FALSE(passes(nans, ones, with(Gates{.rmse = 1e9})));
  CHECK_FALSE(passes(ones, zero, with(Gates{.snr = -1000.0})));
}

TEST_CASE("criteria: the straight line that fits best, by hand") {
  const auto fit = [](const std::vector<double>& actual, const std::vector<double>& golden) {
    const auto tensor = [](const std::vector<double>& values) {
      Tensor made{DType::float64, {values.size()}, {}};
      for (const double x : values) made.codes.push_back(std::bit_cast<std::uint64_t>(x));
      return made;
    };
    DiffOptions options;
    options.figures = true;
    return diff_of(tensor(actual), tensor(golden), options).figures.value().fit;
  };
  const auto is = [](const std::optional<btf::BestFit>& found, double gain, double offset,
                     double residual) {
    return found && std::abs(found->gain - gain) <= 1e-12 &&
           std::abs(found->offset - offset) <= 1e-12 &&
           std::abs(found->residual - residual) <= 1e-7;
  };
  CHECK(is(fit({5, 7, 9}, {1, 2, 3}), 2, 3, 0));
  CHECK(is(fit({-1, -2, -3}, {1, 2, 3}), -1, 0, 0));
  CHECK(is(fit({4, 4, 4}, {1, 2, 3}), 0, 4, 0));
  // Off the line by 1, -2, 1.
  CHECK(is(fit({2, 0, 4}, {1, 2, 3}), 1, 0, std::sqrt(2.0)));
  // NaN and Inf are left out.
  CHECK(is(fit({5, kNan, 7, 8, 9}, {1, 4, 2, kInf, 3}), 2, 3, 0));
  CHECK(is(fit({1, 2}, {1, 2}), 1, 0, 0));
  CHECK(is(fit({0.1, 0.1}, {0.1, 0.1}), 1, 0, 0));
  // Through one point any line goes.
  CHECK_FALSE(fit({2, 3}, {0.1, 0.1}));
  CHECK_FALSE(fit(std::vector<double>(5000, 3.0), std::vector<double>(5000, 0.1)));
  CHECK_FALSE(fit({1, 2}, {0, 0}));
  CHECK_FALSE(fit({1}, {2}));
  CHECK_FALSE(fit({kNan, 1}, {kNan, kInf}));
}

TEST_CASE("criteria: float64 figures beyond the range of its squares") {
  const auto code = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  const Tensor golden{DType::float64, {2}, {code(1e300), code(-1e300)}};
  const Tensor actual{DType::float64, {2}, {code(2e300), code(-2e300)}};
  DiffOptions options;
  options.figures = true;
  const btf::Figures figures = diff_of(actual, golden, options).figures.value();
  CHECK(figures.rmse == Approx(1e300));
  CHECK(figures.cosine == Approx(1));
  CHECK(figures.snr == Approx(0).margin(1e-12));
  const Tensor tiny{DType::float64, {2}, {code(1e-300), code(2e-300)}};
  CHECK(diff_of(tiny, golden, options).figures->cosine == Approx(-0.31622776601683794));
}

TEST_CASE("criteria: a share of mismatches as it is written") {
  Tensor golden{DType::uint8, {1000}, Words(1000, 1)};
  Tensor actual = golden;
  for (int i = 0; i < 3; ++i) actual.codes[static_cast<std::size_t>(7 * i)] = 2;
  const auto limit = [](double percent) {
    return with(Gates{.max_mismatch = btf::MismatchLimit{percent, true}});
  };
  CHECK(passes(actual, golden, limit(0.3)));
  CHECK_FALSE(passes(actual, golden, limit(0.29999)));
  CHECK(passes(actual, golden, limit(100)));
  CHECK_FALSE(passes(actual, golden, limit(0)));
}

TEST_CASE("criteria: the largest of each row, in order") {
  const auto bytes_of = [](const Words& codes) { return Tensor{DType::int8, {2, 4}, codes}; };
  const auto top = [](std::uint64_t k) { return with(Gates{.top_k = k}); };
  const Tensor golden = bytes_of({1, 9, 5, 5, 0, 0, 0, 7});
  CHECK(passes(bytes_of({2, 90, 7, 6, 1, 1, 1, 9}), golden, top(4)));
  // A tie of golden's may be broken either way.
  CHECK(passes(bytes_of({1, 9, 5, 6, 0, 0, 0, 7}), golden, top(4)));
  // One of actual's is in order.
  const Tensor swapped = bytes_of({9, 9, 5, 6, 0, 0, 0, 7});
  CHECK_FALSE(passes(swapped, golden, top(1)));
  CHECK_FALSE(passes(bytes_of({6, 9, 5, 5, 0, 0, 0, 7}), golden, top(2)));
  const TensorDiff diff = diff_of(swapped, golden, top(9));
  REQUIRE(diff.top_k);
  CHECK(diff.top_k->k == 4);
  CHECK(diff.top_k->rows == 2);
  CHECK(diff.top_k->disagreeing == 1);
  CHECK(diff.top_k->first == Words{0});
}

TEST_CASE("criteria: an order that golden decides by less than the tolerance is as good") {
  const auto of = [](const Words& codes) { return Tensor{DType::int8, {codes.size()}, codes}; };
  const Tensor golden = of({10, 40, 42, 45, 0});
  const Tensor actual = of({10, 43, 42, 41, 0});
  const auto top = [](std::uint64_t k, Tolerance tolerance) {
    return with(Gates{.max_mismatch = btf::MismatchLimit{100, true}, .top_k = k}, tolerance);
  };
  // Places 1, 2, 3 against 3, 2, 1.
  CHECK_FALSE(passes(actual, golden, top(1, {})));
  CHECK_FALSE(passes(actual, golden, top(1, {.atol = 4.9})));
  CHECK(passes(actual, golden, top(1, {.atol = 5})));
  CHECK(passes(actual, golden, top(5, {.atol = 5})));
  CHECK(passes(actual, golden, top(3, {.ulp = 5})));
  // What golden does not have among its first is judged by its number all the same.
  CHECK(passes(actual, golden, top(1, {.rtol = 0.12})));
  CHECK_FALSE(passes(actual, golden, top(1, {.rtol = 0.11})));
  CHECK_FALSE(passes(of({46, 40, 42, 45, 0}), golden, top(1, {.atol = 34})));
  // A report tells of no other tolerance what it was not asked, unless it follows.
  TensorDiff report = diff_of(actual, golden, top(2, {.atol = 5}));
  CHECK(btf::rejudge(report, {.atol = 6}, top(2, {}).gates));
  CHECK(report.result == DiffResult::same);
  CHECK_FALSE(btf::rejudge(report, {.atol = 4}, top(2, {}).gates));
  TensorDiff refused = diff_of(actual, golden, top(2, {.atol = 4}));
  CHECK_FALSE(btf::rejudge(refused, {.atol = 5}, top(2, {}).gates));
  CHECK(btf::rejudge(refused, {.atol = 4}, top(2, {}).gates));
  CHECK(refused.result == DiffResult::different);
}

TEST_CASE("criteria: a tensor's own tolerance goes before the common one") {
  const Tensor golden{DType::float32, {1}, {0x3f800000}};
  const Tensor actual{DType::float32, {1}, {0x3f810000}};
  DiffOptions options = with(Tolerance{.rtol = 1e-9, .equal_nan = true});
  CHECK_FALSE(passes(actual, golden, options));
  options.tensor_tolerance[0] = Tolerance{.rtol = 0.01};
  CHECK(passes(actual, golden, options));
  options.tensor_tolerance.clear();
  options.tensor_tolerance[1] = Tolerance{.rtol = 0.01};
  CHECK_FALSE(passes(actual, golden, options));
}

TEST_CASE("criteria: looser gates never turn a pass into a failure") {
  Random random(13);
  const double limits[] = {-1000, -1,  -0.5, 0,        1e-9, 1e-3, 0.1,
                           0.5,   0.9, 0.99, 0.999999, 1,    10,   1000};
  for (const DType dtype : {DType::float32, DType::float16, DType::float64, DType::int8,
                            DType::int64, DType::float8_e4m3fn}) {
    for (int round = 0; round < 4; ++round) {
      const Tensor golden = random_numbers(dtype, {5, 7}, random);
      Tensor actual = golden;
      for (std::uint64_t& code : actual.codes)
        if (random.below(3) == 0) code = random_numbers(dtype, {1}, random).codes[0];
      for (const GateRow& row : gate_rows()) {
        bool before = false;
        std::vector<double> ordered(std::begin(limits), std::end(limits));
        if (row.at_least) std::ranges::reverse(ordered);
        for (const double limit : ordered) {
          CAPTURE(btf::info(dtype).name, row.name, limit);
          Gates gates;
          row.set(gates, limit);
          const bool now = passes(actual, golden, with(gates));
          CHECK((now || !before));
          before = now;
        }
      }
      bool before = false;
      for (std::uint64_t k = 7; k > 0; --k) {
        const bool now = passes(actual, golden, with(Gates{.top_k = k}));
        CHECK((now || !before));
        before = now;
      }
      before = false;
      for (const std::uint64_t ulp : {0ULL, 1ULL, 100ULL, 1ULL << 20, 1ULL << 40, ~0ULL}) {
        const bool now = passes(actual, golden, with(Tolerance{.ulp = ulp}));
        CHECK((now || !before));
        before = now;
      }
    }
  }
}

TEST_CASE("criteria: a pair of tolerances that is said to be enough is enough") {
  Random random(14);
  int pairs = 0;
  for (int round = 0; round < 300; ++round) {
    const std::vector<DType> dtypes = all_dtypes();
    const DType dtype = dtypes[random.below(dtypes.size())];
    const Tensor golden = random_numbers(dtype, {40}, random);
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes) {
      const std::uint64_t near = code ^ random.below(4);
      if (std::isfinite(btf::test::oracle_value(dtype, near)) && dtype != DType::boolean)
        code = near;
    }
    const TensorDiff diff = diff_of(actual, golden, {});
    for (const btf::RequiredPair& pair : diff.required_pairs) {
      CAPTURE(btf::info(dtype).name, pair.rtol, pair.atol);
      CHECK(passes(actual, golden, with(Tolerance{.rtol = pair.rtol, .atol = pair.atol})));
      CHECK_FALSE(passes(actual, golden,
                         with(Tolerance{.rtol = pair.rtol, .atol = pair.atol * (1 - 0x1p-40)})));
      ++pairs;
    }
  }
  CHECK(pairs > 1000);
}

TEST_CASE("criteria: a pair of tolerances that saves no atol is no advice") {
  const Tensor zero{DType::float32, {2}, {0, 0x3f800000}};
  const Tensor off{DType::float32, {2}, {0x3f800001, 0x3f800000}};
  const TensorDiff diff = diff_of(off, zero, {});
  CHECK_FALSE(diff.required_pair);
  CHECK_FALSE(diff.required_pairs.empty());
  // Elsewhere it takes less of both.
  const Tensor ramp{DType::float32, {2}, {0x3a000000, 0x41201000}};
  const TensorDiff balanced = diff_of(ramp, {DType::float32, {2}, {0, 0x41200000}}, {});
  REQUIRE(balanced.required_pair);
  CHECK(balanced.required_pair->atol < *balanced.required_atol);
}

TEST_CASE("criteria: errors are counted by decade") {
  const auto code = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  std::vector<double> errors{0, 0, 1, 9.999, 10, 0.1, 0.0999999, 1e-300, 5e-324, 1e-323, 1e308};
  Tensor golden{DType::float64, {errors.size()}, Words(errors.size(), 0)};
  Tensor actual = golden;
  for (std::size_t i = 0; i < errors.size(); ++i) actual.codes[i] = code(errors[i]);
  const TensorDiff diff = diff_of(actual, golden, with(Tolerance{.atol = 0.5}));
  CHECK(diff.equal == 2);
  std::vector<std::vector<std::int64_t>> found;
  for (const btf::DecadeCount& decade : diff.decades)
    found.push_back({decade.decade, static_cast<std::int64_t>(decade.count),
                     static_cast<std::int64_t>(decade.mismatched)});
  const std::vector<std::vector<std::int64_t>> expected{{-324, 1, 0}, {-323, 1, 0}, {-300, 1, 0},
                                                        {-2, 1, 0},   {-1, 1, 0},   {0, 2, 2},
                                                        {1, 1, 1},    {308, 1, 1}};
  CHECK(found == expected);
}

TEST_CASE("criteria: what --no-equal-nan changes in a report is counted") {
  const Tensor golden{DType::float32, {4}, {0x3f800000, 0x7fc00000, 0x40400000, 0x40800000}};
  Tensor actual = golden;
  actual.codes[0] += 1;
  const Tolerance strict{.equal_nan = false};
  TensorDiff finite = diff_of({DType::float32, {2}, {0x3f800000, 0x40400000}},
                              {DType::float32, {2}, {0x3f800001, 0x40400000}}, {});
  REQUIRE(btf::rejudge(finite, strict, {}));
  CHECK(finite.mismatched_known);
  CHECK(finite.mismatched == 1);
  CHECK(finite.required_atol);
  TensorDiff diff = diff_of(actual, golden, {});
  CHECK(diff.mismatched == 1);
  REQUIRE(btf::rejudge(diff, strict, Gates{.max_mismatch = btf::MismatchLimit{2, false}}));
  CHECK(diff.mismatched_known);
  CHECK(diff.mismatched == 2);
  CHECK(diff.result == DiffResult::same);
  CHECK_FALSE(diff.required_atol);
  CHECK(diff.required_pairs.empty());
  REQUIRE(btf::rejudge(diff, {}, {}));
  CHECK(diff.mismatched_known);
  CHECK(diff.mismatched == 1);
}

TEST_CASE("criteria: a NaN that meets an Inf is one pair") {
  const Tensor actual{DType::float32, {4}, {0x7fc00000, 0x7f800000, 0x3f800000, 0x7f800000}};
  const Tensor golden{DType::float32, {4}, {0x7f800000, 0x7fc00000, 0x3f800000, 0x7f800000}};
  for (const bool details : {false, true}) {
    DiffOptions options = with(Gates{.max_abs = 1});
    options.details = details;
    const TensorDiff diff = diff_of(actual, golden, options);
    REQUIRE(diff.criteria.size() == 2);
    CHECK(diff.criteria[0].name == "nonfinite");
    CHECK(diff.criteria[0].value == 2);
    CHECK(diff.criteria[0].text == "NaN or Inf on one side only: 2");
  }
  TensorDiff report = diff_of(actual, golden, {});
  REQUIRE(btf::rejudge(report, Tolerance{.atol = 1}, {}));
  CHECK(report.mismatched_known);
  CHECK(report.mismatched == 2);
  report.figures.reset();
  CHECK(btf::rejudge(report, {}, {}).error().code == btf::ErrorCode::refused);
}

TEST_CASE("criteria: without figures the pairs of numbers follow from the counts") {
  const Tensor actual{DType::float32, {4}, {0x7fc00000, 0x3f800001, 0x40400000, 0x7fc00000}};
  const Tensor golden{DType::float32, {4}, {0x7fc00000, 0x3f800000, 0x40400000, 0x40800000}};
  TensorDiff report = diff_of(actual, golden, {});
  report.figures.reset();
  REQUIRE(btf::rejudge(report, {}, {}));
  CHECK(report.mismatched_known);
  CHECK(report.mismatched == 2);
}

TEST_CASE("criteria: no figure holds of no pair of numbers") {
  const Tensor ones{DType::float32, {2}, {0x3f800000, 0x3f800000}};
  const Tensor nans{DType::float32, {2}, {0x7fc00000, 0x7fc00000}};
  const Tensor one_nan{DType::float32, {2}, {0x7fc00000, 0x3f800000}};
  const Gates all[] = {
      {.cosine = -1.0}, {.psnr = -1e300}, {.snr = -1e300},    {.rmse = 1e300},
      {.mae = 1e300},   {.bias = 1e300},  {.max_abs = 1e300}, {.quantiles = {{0.5, 1e300}}}};
  for (Gates gates : all) {
    gates.max_mismatch = btf::MismatchLimit{100, true};
    for (const auto& [actual, golden] : {std::pair(ones, nans), std::pair(nans, ones)}) {
      const TensorDiff diff = diff_of(actual, golden, with(gates));
      CHECK(diff.result == DiffResult::different);
      REQUIRE(diff.criteria.size() == 2);
      CHECK(diff.criteria[0].passed);
      CHECK_FALSE(diff.criteria[1].passed);
      CHECK_FALSE(diff.criteria[1].value);
      CHECK(diff.criteria[1].text.ends_with(": there is no pair of finite numbers"));
      TensorDiff report = diff_of(actual, golden, {});
      REQUIRE(btf::rejudge(report, {}, Gates{.rmse = 1e300}));
      CHECK(failed(report, "rmse"));
    }
    CHECK(passes(nans, nans, with(gates)));
    CHECK_FALSE(passes(nans, nans, with(gates, Tolerance{.equal_nan = false})));
    CHECK(passes(one_nan, ones, with(gates)));
  }
}

TEST_CASE("criteria: a report judged again says what a new comparison says") {
  Random random(15);
  int decided = 0;
  int undecided = 0;
  const double steps[] = {0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1, 100};
  const auto pick = [&] { return steps[random.below(std::size(steps))]; };
  const auto random_tolerance = [&] {
    Tolerance tolerance;
    if (random.below(2) == 0) tolerance.rtol = pick();
    if (random.below(2) == 0) tolerance.atol = pick();
    if (random.below(4) == 0) tolerance.ulp = random.below(1 << random.below(20));
    if (random.below(8) == 0) tolerance.close = true;
    tolerance.equal_nan = random.below(4) != 0;
    return tolerance;
  };
  for (int round = 0; round < 4000; ++round) {
    const std::vector<DType> dtypes = all_dtypes();
    const DType dtype = dtypes[random.below(dtypes.size())];
    const Tensor golden = random_numbers(dtype, {12}, random);
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes)
      if (random.below(3) == 0) code ^= random.below(8) & (dtype == DType::boolean ? 1 : 7);
    if (random.below(6) == 0) actual.codes[3] = random_code(dtype, random);
    DiffOptions then = with(random_tolerance());
    then.figures = true;
    TensorDiff report = diff_of(actual, golden, then);
    Gates gates;
    if (random.below(4) == 0) gates.cosine = 1 - pick();
    if (random.below(4) == 0) gates.rmse = pick();
    if (random.below(6) == 0) gates.max_abs = pick();
    if (random.below(6) == 0) gates.max_mismatch = btf::MismatchLimit{pick() * 10, true};
    const Tolerance tolerance = random_tolerance();
    const TensorDiff fresh = diff_of(actual, golden, with(gates, tolerance));
    const btf::Status status = btf::rejudge(report, tolerance, gates);
    if (!status) {
      ++undecided;
      CHECK(status.error().code == btf::ErrorCode::refused);
      continue;
    }
    ++decided;
    CAPTURE(btf::info(dtype).name, tolerance.rtol.value_or(-1), tolerance.atol.value_or(-1),
            tolerance.ulp.value_or(~0ULL), tolerance.equal_nan, then.tolerance.equal_nan);
    CHECK(report.result == fresh.result);
    CHECK(report.criteria.size() == fresh.criteria.size());
    if (report.mismatched_known)
      CHECK(report.mismatched == fresh.mismatched);
    else
      CHECK(fresh.mismatched > 0);
  }
  CHECK(decided > 2500);
  CHECK(undecided > 10);
}
