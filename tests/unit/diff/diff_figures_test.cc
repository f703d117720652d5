// What is gathered over whole tensors: tolerances that would be enough, quantiles, figures, the
// largest elements; the same from every layout and on any number of threads.
#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "btf/diff.h"
#include "support/cast_oracle.h"
#include "support/diff_pair.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/said.h"
#include "support/scratch_dir.h"

using btf::DiffOptions;
using btf::DiffResult;
using btf::DType;
using btf::Layout;
using btf::TensorDiff;
using bytes::Bytes;
using bytes::Words;
using pairs::f64;
using pairs::Tensor;
using pairs::tolerance;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kMax = std::numeric_limits<double>::max();
constexpr double kMin = std::numeric_limits<double>::denorm_min();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool passes(const Tensor& actual, const Tensor& golden, double rtol, double atol) {
  DiffOptions options = tolerance(rtol, atol);
  options.details = false;
  return pairs::diff(actual, golden, options).result == DiffResult::same;
}

Tensor random_tensor(DType dtype, const Words& dims, Random& random) {
  std::uint64_t count = 1;
  for (const std::uint64_t dim : dims) count *= dim;
  Tensor tensor{dtype, dims, Words(count)};
  for (std::uint64_t& code : tensor.codes) code = pairs::random_code(dtype, random);
  return tensor;
}

// A pair of types that are often compared, or any.
std::pair<DType, DType> random_types(Random& random) {
  const auto any = [&] { return btf::dtypes()[random.below(btf::dtypes().size())].dtype; };
  const DType dtype = any();
  return {dtype, random.below(3) == 0 ? any() : dtype};
}

// Of float64 also such as are not all over the range, and subnormal ones.
Tensor random_golden(DType dtype, std::uint64_t count, Random& random) {
  Tensor golden = random_tensor(dtype, {count}, random);
  const std::uint64_t kind = random.below(4);
  if (dtype == DType::float64 && kind < 3)
    for (std::uint64_t& code : golden.codes) {
      const std::uint64_t exponent =
          kind == 0 ? 0 : (kind == 1 ? random.below(4) : 1019 + random.below(8));
      code = (code & 0x800fffffffffffff) >> (kind == 0 ? random.below(50) : 0) | exponent << 52;
    }
  return golden;
}

}  // namespace

TEST_CASE("diff: every pair of tolerances that is told is accepted") {
  Random random(1);
  int told = 0;
  int balanced = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto [left, right] = random_types(random);
    const Tensor golden = random_golden(right, random.between(1, 6), random);
    const Tensor actual =
        left == right ? pairs::disturbed(golden, random) : random_tensor(left, golden.dims, random);
    const TensorDiff diff = pairs::diff(actual, golden, pairs::no_hints());
    CAPTURE(btf::info(left).name, btf::info(right).name, actual.codes, golden.codes);
    if (diff.required_pairs.empty()) {
      CHECK_FALSE(diff.required_pair);
      continue;
    }
    double rtol = 0;
    double atol = kInf;
    for (const btf::RequiredPair& pair : diff.required_pairs) {
      ++told;
      CAPTURE(pair.rtol, pair.atol);
      if (!passes(actual, golden, pair.rtol, pair.atol))
        CHECK(passes(actual, golden, pair.rtol, pair.atol));
      // A little less is not enough.
      const double less = pair.atol - diff.max_abs * 0x1p-48 - 4 * kMin;
      if (less >= 0 && passes(actual, golden, pair.rtol, less))
        CHECK_FALSE(passes(actual, golden, pair.rtol, less));
      CHECK(pair.rtol < diff.required_rtol.value_or(kInf));
      CHECK(pair.rtol > rtol);
      CHECK(pair.atol <= atol);
      rtol = pair.rtol;
      atol = pair.atol;
    }
    // One is advised if it saves atol.
    CHECK(diff.required_pair.has_value() == (atol < *diff.required_atol));
    if (!diff.required_pair) continue;
    CHECK(diff.required_pair->atol < *diff.required_atol);
    ++balanced;
    if (!passes(actual, golden, diff.required_pair->rtol, diff.required_pair->atol))
      CHECK(passes(actual, golden, diff.required_pair->rtol, diff.required_pair->atol));
  }
  CHECK(told > 5000);
  CHECK(balanced > 500);
}

TEST_CASE("diff: a report that is judged again says what a comparison says, or that it cannot") {
  Random random(2);
  const double rtols[] = {0, 1e-15, 1e-12, 1e-7, 1e-3, 0.1, 0.7, 3, 1e300};
  int decided = 0;
  int passed = 0;
  for (int round = 0; round < 4000; ++round) {
    const auto [left, right] = random_types(random);
    const Tensor golden = random_golden(right, random.between(1, 6), random);
    const Tensor actual =
        left == right ? pairs::disturbed(golden, random) : random_tensor(left, golden.dims, random);
    const TensorDiff made =
        pairs::diff(actual, golden, random.below(2) == 0 ? pairs::no_hints() : tolerance(1e-3, 0));
    // Tolerances at what the report tells, give or take a little.
    std::vector<btf::Tolerance> wanted;
    const auto around = [&](double value) {
      const double shares[] = {1 - 1e-9, 1 - 0x1p-49, 1 - 0x1p-51, 1, 1 + 0x1p-52, 1 + 1e-9};
      return value * shares[random.below(6)];
    };
    for (const btf::RequiredPair& pair : made.required_pairs) {
      wanted.push_back({.rtol = pair.rtol, .atol = around(pair.atol)});
      wanted.push_back(
          {.rtol = pair.rtol, .atol = std::max(0.0, pair.atol - made.max_abs * 0x1p-51)});
      wanted.push_back({.rtol = around(pair.rtol), .atol = pair.atol});
    }
    if (made.required_atol) wanted.push_back({.atol = around(*made.required_atol)});
    if (made.required_rtol) wanted.push_back({.rtol = around(*made.required_rtol)});
    wanted.push_back({.rtol = rtols[random.below(9)], .atol = around(made.max_abs)});
    wanted.push_back({.ulp = made.max_ulp - random.below(2)});
    wanted.push_back({.rtol = rtols[random.below(9)], .ulp = made.max_ulp + random.below(2)});
    wanted.push_back({.equal_nan = false});
    for (const btf::Tolerance& tolerance : wanted) {
      TensorDiff again = made;
      if (!btf::rejudge(again, tolerance, {})) continue;
      ++decided;
      DiffOptions options = pairs::no_hints();
      options.tolerance = tolerance;
      const TensorDiff fresh = pairs::diff(actual, golden, options);
      passed += fresh.result == DiffResult::same ? 1 : 0;
      if (again.result == fresh.result) continue;
      CAPTURE(btf::info(left).name, btf::info(right).name, actual.codes, golden.codes);
      CAPTURE(tolerance.rtol.value_or(-1), tolerance.atol.value_or(-1), tolerance.ulp.value_or(7));
      CAPTURE(made.required_atol.value_or(-1), made.max_abs, made.required_rtol.value_or(-1));
      CHECK(again.result == fresh.result);
    }
  }
  CHECK(decided > 10000);
  CHECK(passed > 2000);
}

namespace {

// numpy.quantile's definition, over a sorted list.
double quantile_of(std::vector<double> errors, double q) {
  std::ranges::sort(errors);
  const double position = q * static_cast<double>(errors.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  const double a = errors[below];
  const double b = errors[std::min(below + 1, errors.size() - 1)];
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

std::vector<double> quantiles_of(const Tensor& actual, const Tensor& golden,
                                 const std::vector<double>& qs) {
  DiffOptions options = pairs::no_hints();
  options.details = false;
  for (const double q : qs) options.gates.quantiles.push_back({q, 0});
  std::vector<double> values;
  const TensorDiff diff = pairs::diff(actual, golden, options);
  for (std::size_t i = 0; i < diff.quantiles.size(); ++i) {
    CHECK(diff.quantiles[i].q == qs[i]);
    values.push_back(diff.quantiles[i].value);
  }
  return values;
}

}  // namespace

TEST_CASE("diff: quantiles with many ties, in any order, asked for more than once") {
  Random random(3);
  const std::vector<double> qs{0.99, 0, 0.5, 1, 0.25, 0.5, 0.999, 1.0 / 3};
  for (const std::uint64_t count : {1U, 2U, 3U, 100U, 1025U, 5000U}) {
    std::vector<double> actual;
    std::vector<double> golden;
    std::vector<double> errors;
    for (std::uint64_t i = 0; i < count; ++i) {
      golden.push_back(static_cast<double>(random.below(100)));
      const double step = static_cast<double>(random.below(4));
      actual.push_back(golden.back() + (random.below(50) == 0 ? 0.3 : step));
      errors.push_back(std::abs(actual.back() - golden.back()));
      // These are not counted.
      if (random.below(5) == 0) {
        golden.push_back(kNan);
        actual.push_back(random.below(2) == 0 ? kNan : kInf);
      }
    }
    std::vector<double> expected;
    for (const double q : qs) expected.push_back(quantile_of(errors, q));
    CAPTURE(count);
    CHECK(quantiles_of(f64(actual), f64(golden), qs) == expected);
  }
}

TEST_CASE("diff: quantiles where errors are beyond the largest double") {
  // Errors 1, 2, Inf, Inf.
  const Tensor actual = f64({1, 2, kMax, kMax});
  const Tensor golden = f64({0, 0, -kMax, -kMax});
  const std::vector<double> qs{0, 1.0 / 3, 0.4, 2.0 / 3, 0.9, 1};
  CHECK(quantiles_of(actual, golden, qs) == std::vector<double>{1, 2, kInf, kInf, kInf, kInf});
}

TEST_CASE("diff: a quantile that is none is an error") {
  for (const double q : {-0.1, 1.1, kNan, kInf}) {
    DiffOptions options = pairs::no_hints();
    options.gates.quantiles = {{q, 1}};
    const auto diff = pairs::try_diff(f64({1, 2}), f64({1, 3}), options);
    REQUIRE_FALSE(diff);
    CHECK(diff.error().code == btf::ErrorCode::invalid_argument);
  }
}

TEST_CASE("diff: the share of mismatches at its limit") {
  // 0.57 * 10000 is 5699.999... in doubles.
  for (const auto& [percent, mismatches] :
       {std::pair{0.57, 57}, std::pair{0.07, 7}, std::pair{1.1, 110}, std::pair{33.33, 3333}}) {
    for (const int more : {-1, 0, 1}) {
      std::vector<double> actual(10000, 1);
      std::fill_n(actual.begin(), mismatches + more, 2);
      DiffOptions options = pairs::no_hints();
      options.gates.max_mismatch = btf::MismatchLimit{percent, true};
      const TensorDiff diff = pairs::diff(f64(actual), f64(std::vector<double>(10000, 1)), options);
      CAPTURE(percent, more);
      CHECK((diff.result == DiffResult::same) == (more <= 0));
    }
  }
}

namespace {

// Codes whose values are near 1, a few of any size.
Tensor mild_tensor(DType dtype, const Words& dims, Random& random) {
  Tensor tensor = random_tensor(dtype, dims, random);
  if (dtype == DType::float32)
    for (std::uint64_t& code : tensor.codes)
      if (random.below(100) != 0) code = (code & 0x807fffff) | 0x3f800000;
  if (dtype == DType::float64)
    for (std::uint64_t& code : tensor.codes)
      if (random.below(100) != 0) code = (code & 0x800fffffffffffff) | 1023ULL << 52;
  return tensor;
}

// Figures by one loop over long doubles, largest elements by sorting rows.
struct Expected {
  btf::Figures figures;
  long double rms = 0;     // of the larger side
  long double spread = 1;  // of golden, of its squares
  btf::TopK top_k;
};

std::vector<std::uint64_t> largest(const Tensor& tensor, std::uint64_t from, std::uint64_t length,
                                   std::uint64_t k) {
  std::vector<std::tuple<bool, long double, std::uint64_t>> row;
  for (std::uint64_t i = 0; i < length; ++i) {
    const long double value = btf::test::oracle_value(tensor.dtype, tensor.codes[from + i]);
    row.emplace_back(!std::isnan(value), std::isnan(value) ? 0 : -value, i);
  }
  std::ranges::sort(row);
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < std::min(k, length); ++i) indices.push_back(std::get<2>(row[i]));
  return indices;
}

// Do both lists name the same elements at every place, or elements whose golden numbers the
// tolerance of everything() takes for equal?
bool same_top(const Tensor& actual, const Tensor& golden, std::uint64_t from, std::uint64_t length,
              std::uint64_t k) {
  const auto value = [&](std::uint64_t i) {
    return btf::test::oracle_value(golden.dtype, golden.codes[from + i]);
  };
  return std::ranges::equal(
      largest(actual, from, length, k), largest(golden, from, length, k),
      [&](std::uint64_t a, std::uint64_t g) {
        if (value(a) == value(g) || (std::isnan(value(a)) && std::isnan(value(g)))) return true;
        return std::isfinite(value(a)) && std::isfinite(value(g)) &&
               std::abs(value(a) - value(g)) <= 1e-5L + 1e-3L * std::abs(value(g));
      });
}

using FinitePairs = std::vector<std::pair<long double, long double>>;

// In two passes: first the means, then the distances from them.
std::optional<btf::BestFit> fit_of(const FinitePairs& pairs, bool equal, long double& part) {
  if (pairs.empty()) return std::nullopt;
  if (equal) return btf::BestFit{};
  const auto n = static_cast<long double>(pairs.size());
  long double mean_actual = 0;
  long double mean_golden = 0;
  for (const auto& [a, g] : pairs) {
    mean_actual += a / n;
    mean_golden += g / n;
  }
  long double spread = 0;
  long double along = 0;
  long double square = 0;
  for (const auto& [a, g] : pairs) {
    spread += (g - mean_golden) * (g - mean_golden);
    along += (a - mean_actual) * (g - mean_golden);
    square += g * g;
  }
  if (std::ranges::all_of(pairs, [&](const auto& p) { return p.second == pairs[0].second; }))
    return std::nullopt;
  part = spread / square;
  const long double gain = along / spread;
  const long double offset = mean_actual - gain * mean_golden;
  long double left = 0;
  for (const auto& [a, g] : pairs) left += (a - gain * g - offset) * (a - gain * g - offset);
  return btf::BestFit{static_cast<double>(gain), static_cast<double>(offset),
                      static_cast<double>(std::sqrt(left / n))};
}

Expected expected_of(const Tensor& actual, const Tensor& golden, std::uint64_t k) {
  Expected expected;
  btf::Figures& figures = expected.figures;
  long double error2 = 0;
  long double actual2 = 0;
  long double golden2 = 0;
  long double product = 0;
  long double peak = 0;
  long double distance = 0;
  long double error = 0;
  FinitePairs pairs;
  for (std::size_t i = 0; i < golden.codes.size(); ++i) {
    const long double a = btf::test::oracle_value(actual.dtype, actual.codes[i]);
    const long double g = btf::test::oracle_value(golden.dtype, golden.codes[i]);
    if (!std::isfinite(a) || !std::isfinite(g)) continue;
    ++figures.pairs;
    pairs.emplace_back(a, g);
    error2 += (a - g) * (a - g);
    distance += std::abs(a - g);
    error += a - g;
    actual2 += a * a;
    golden2 += g * g;
    product += a * g;
    peak = std::max(peak, std::abs(g));
  }
  figures.psnr = figures.snr = kInf;
  const long double n = static_cast<long double>(pairs.size());
  expected.rms = pairs.empty() ? 0 : std::sqrt(std::max(actual2, golden2) / n);
  figures.fit = fit_of(pairs, error2 == 0, expected.spread);
  if (error2 != 0) {
    const long double mean = error2 / static_cast<long double>(figures.pairs);
    const long double norms = std::sqrt(actual2) * std::sqrt(golden2);
    figures.rmse = static_cast<double>(std::sqrt(mean));
    figures.mae = static_cast<double>(distance / static_cast<long double>(figures.pairs));
    figures.bias = static_cast<double>(error / static_cast<long double>(figures.pairs));
    figures.cosine = norms == 0 ? 0 : static_cast<double>(product / norms);
    figures.psnr = static_cast<double>(20 * std::log10(peak / std::sqrt(mean)));
    figures.snr = static_cast<double>(10 * std::log10(golden2 / error2));
  }
  const std::uint64_t length = golden.dims.empty() ? 1 : golden.dims.back();
  expected.top_k.k = std::min(k, length);
  const Words rows(golden.dims.begin(), golden.dims.end() - (golden.dims.empty() ? 0 : 1));
  Words index(rows.size());
  for (std::uint64_t from = 0; from < golden.codes.size(); from += length) {
    ++expected.top_k.rows;
    if (!same_top(actual, golden, from, length, k)) {
      ++expected.top_k.disagreeing;
      if (!expected.top_k.first) expected.top_k.first = index;
    }
    naive::next(index, rows);
  }
  return expected;
}

bool near(double found, double expected) {
  return found == expected || std::abs(found - expected) <= 1e-13 * (1 + std::abs(expected));
}

// To the digits that sums of squares have: a spread that is small beside the mean takes its part.
void check_fit(const std::optional<btf::BestFit>& found, const Expected& expected) {
  const auto& fit = expected.figures.fit;
  REQUIRE(found.has_value() == fit.has_value());
  if (!found) return;
  const auto near = [](double a, double b, long double most) {
    return std::abs(static_cast<long double>(a) - b) <= most + kMin;
  };
  const long double most = 1e-13L / expected.spread * (1 + std::abs(fit->gain));
  CHECK(near(found->gain, fit->gain, most));
  CHECK(near(found->offset, fit->offset, most * expected.rms));
  CHECK(near(found->residual, fit->residual, std::sqrt(most) * expected.rms));
}

void check_against(const TensorDiff& diff, const Expected& expected) {
  REQUIRE(diff.figures);
  CHECK(diff.figures->pairs == expected.figures.pairs);
  CHECK((expected.figures.rmse == 0 ||
         std::abs(diff.figures->rmse / expected.figures.rmse - 1) <= 1e-13));
  CHECK((expected.figures.mae == 0 ||
         std::abs(diff.figures->mae / expected.figures.mae - 1) <= 1e-13));
  CHECK(std::abs(diff.figures->bias - expected.figures.bias) <= 1e-13 * expected.figures.mae);
  CHECK(near(diff.figures->cosine, expected.figures.cosine));
  CHECK(near(diff.figures->psnr, expected.figures.psnr));
  CHECK(near(diff.figures->snr, expected.figures.snr));
  check_fit(diff.figures->fit, expected);
  REQUIRE(diff.top_k);
  CHECK(diff.top_k->k == expected.top_k.k);
  CHECK(diff.top_k->rows == expected.top_k.rows);
  CHECK(diff.top_k->disagreeing == expected.top_k.disagreeing);
  CHECK(diff.top_k->first == expected.top_k.first);
}

Bytes dense_file(const naive::Name& name, const Tensor& tensor) {
  const std::uint64_t element = btf::info(tensor.dtype).bits / 8U;
  const naive::Array array = naive::layout(name.name, tensor.dims, element);
  return bytes::file({bytes::dense(tensor.dtype, name.code, tensor.dims,
                                   naive::store(array, pairs::packed(tensor), element))});
}

Bytes linear_file(const Tensor& tensor) {
  return bytes::file(
      {bytes::dense(tensor.dtype, Layout::linear, tensor.dims, pairs::packed(tensor))});
}

Bytes sparse_file(const Tensor& tensor) {
  std::vector<Words> indices;
  Words values;
  Words index(tensor.dims.size());
  for (const std::uint64_t code : tensor.codes) {
    if (code != 0) {
      indices.push_back(index);
      values.push_back(code);
    }
    naive::next(index, tensor.dims);
  }
  return bytes::file({bytes::coo(tensor.dtype, tensor.dims, indices,
                                 bytes::pack(btf::info(tensor.dtype).bits, values))});
}

TensorDiff file_diff(const Bytes& actual, const Bytes& golden, const DiffOptions& options) {
  const ScratchDir scratch;
  std::optional<TensorDiff> found;
  const auto same = btf::diff(bytes::open(bytes::save(scratch, "actual.btf", actual)),
                              bytes::open(bytes::save(scratch, "golden.btf", golden)), options,
                              [&](const TensorDiff& diff) { found = diff; });
  if (!same) throw std::runtime_error(same.error().text());
  return found.value();
}

DiffOptions everything(std::uint64_t k) {
  DiffOptions options = tolerance(1e-3, 1e-5);
  options.figures = true;
  options.gates.top_k = k;
  options.gates.quantiles = {{0.9, 1}, {0.37, 1}};
  return options;
}

// To the last bit.
std::vector<double> numbers(const TensorDiff& diff) {
  std::vector<double> all{diff.max_abs,
                          diff.max_rel,
                          static_cast<double>(diff.max_ulp),
                          static_cast<double>(diff.mismatched),
                          static_cast<double>(diff.equal),
                          diff.required_atol.value_or(-1),
                          diff.required_rtol.value_or(-1),
                          diff.figures->rmse,
                          diff.figures->cosine,
                          diff.figures->psnr,
                          diff.figures->snr,
                          diff.figures->mae,
                          diff.figures->bias,
                          static_cast<double>(diff.top_k->disagreeing)};
  if (const auto& fit = diff.figures->fit)
    all.insert(all.end(), {fit->gain, fit->offset, fit->residual});
  for (const btf::QuantileValue& quantile : diff.quantiles) all.push_back(quantile.value);
  for (const btf::RequiredPair& pair : diff.required_pairs) all.push_back(pair.atol);
  for (const btf::DecadeCount& decade : diff.decades) {
    all.push_back(static_cast<double>(decade.count));
    all.push_back(static_cast<double>(decade.mismatched));
  }
  for (const auto* list : {&diff.first, &diff.largest})
    for (const btf::Mismatch& mismatch : *list)
      all.insert(all.end(), mismatch.index.begin(), mismatch.index.end());
  for (const auto* worst : {&diff.worst_abs, &diff.worst_rel})
    if (*worst) all.insert(all.end(), (*worst)->index.begin(), (*worst)->index.end());
  return all;
}

}  // namespace

TEST_CASE("diff: figures and largest elements against one loop, of every type") {
  Random random(4);
  for (const btf::DTypeInfo& row : btf::dtypes()) {
    for (const Words& dims : {Words{}, Words{1}, Words{7}, Words{3, 5}, Words{2, 3, 700}}) {
      const Tensor golden = mild_tensor(row.dtype, dims, random);
      const Tensor actual = pairs::disturbed(golden, random);
      const std::uint64_t k = random.between(1, 6);
      CAPTURE(row.name, dims, k);
      check_against(pairs::diff(actual, golden, everything(k)), expected_of(actual, golden, k));
      const DType other = btf::dtypes()[random.below(btf::dtypes().size())].dtype;
      const Tensor mixed = mild_tensor(other, dims, random);
      check_against(pairs::diff(actual, mixed, everything(k)), expected_of(actual, mixed, k));
    }
  }
}

TEST_CASE("diff: figures and largest elements from every layout") {
  Random random(5);
  for (const naive::Name& name : naive::names()) {
    const std::size_t rank = std::max<std::size_t>(name.least_rank, 4);
    const std::uint64_t channels = naive::can_hold(name, rank, 11) ? 11 : 3;
    const Tensor golden =
        mild_tensor(DType::float32, naive::dims_for(name, rank, channels, 37), random);
    const Tensor actual = pairs::disturbed(golden, random);
    const Expected expected = expected_of(actual, golden, 3);
    CAPTURE(name.name, golden.dims);
    check_against(file_diff(dense_file(name, actual), linear_file(golden), everything(3)),
                  expected);
    check_against(file_diff(linear_file(actual), dense_file(name, golden), everything(3)),
                  expected);
    check_against(file_diff(dense_file(name, actual), dense_file(name, golden), everything(3)),
                  expected);
  }
}

TEST_CASE("diff: figures and largest elements of sparse tensors") {
  Random random(6);
  for (const DType dtype : {DType::float32, DType::float64, DType::int64, DType::int4,
                            DType::float16, DType::float8_e8m0fnu, DType::boolean}) {
    for (const Words& dims : {Words{}, Words{1}, Words{40}, Words{9, 1}, Words{5, 6, 7}}) {
      Tensor golden = mild_tensor(dtype, dims, random);
      for (std::uint64_t& code : golden.codes)
        if (random.below(3) != 0) code = 0;
      Tensor actual = golden;
      for (std::uint64_t& code : actual.codes)
        if (random.below(9) == 0) code = pairs::random_code(dtype, random);
      const std::uint64_t k = random.between(1, 9);
      const Expected expected = expected_of(actual, golden, k);
      CAPTURE(btf::info(dtype).name, dims, k);
      const TensorDiff dense = pairs::diff(actual, golden, everything(k));
      for (const TensorDiff& diff :
           {file_diff(sparse_file(actual), sparse_file(golden), everything(k)),
            file_diff(sparse_file(actual), linear_file(golden), everything(k)),
            file_diff(linear_file(actual), sparse_file(golden), everything(k))}) {
        check_against(diff, expected);
        REQUIRE(diff.quantiles.size() == 2);
        CHECK(diff.quantiles[0].value == dense.quantiles[0].value);
        CHECK(diff.quantiles[1].value == dense.quantiles[1].value);
        CHECK(diff.equal == dense.equal);
        CHECK(diff.required_pairs.size() == dense.required_pairs.size());
      }
    }
  }
}

TEST_CASE(
    "diff: figures and largest elements of large planes, one side sparse or in another layout") {
  Random random(61);
  // Rows that fit a slab beside all channels, that do not, and that are a tensor of their own.
  for (const Words& dims : {Words{2, 19, 61, 130}, Words{1, 21, 3, 5003}, Words{1, 3, 1, 90001}}) {
    Tensor golden = mild_tensor(DType::float32, dims, random);
    for (std::uint64_t& code : golden.codes)
      if (random.below(8) != 0) code = 0;
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes)
      if (random.below(5000) == 0) code = pairs::random_code(DType::float32, random);
    const Expected expected = expected_of(actual, golden, 4);
    for (const naive::Name& name : naive::names()) {
      if (!naive::can_hold(name, 4, dims[1])) continue;
      CAPTURE(dims, name.name);
      check_against(file_diff(dense_file(name, actual), linear_file(golden), everything(4)),
                    expected);
      check_against(file_diff(dense_file(name, actual), sparse_file(golden), everything(4)),
                    expected);
      check_against(file_diff(sparse_file(actual), dense_file(name, golden), everything(4)),
                    expected);
    }
  }
}

TEST_CASE("diff: no elements, whatever is asked for") {
  for (const Words& dims : {Words{0}, Words{0, 3}, Words{3, 0}, Words{2, 0, 5}}) {
    const Tensor none{DType::float32, dims, {}};
    const TensorDiff diff = pairs::diff(none, none, everything(2));
    CHECK(diff.result == DiffResult::same);
    CHECK(diff.compared == 0);
    CHECK(diff.top_k.value().rows == 0);
  }
}

TEST_CASE("diff: every figure is the same to the last bit for any threads and memory") {
  Random random(7);
  const auto check = [](const Bytes& actual, const Bytes& golden) {
    DiffOptions options = everything(4);
    std::vector<std::vector<double>> found;
    for (const unsigned jobs : {1U, 3U, 64U})
      for (const std::uint64_t memory : {2U << 20, 128U << 20}) {
        options.execution.jobs = jobs;
        options.execution.memory = memory;
        found.push_back(numbers(file_diff(actual, golden, options)));
        CAPTURE(jobs, memory);
        CHECK(found.back() == found.front());
      }
  };
  // Below 4 MiB there is one thread only.
  const Words single{2, 37, 101, 150};
  const Tensor golden = mild_tensor(DType::float32, single, random);
  const Bytes actual = linear_file(pairs::disturbed(golden, random));
  check(actual, linear_file(golden));
  const auto& channels_last = *std::ranges::find(naive::names(), "kHWC", &naive::Name::name);
  check(actual, dense_file(channels_last, golden));
  check(sparse_file(golden), dense_file(channels_last, pairs::disturbed(golden, random)));
  const Words twice{37, 101, 150};
  const Tensor large = mild_tensor(DType::float64, twice, random);
  check(linear_file(pairs::disturbed(large, random)), linear_file(large));
  check(linear_file(random_tensor(DType::int64, twice, random)), linear_file(large));
}

TEST_CASE("diff: a top that does not fit the memory is refused, however long the row") {
  const auto compare = [](DType dtype, std::uint64_t length, std::uint64_t k) {
    DiffOptions options = pairs::no_hints();
    options.gates.top_k = k;
    options.execution.memory = 1U << 20;
    const Tensor tensor{dtype, {length}, Words(length)};
    return pairs::try_diff(tensor, tensor, options);
  };
  // 16 bytes on either side; of long doubles 32.
  CHECK(compare(DType::float32, 40000, 32768));
  CHECK_FALSE(compare(DType::float32, 40000, 32769));
  CHECK(compare(DType::float32, 32768, UINT64_MAX));
  CHECK(compare(DType::int64, 40000, 16384));
  const auto refused = compare(DType::int64, 40000, UINT64_MAX);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == btf::ErrorCode::refused);
  CHECK(said(refused.error()).find("40000") != std::string::npos);
  CHECK(said(refused.error()).find("16384") != std::string::npos);
}

TEST_CASE("diff: the top of no elements is an error, and a short row is its own top") {
  DiffOptions options = pairs::no_hints();
  options.gates.top_k = 0;
  CHECK_FALSE(pairs::try_diff(f64({1, 2}), f64({1, 2}), options));
  options.gates.top_k = 5;
  TensorDiff diff = pairs::diff(f64({1, 2}), f64({2, 1}), options);
  CHECK(diff.top_k.value().k == 2);
  CHECK(diff.result == DiffResult::different);
  REQUIRE(btf::rejudge(diff, {}, options.gates));
  CHECK(diff.result == DiffResult::different);
}
