#include "btf/diff.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"

using btf::DiffOptions;
using btf::DiffResult;
using btf::DType;
using btf::ErrorCode;
using btf::Layout;
using btf::Mismatch;
using btf::TensorDiff;
using btf::TensorFile;
using bytes::Bytes;
using bytes::Words;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
const std::string kGood = BTF_TESTDATA_DIR "/good/";

double below(double x) { return std::nextafter(x, -kInf); }
double above(double x) { return std::nextafter(x, kInf); }

DiffOptions tolerance(double rtol, double atol) {
  DiffOptions options;
  options.tolerance = {.rtol = rtol, .atol = atol};
  return options;
}

std::uint64_t product(const Words& dims) {
  std::uint64_t all = 1;
  for (const std::uint64_t dim : dims) all *= dim;
  return all;
}

Words index_of(const Words& dims, std::uint64_t number) {
  Words index(dims.size());
  for (std::size_t d = dims.size(); d-- > 0; number /= dims[d]) index[d] = number % dims[d];
  return index;
}

// Codes in row-major order.
struct Tensor {
  DType dtype{};
  Words dims;
  Words codes;
};

Tensor line(DType dtype, const Words& codes) { return {dtype, {codes.size()}, codes}; }

template <typename T>
Tensor numbers(DType dtype, const std::vector<T>& values) {
  Words codes(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&codes[i], &values[i], sizeof(T));
  return line(dtype, codes);
}

Tensor f32(const std::vector<float>& values) { return numbers(DType::float32, values); }
Tensor f64(const std::vector<double>& values) { return numbers(DType::float64, values); }

btf::Result<TensorDiff> try_diff(const Tensor& actual, const Tensor& golden,
                                 const DiffOptions& options = {}) {
  const Bytes left = bytes::pack(btf::info(actual.dtype).bits, actual.codes);
  const Bytes right = bytes::pack(btf::info(golden.dtype).bits, golden.codes);
  const btf::TensorView a{actual.dtype,
                          btf::resolve(Layout::linear, actual.dims, actual.dtype).value(), left};
  const btf::TensorView g{golden.dtype,
                          btf::resolve(Layout::linear, golden.dims, golden.dtype).value(), right};
  return btf::diff(a, g, options);
}

TensorDiff diff_of(const Tensor& actual, const Tensor& golden, const DiffOptions& options = {}) {
  auto result = try_diff(actual, golden, options);
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

bool passes(const Tensor& actual, const Tensor& golden, const DiffOptions& options = {}) {
  const TensorDiff diff = diff_of(actual, golden, options);
  CHECK((diff.mismatched == 0) == (diff.result == DiffResult::same));
  return diff.result == DiffResult::same;
}

Bytes linear(const Tensor& tensor) {
  return bytes::dense(tensor.dtype, Layout::linear, tensor.dims,
                      bytes::pack(btf::info(tensor.dtype).bits, tensor.codes));
}

// With junk for padding.
Bytes stored(const naive::Name& name, const Tensor& tensor) {
  const unsigned element = btf::info(tensor.dtype).bits / 8;
  const naive::Array array = naive::layout(name.name, tensor.dims, element);
  Bytes data(array.elements() * element, std::byte{0x7f});
  const Bytes packed = bytes::pack(element * 8, tensor.codes);
  for (std::size_t i = 0; i < array.place.size(); ++i)
    std::copy_n(&packed[i * element], element, &data[array.place[i] * element]);
  return bytes::dense(tensor.dtype, name.code, tensor.dims, data);
}

Bytes sparse(const Tensor& tensor) {
  std::vector<Words> indices;
  Words values;
  for (std::uint64_t i = tensor.codes.size(); i-- > 0;) {
    if (tensor.codes[i] == 0) continue;
    indices.push_back(index_of(tensor.dims, i));
    values.push_back(tensor.codes[i]);
  }
  return bytes::coo(tensor.dtype, tensor.dims, indices,
                    bytes::pack(btf::info(tensor.dtype).bits, values));
}

struct FileDiff {
  btf::Result<bool> same;
  std::vector<TensorDiff> tensors;
};

class Files {
 public:
  FileDiff diff(const std::vector<Bytes>& actual, const std::vector<Bytes>& golden,
                const DiffOptions& options = {}) const {
    return diff_paths(bytes::save(scratch_, "actual.btf", bytes::file(actual)),
                      bytes::save(scratch_, "golden.btf", bytes::file(golden)), options);
  }

  static FileDiff diff_paths(const std::string& actual, const std::string& golden,
                             const DiffOptions& options = {}) {
    FileDiff all;
    all.same = btf::diff(bytes::open(actual), bytes::open(golden), options,
                         [&](const TensorDiff& tensor) { all.tensors.push_back(tensor); });
    return all;
  }

  // Of one tensor.
  TensorDiff one(const Bytes& actual, const Bytes& golden, const DiffOptions& options = {}) const {
    FileDiff all = diff({actual}, {golden}, options);
    if (!all.same) throw std::runtime_error(all.same.error().text());
    if (all.tensors.size() != 1) throw std::runtime_error("not one tensor");
    return all.tensors.front();
  }

  const ScratchDir& scratch() const { return scratch_; }

 private:
  ScratchDir scratch_;
};

void write(std::ostream& out, const std::optional<Mismatch>& mismatch) {
  if (!mismatch) {
    out << "none\n";
    return;
  }
  out << Catch::StringMaker<Words>::convert(mismatch->index) << ' ' << mismatch->actual_code << ' '
      << mismatch->golden_code << ' ' << mismatch->abs_error << ' ' << mismatch->rel_error << ' '
      << mismatch->allowed << ' ' << mismatch->actual_offset.value_or(0) << ' '
      << mismatch->golden_offset.value_or(0) << '\n';
}

// Everything, to compare whole results.
std::string text(const TensorDiff& diff) {
  std::ostringstream out;
  out.precision(17);
  out << static_cast<int>(diff.result) << ' ' << diff.reason << ' ' << diff.compared << ' '
      << diff.mismatched << ' ' << diff.max_abs << ' ' << diff.max_rel << '\n'
      << diff.nan.both << ' ' << diff.nan.actual << ' ' << diff.nan.golden << ' ' << diff.inf.both
      << ' ' << diff.inf.opposite << ' ' << diff.inf.actual << ' ' << diff.inf.golden << '\n'
      << diff.required_atol.value_or(-1) << ' ' << diff.required_rtol.value_or(-1) << '\n';
  write(out, diff.worst_abs);
  write(out, diff.worst_rel);
  for (const Mismatch& mismatch : diff.first) write(out, mismatch);
  return out.str();
}

std::uint64_t random_code(DType dtype, Random& random) {
  const unsigned bits = btf::info(dtype).bits;
  return bits == 64 ? random.next() : random.next() & ((1ULL << bits) - 1);
}

Tensor random_tensor(DType dtype, const Words& dims, Random& random) {
  Tensor tensor{dtype, dims, Words(product(dims))};
  for (std::uint64_t& code : tensor.codes) code = random_code(dtype, random);
  return tensor;
}

// Like `tensor`, but some codes are a step or two away and a few are anything.
Tensor disturbed(const Tensor& tensor, Random& random) {
  Tensor other = tensor;
  for (std::uint64_t& code : other.codes) {
    const unsigned bits = btf::info(tensor.dtype).bits;
    const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
    if (random.below(4) == 0) code = (code + random.below(5) - 2) & mask;
    if (random.below(40) == 0) code = random_code(tensor.dtype, random);
  }
  return other;
}

// In double, Inf beyond it: by these the worst is chosen.
struct Error {
  double abs = 0;
  double rel = 0;
};

Error brute_error(const Tensor& actual, const Tensor& golden, std::uint64_t i) {
  const long double a = btf::test::oracle_value(actual.dtype, actual.codes[i]);
  const long double g = btf::test::oracle_value(golden.dtype, golden.codes[i]);
  const long double error = std::abs(a - g);
  return {static_cast<double>(error), error == 0 ? 0 : static_cast<double>(error / std::abs(g))};
}

// The whole answer by one loop over long doubles.
struct Brute {
  std::uint64_t mismatched = 0;
  double max_abs = 0;
  double max_rel = 0;
  btf::NanCount nan;
  btf::InfCount inf;
  std::vector<std::uint64_t> places;  // of the mismatches
  std::optional<std::uint64_t> worst_abs;
  std::optional<std::uint64_t> worst_rel;
};

Brute brute_force(const Tensor& actual, const Tensor& golden, const btf::Tolerance& tolerance) {
  Brute all;
  double worst_abs = 0;
  double worst_rel = 0;
  for (std::uint64_t i = 0; i < golden.codes.size(); ++i) {
    const long double a = btf::test::oracle_value(actual.dtype, actual.codes[i]);
    const long double g = btf::test::oracle_value(golden.dtype, golden.codes[i]);
    bool accepted = false;
    if (std::isfinite(a) && std::isfinite(g)) {
      const auto [error, rel] = brute_error(actual, golden, i);
      accepted =
          std::abs(a - g) <= tolerance.atol.value_or(0) + tolerance.rtol.value_or(0) * std::abs(g);
      all.max_abs = std::max(all.max_abs, error);
      all.max_rel = std::max(all.max_rel, rel);
      if (!accepted && error > worst_abs) {
        worst_abs = error;
        all.worst_abs = i;
      }
      if (!accepted && rel > worst_rel) {
        worst_rel = rel;
        all.worst_rel = i;
      }
    } else {
      accepted = a == g || (std::isnan(a) && std::isnan(g) && tolerance.equal_nan);
      if (std::isnan(a) && std::isnan(g)) ++all.nan.both;
      if (std::isnan(a) && !std::isnan(g)) ++all.nan.actual;
      if (!std::isnan(a) && std::isnan(g)) ++all.nan.golden;
      if (std::isinf(a) && std::isinf(g)) ++(a == g ? all.inf.both : all.inf.opposite);
      if (std::isinf(a) && !std::isinf(g)) ++all.inf.actual;
      if (!std::isinf(a) && std::isinf(g)) ++all.inf.golden;
    }
    if (accepted) continue;
    ++all.mismatched;
    all.places.push_back(i);
  }
  return all;
}

bool near(double value, double expected) {
  return value == expected || std::abs(value - expected) <= 1e-15 * std::abs(value);
}

// Of equal errors the first is the worst.
void check_against(const TensorDiff& diff, const Tensor& actual, const Tensor& golden,
                   const DiffOptions& options) {
  const Brute brute = brute_force(actual, golden, options.tolerance);
  CHECK(diff.compared == golden.codes.size());
  CHECK(diff.mismatched == brute.mismatched);
  CHECK(diff.result == (brute.mismatched == 0 ? DiffResult::same : DiffResult::different));
  CHECK(near(diff.max_abs, brute.max_abs));
  CHECK(near(diff.max_rel, brute.max_rel));
  CHECK(diff.nan.both == brute.nan.both);
  CHECK(diff.nan.actual == brute.nan.actual);
  CHECK(diff.nan.golden == brute.nan.golden);
  CHECK(diff.inf.both == brute.inf.both);
  CHECK(diff.inf.opposite == brute.inf.opposite);
  CHECK(diff.inf.actual == brute.inf.actual);
  CHECK(diff.inf.golden == brute.inf.golden);
  REQUIRE(diff.first.size() == std::min<std::uint64_t>(options.show, brute.places.size()));
  for (std::size_t k = 0; k < diff.first.size(); ++k) {
    const std::uint64_t at = brute.places[k];
    CHECK(diff.first[k].index == index_of(golden.dims, at));
    CHECK(diff.first[k].actual_code == actual.codes[at]);
    CHECK(diff.first[k].golden_code == golden.codes[at]);
  }
  CHECK(diff.worst_abs.has_value() == (brute.mismatched != 0));
  CHECK(diff.worst_rel.has_value() == (brute.mismatched != 0));
  const bool equality =
      options.tolerance.rtol.value_or(0) == 0 && options.tolerance.atol.value_or(0) == 0;
  const auto check_worst = [&](const Mismatch& worst, std::uint64_t at) {
    CHECK(worst.index == index_of(golden.dims, at));
    std::uint64_t found = 0;
    for (std::size_t d = 0; d < golden.dims.size(); ++d)
      found = found * golden.dims[d] + worst.index[d];
    CHECK(worst.actual_code == actual.codes[found]);
    CHECK(worst.golden_code == golden.codes[found]);
    return brute_error(actual, golden, found);
  };
  if (brute.worst_abs) {
    const auto [abs, rel] = check_worst(*diff.worst_abs, *brute.worst_abs);
    CHECK(abs == brute_error(actual, golden, *brute.worst_abs).abs);
    CHECK(near(diff.worst_abs->abs_error, abs));
    CHECK(near(diff.worst_abs->rel_error, rel));
    if (equality) CHECK(diff.worst_abs->abs_error == diff.max_abs);
  }
  if (brute.worst_rel) {
    const auto [abs, rel] = check_worst(*diff.worst_rel, *brute.worst_rel);
    CHECK(rel == brute_error(actual, golden, *brute.worst_rel).rel);
    CHECK(near(diff.worst_rel->abs_error, abs));
    CHECK(near(diff.worst_rel->rel_error, rel));
    if (equality) CHECK(diff.worst_rel->rel_error == diff.max_rel);
  }
}

}  // namespace

TEST_CASE("diff: equality is of values") {
  CHECK(passes(f32({1, 2, 3}), f32({1, 2, 3})));
  CHECK(passes(f32({0.0F}), f32({-0.0F})));
  CHECK_FALSE(passes(f32({1, 2, 3}), f32({1, 2, 3.0000002F})));
  CHECK(passes(line(DType::boolean, {0, 5}), line(DType::boolean, {0, 1})));
  CHECK(passes(line(DType::int8, {0xff}), line(DType::int64, {~0ULL})));
  CHECK_FALSE(passes(line(DType::int8, {0xff}), line(DType::uint8, {0xff})));
}

TEST_CASE("diff: at, just below and just above the threshold") {
  struct Row {
    DType dtype;
    std::uint64_t actual;
    std::uint64_t golden;
    double error;
    bool golden_is_one = false;
  };
  constexpr std::uint64_t k53 = 1ULL << 53;
  const Row rows[] = {
      {DType::float64, 0x3ff0000000000001, 0x3ff0000000000000, 0x1p-52, true},
      {DType::float64, 1, 0, 0x1p-1074},
      {DType::float32, 0x3fc00000, 0x3f800000, 0.5, true},
      {DType::float32, 0x3f800001, 0x3f800000, 0x1p-23, true},
      {DType::float32, 1, 0, 0x1p-149},
      {DType::float16, 0x3e00, 0x3c00, 0.5, true},
      {DType::float16, 0x7bff, 0xfbff, 131008},
      {DType::float16, 1, 0x8000, 0x1p-24},
      {DType::bfloat16, 0x3fc0, 0x3f80, 0.5, true},
      {DType::bfloat16, 0x3f81, 0x3f80, 0x1p-7, true},
      {DType::float8_e4m3fn, 0x3c, 0x38, 0.5, true},
      {DType::float8_e4m3fn, 0x7e, 0xfe, 896},
      {DType::float8_e5m2, 0x3e, 0x3c, 0.5, true},
      {DType::float8_e8m0fnu, 128, 127, 1, true},
      {DType::float8_e4m3fnuz, 0x44, 0x40, 0.5, true},
      {DType::float8_e4m3fnuz, 0x7f, 0xff, 480},
      {DType::float8_e5m2fnuz, 0x42, 0x40, 0.5, true},
      {DType::float8_e3m4, 0x38, 0x30, 0.5, true},
      {DType::float8_e4m3, 0x3c, 0x38, 0.5, true},
      {DType::float8_e4m3b11fnuz, 0x5c, 0x58, 0.5, true},
      {DType::float4_e2m1fn, 3, 2, 0.5, true},
      {DType::int4, 8, 7, 15},
      {DType::uint4, 15, 0, 15},
      {DType::int8, 0x80, 0x7f, 255},
      {DType::uint8, 0, 1, 1, true},
      {DType::uint8, 255, 0, 255},
      {DType::int16, 0x8000, 0x7fff, 65535},
      {DType::uint16, 0, 0xffff, 65535},
      {DType::int32, 0x80000000, 0x7fffffff, 4294967295.0},
      {DType::uint32, 0, 0xffffffff, 4294967295.0},
      {DType::int64, k53 + 1, k53, 1},
      {DType::int64, (1ULL << 63) - 1, (1ULL << 63) - 2, 1},
      {DType::int64, 1ULL << 63, 0, 0x1p63},
      {DType::uint64, ~0ULL, ~0ULL - 1, 1},
      {DType::uint64, ~0ULL, ~0ULL - 0x7ff, 0x7ff},
      {DType::boolean, 1, 0, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(btf::info(row.dtype).name, row.actual, row.golden);
    const Tensor actual = line(row.dtype, {row.actual});
    const Tensor golden = line(row.dtype, {row.golden});
    CHECK_FALSE(passes(actual, golden));
    CHECK_FALSE(passes(actual, golden, tolerance(0, below(row.error))));
    CHECK(passes(actual, golden, tolerance(0, row.error)));
    CHECK(passes(golden, actual, tolerance(0, row.error)));
    CHECK(passes(actual, golden, tolerance(0, above(row.error))));
    const TensorDiff diff = diff_of(actual, golden);
    CHECK(diff.max_abs == row.error);
    CHECK(diff.required_atol == row.error);
    if (!row.golden_is_one) continue;
    CHECK_FALSE(passes(actual, golden, tolerance(below(row.error), 0)));
    CHECK(passes(actual, golden, tolerance(row.error, 0)));
    CHECK(passes(actual, golden, tolerance(above(row.error), 0)));
    CHECK(diff.max_rel == row.error);
    CHECK(diff.required_rtol == row.error);
  }
}

TEST_CASE("diff: the formula adds both tolerances, and rtol is of golden") {
  CHECK(passes(f32({3}), f32({2}), tolerance(0.25, 0.5)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.25, 0.49999999999)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.24999999999, 0.5)));
  CHECK(passes(f32({3}), f32({2}), tolerance(0.5, 0)));
  CHECK(passes(f32({2}), f32({3}), tolerance(0.34, 0)));
  CHECK_FALSE(passes(f32({3}), f32({2}), tolerance(0.34, 0)));
  // No rtol helps against a golden 0.
  CHECK_FALSE(passes(f32({1e-30F}), f32({0}), tolerance(1e300, 0)));
  CHECK(diff_of(f32({1e-30F}), f32({0})).max_rel == kInf);
  CHECK_FALSE(diff_of(f32({1e-30F}), f32({0})).required_rtol);
  CHECK(passes(f32({0}), f32({1e-30F}), tolerance(1, 0)));
}

TEST_CASE("diff: 64-bit integers are never rounded") {
  constexpr std::uint64_t kMin = 1ULL << 63;
  const Tensor low = line(DType::int64, {kMin});
  const Tensor high = line(DType::int64, {kMin - 1});
  // The distance is 2^64 - 1, which no double is.
  CHECK_FALSE(passes(low, high, tolerance(0, below(0x1p64))));
  CHECK(passes(low, high, tolerance(0, 0x1p64)));
  CHECK(diff_of(low, high).required_atol == 0x1p64);
  // 2^62 + 1: the double below it is nearer, but not enough.
  const Tensor odd = line(DType::int64, {(1ULL << 62) + 1});
  const Tensor zero = line(DType::int64, {0});
  CHECK_FALSE(passes(odd, zero, tolerance(0, 0x1p62)));
  CHECK(passes(odd, zero, tolerance(0, above(0x1p62))));
  CHECK(diff_of(odd, zero).required_atol == above(0x1p62));
  // Against floats too.
  CHECK_FALSE(passes(line(DType::int64, {(1ULL << 53) + 1}), f64({0x1p53})));
  CHECK(passes(line(DType::uint64, {1ULL << 63}), f32({0x1p63F})));
  CHECK_FALSE(passes(line(DType::uint64, {~0ULL}), f32({0x1p64F})));
  CHECK_FALSE(passes(line(DType::int64, {~0ULL}), line(DType::uint64, {~0ULL})));
}

TEST_CASE("diff: doubles further apart than the largest double") {
  const Tensor low = f64({-1e308});
  const Tensor high = f64({1e308});
  CHECK_FALSE(passes(low, high));
  CHECK_FALSE(passes(low, high, tolerance(0, std::numeric_limits<double>::max())));
  CHECK_FALSE(passes(low, high, tolerance(1.9, 0)));
  CHECK_FALSE(passes(low, high, tolerance(below(2), 0)));
  CHECK(passes(low, high, tolerance(2, 0)));
  CHECK(passes(low, high, tolerance(1, 1e308)));
  const TensorDiff diff = diff_of(low, high);
  CHECK(diff.max_rel == 2);
  CHECK(diff.required_rtol == 2.0);
  CHECK_FALSE(diff.required_atol);
  CHECK(diff.worst_rel->rel_error == 2);
}

TEST_CASE("diff: NaN and Inf, every pair") {
  const std::vector<std::pair<DType, Words>> types{
      {DType::float32, {0x3f800000, 0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000}},
      {DType::float64,
       {0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000001, 0x7ff0000000000000,
        0xfff0000000000000}},
      {DType::float16, {0x3c00, 0x7e00, 0xfe01, 0x7c00, 0xfc00}},
      {DType::bfloat16, {0x3f80, 0x7fc0, 0xffc1, 0x7f80, 0xff80}},
      {DType::float8_e5m2, {0x3c, 0x7e, 0xfd, 0x7c, 0xfc}},
      {DType::float8_e3m4, {0x30, 0x78, 0xf1, 0x70, 0xf0}},
      {DType::float8_e4m3, {0x38, 0x7c, 0xf9, 0x78, 0xf8}}};
  enum { kOne, kNan, kNanToo, kPlus, kMinus };
  for (const auto& [left, left_codes] : types) {
    for (const auto& [right, right_codes] : types) {
      for (int a = kOne; a <= kMinus; ++a) {
        for (int g = kOne; g <= kMinus; ++g) {
          const bool a_nan = a == kNan || a == kNanToo;
          const bool g_nan = g == kNan || g == kNanToo;
          const bool a_inf = a >= kPlus;
          const bool g_inf = g >= kPlus;
          const Tensor actual = line(left, {left_codes[static_cast<std::size_t>(a)]});
          const Tensor golden = line(right, {right_codes[static_cast<std::size_t>(g)]});
          for (const bool equal_nan : {true, false}) {
            // No tolerance helps.
            for (const double allowed : {0.0, 1e300}) {
              DiffOptions options = tolerance(allowed, allowed);
              options.tolerance.equal_nan = equal_nan;
              const TensorDiff diff = diff_of(actual, golden, options);
              const bool same = (a_nan && g_nan && equal_nan) || (a == g && !a_nan);
              CAPTURE(btf::info(left).name, btf::info(right).name, a, g, equal_nan, allowed);
              CHECK((diff.result == DiffResult::same) == same);
              CHECK(diff.mismatched == (same ? 0 : 1));
              CHECK(diff.nan.both == (a_nan && g_nan));
              CHECK(diff.nan.actual == (a_nan && !g_nan));
              CHECK(diff.nan.golden == (!a_nan && g_nan));
              CHECK(diff.inf.both == (a_inf && a == g));
              CHECK(diff.inf.opposite == (a_inf && g_inf && a != g));
              CHECK(diff.inf.actual == (a_inf && !g_inf));
              CHECK(diff.inf.golden == (!a_inf && g_inf));
              CHECK(diff.required_atol.has_value() == same);
              CHECK(diff.required_rtol.has_value() == same);
              CHECK(diff.worst_abs.has_value() == !same);
              CHECK(diff.max_abs == 0);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("diff: types without Inf have NaN, types without NaN have neither") {
  CHECK(diff_of(line(DType::float8_e4m3fn, {0x7f, 0xff}), f32({NAN, 1})).nan.both == 1);
  CHECK(diff_of(line(DType::float8_e8m0fnu, {0xff}), f32({NAN})).result == DiffResult::same);
  CHECK(diff_of(line(DType::float8_e4m3fnuz, {0x80}), f32({NAN})).result == DiffResult::same);
  CHECK(diff_of(line(DType::float4_e2m1fn, {7}), f32({6})).result == DiffResult::same);
  CHECK_FALSE(passes(line(DType::int32, {0}), f32({NAN})));
}

TEST_CASE("diff: NaN beside finite mismatches leaves those the worst") {
  const TensorDiff diff = diff_of(f32({NAN, 1, 5, INFINITY}), f32({1, 1, 2, 1}));
  CHECK(diff.mismatched == 3);
  CHECK(diff.worst_abs->index == Words{2});
  CHECK(diff.worst_abs->abs_error == 3);
  CHECK(diff.worst_rel->index == Words{2});
  CHECK(diff.first.size() == 3);
  CHECK_FALSE(diff.required_atol);
  const TensorDiff special = diff_of(f32({1, NAN, INFINITY}), f32({1, 1, 2}));
  CHECK(special.worst_abs->index == Words{1});
  CHECK(special.worst_rel->index == Words{1});
}

TEST_CASE("diff: everything against brute force") {
  Random random(1);
  const std::vector<std::pair<DType, DType>> pairs{{DType::float32, DType::float32},
                                                   {DType::float64, DType::float64},
                                                   {DType::float16, DType::float16},
                                                   {DType::bfloat16, DType::bfloat16},
                                                   {DType::float8_e4m3fn, DType::float8_e4m3fn},
                                                   {DType::float8_e5m2, DType::float8_e5m2},
                                                   {DType::float8_e8m0fnu, DType::float8_e8m0fnu},
                                                   {DType::float8_e4m3fnuz, DType::float8_e4m3fnuz},
                                                   {DType::float8_e3m4, DType::float8_e3m4},
                                                   {DType::float4_e2m1fn, DType::float4_e2m1fn},
                                                   {DType::int4, DType::int4},
                                                   {DType::uint4, DType::uint4},
                                                   {DType::int8, DType::int8},
                                                   {DType::uint8, DType::uint8},
                                                   {DType::int64, DType::int64},
                                                   {DType::uint64, DType::uint64},
                                                   {DType::boolean, DType::boolean}};
  for (const auto& [left, right] : pairs) {
    for (const std::uint64_t count : {1U, 100U, 1024U, 3000U}) {
      const Tensor golden = random_tensor(right, {count}, random);
      const Tensor actual = disturbed(golden, random);
      for (const DiffOptions& options :
           {tolerance(0, 0), tolerance(0.013, 0), tolerance(0, 0.7), tolerance(1e-3, 1e-5)}) {
        CAPTURE(btf::info(left).name, count, options.tolerance.rtol, options.tolerance.atol);
        check_against(diff_of(actual, golden, options), actual, golden, options);
      }
    }
  }
  // Any two types.
  for (const btf::DTypeInfo& left : btf::dtypes()) {
    for (const btf::DTypeInfo& right : btf::dtypes()) {
      const Tensor actual = random_tensor(left.dtype, {97}, random);
      const Tensor golden = random_tensor(right.dtype, {97}, random);
      DiffOptions options = tolerance(0.317, 0.173);
      options.show = 200;
      CAPTURE(left.name, right.name);
      check_against(diff_of(actual, golden, options), actual, golden, options);
    }
  }
}

TEST_CASE("diff: exactly the required tolerance passes, the next smaller one does not") {
  Random random(2);
  const std::vector<std::pair<DType, DType>> pairs{
      {DType::float64, DType::float64}, {DType::float32, DType::float32},
      {DType::float16, DType::float32}, {DType::bfloat16, DType::float64},
      {DType::int64, DType::int64},     {DType::uint64, DType::int64},
      {DType::int8, DType::float16},    {DType::float8_e4m3fn, DType::bfloat16},
      {DType::float64, DType::int64},   {DType::int4, DType::uint8}};
  int tolerable = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto& [left, right] = pairs[random.below(pairs.size())];
    const std::uint64_t count = random.between(1, 3);
    Tensor golden = random_tensor(right, {count}, random);
    // Subnormal products too.
    if (right == DType::float64 && random.below(3) == 0)
      for (std::uint64_t& code : golden.codes) code &= 0x800fffffffffffff;
    const Tensor actual =
        left == right ? disturbed(golden, random) : random_tensor(left, {count}, random);
    const TensorDiff diff = diff_of(actual, golden);
    CAPTURE(btf::info(left).name, btf::info(right).name, actual.codes, golden.codes);
    if (diff.required_atol) {
      ++tolerable;
      const double least = *diff.required_atol;
      if (!passes(actual, golden, tolerance(0, least)))
        CHECK(passes(actual, golden, tolerance(0, least)));
      if (least > 0 && passes(actual, golden, tolerance(0, below(least))))
        CHECK_FALSE(passes(actual, golden, tolerance(0, below(least))));
    }
    if (diff.required_rtol) {
      const double least = *diff.required_rtol;
      if (!passes(actual, golden, tolerance(least, 0)))
        CHECK(passes(actual, golden, tolerance(least, 0)));
      if (least > 0 && passes(actual, golden, tolerance(below(least), 0)))
        CHECK_FALSE(passes(actual, golden, tolerance(below(least), 0)));
    }
  }
  CHECK(tolerable > 1000);
}

TEST_CASE("diff: a product that is subnormal has a least rtol too") {
  const Tensor actual = f64({above(1e-300)});
  const Tensor golden = f64({1e-300});
  REQUIRE_FALSE(passes(actual, golden));
  const double least = diff_of(actual, golden).required_rtol.value();
  CHECK(passes(actual, golden, tolerance(least, 0)));
  CHECK_FALSE(passes(actual, golden, tolerance(below(least), 0)));
}

TEST_CASE("diff: what passes, passes with any looser tolerance") {
  Random random(3);
  const double steps[] = {
      0,   0x1p-1074, 1e-30, 1e-9, 1e-3, 0.3, 1, 7, 1e9, 1e300, std::numeric_limits<double>::max(),
      kInf};
  for (const DType dtype : {DType::float64, DType::float32, DType::float16, DType::int64,
                            DType::uint64, DType::int8, DType::float8_e5m2}) {
    const Tensor golden = random_tensor(dtype, {60}, random);
    Tensor actual = disturbed(golden, random);
    actual.codes[0] = 0;
    std::vector<std::vector<std::uint64_t>> left(12, std::vector<std::uint64_t>(12));
    for (std::size_t r = 0; r < 12; ++r) {
      for (std::size_t a = 0; a < 12; ++a) {
        left[r][a] = diff_of(actual, golden, tolerance(steps[r], steps[a])).mismatched;
        CAPTURE(btf::info(dtype).name, steps[r], steps[a]);
        if (r > 0) CHECK(left[r][a] <= left[r - 1][a]);
        if (a > 0) CHECK(left[r][a] <= left[r][a - 1]);
      }
    }
  }
}

TEST_CASE("diff: every pair of layouts, padding ignored, with the right places") {
  Random random(4);
  const Files files;
  for (const Words& dims : {Words{2, 3, 3, 4, 9}, Words{1, 4, 3, 5, 33}}) {
    const Tensor golden = random_tensor(DType::int8, dims, random);
    Tensor actual = golden;
    for (std::uint64_t& code : actual.codes)
      if (random.below(50) == 0) code = (code + 1 + random.below(250)) & 0xff;
    const std::uint64_t data = 16 + 16 + 8 * dims.size();
    const Brute brute = brute_force(actual, golden, {});
    const auto can_hold = [&](const naive::Name& name) {
      return naive::can_hold(name, 5, dims[5 - name.channel_from_end]);
    };
    const auto path = [&](const char* what, const naive::Name& name) {
      return files.scratch() / (what + std::to_string(name.code));
    };
    for (const naive::Name& name : naive::names()) {
      if (!can_hold(name)) continue;
      write_file(path("actual", name), bytes::file({stored(name, actual)}));
      write_file(path("golden", name), bytes::file({stored(name, golden)}));
    }
    for (const naive::Name& from : naive::names()) {
      for (const naive::Name& to : naive::names()) {
        if (!can_hold(from) || !can_hold(to)) continue;
        CAPTURE(from.name, to.name, dims);
        CHECK(*Files::diff_paths(path("golden", from), path("golden", to)).same);
        DiffOptions options;
        options.show = 7;
        const TensorDiff diff =
            Files::diff_paths(path("actual", from), path("golden", to), options).tensors.at(0);
        CHECK(diff.mismatched == brute.mismatched);
        CHECK(diff.max_abs == brute.max_abs);
        REQUIRE(diff.first.size() == std::min<std::size_t>(7, brute.places.size()));
        const naive::Array left = naive::layout(from.name, dims, 1);
        const naive::Array right = naive::layout(to.name, dims, 1);
        const auto check_place = [&](const Mismatch& mismatch) {
          std::uint64_t at = 0;
          for (std::size_t d = 0; d < dims.size(); ++d) at = at * dims[d] + mismatch.index[d];
          CHECK(mismatch.actual_code == actual.codes[at]);
          CHECK(mismatch.golden_code == golden.codes[at]);
          CHECK(mismatch.actual_offset == data + left.place[at]);
          CHECK(mismatch.golden_offset == data + right.place[at]);
        };
        for (std::size_t k = 0; k < diff.first.size(); ++k) {
          CHECK(diff.first[k].index == index_of(dims, brute.places[k]));
          check_place(diff.first[k]);
        }
        check_place(*diff.worst_abs);
        CHECK(diff.worst_abs->abs_error == diff.max_abs);
        check_place(*diff.worst_rel);
      }
    }
  }
}

TEST_CASE("diff: dense against COO, and COO against COO") {
  Random random(5);
  const Files files;
  const Words dims{2, 3, 3, 4, 9};
  for (const DType dtype : {DType::float32, DType::float16, DType::int8, DType::int64}) {
    Tensor golden = random_tensor(dtype, dims, random);
    for (std::uint64_t& code : golden.codes)
      if (random.below(3) != 0) code = 0;
    Tensor actual = disturbed(golden, random);
    DiffOptions options = tolerance(1e-3, 0);
    options.execution.memory = 0;
    for (const naive::Name& name : naive::names()) {
      CAPTURE(btf::info(dtype).name, name.name);
      check_against(files.one(stored(name, actual), sparse(golden), options), actual, golden,
                    options);
      check_against(files.one(sparse(actual), stored(name, golden), options), actual, golden,
                    options);
    }
    check_against(files.one(sparse(actual), sparse(golden), options), actual, golden, options);
    CHECK(files.one(sparse(golden), linear(golden)).result == DiffResult::same);
    CHECK(files.one(sparse(golden), sparse(golden)).result == DiffResult::same);
  }
  const Tensor nibbles = random_tensor(DType::int4, {3, 5, 7}, random);
  const Tensor others = disturbed(nibbles, random);
  check_against(files.one(sparse(others), linear(nibbles)), others, nibbles, {});
  check_against(files.one(linear(others), sparse(nibbles)), others, nibbles, {});
  check_against(files.one(sparse(others), sparse(nibbles)), others, nibbles, {});
}

TEST_CASE("diff: where COO elements are, and where they are not") {
  const Files files;
  const Bytes actual = bytes::coo(DType::int8, {4, 4}, {{3, 3}, {0, 1}}, bytes::hex("05 06"));
  const Bytes golden = bytes::coo(DType::int8, {4, 4}, {{3, 3}, {2, 2}}, bytes::hex("07 08"));
  const TensorDiff diff = files.one(actual, golden);
  REQUIRE(diff.first.size() == 3);
  const std::uint64_t values = 16 + 32 + 16 + 32 + 8;
  CHECK(diff.first[0].index == Words{0, 1});
  CHECK(diff.first[0].actual_offset == values + 1);
  CHECK_FALSE(diff.first[0].golden_offset);
  CHECK(diff.first[1].index == Words{2, 2});
  CHECK_FALSE(diff.first[1].actual_offset);
  CHECK(diff.first[1].golden_offset == values + 1);
  CHECK(diff.first[2].index == Words{3, 3});
  CHECK(diff.first[2].actual_offset == values);
  CHECK(diff.first[2].golden_offset == values);
  CHECK(diff.compared == 16);
}

TEST_CASE("diff: a huge COO pair costs by its entries") {
  const Files files;
  constexpr std::uint64_t kSide = 1ULL << 31;
  const std::vector<Words> indices{{kSide - 1, kSide - 1}, {0, 5}, {7, 1234567890}, {1, 0}};
  const auto record = [&](float last) {
    return bytes::coo(DType::float32, {kSide, kSide}, indices,
                      bytes::values<float>({last, 2, 3, 4}));
  };
  // Element by element none of these would end before the limit of the test.
  CHECK(files.one(record(1), record(1)).result == DiffResult::same);
  const TensorDiff diff = files.one(record(1), record(1.5F));
  CHECK(diff.compared == 1ULL << 62);
  CHECK(diff.mismatched == 1);
  CHECK(diff.worst_abs->index == Words{kSide - 1, kSide - 1});
  const Bytes empty = bytes::coo(DType::int8, {kSide, kSide}, {}, {});
  CHECK(files.one(record(1), empty).mismatched == 4);
}

TEST_CASE("diff: an absent element of E8M0 is not zero") {
  const Files files;
  // All bits zero are 2^-127 there.
  const Bytes scales = bytes::coo(DType::float8_e8m0fnu, {1ULL << 20, 1ULL << 20}, {}, {});
  const Bytes zeros = bytes::coo(DType::float32, {1ULL << 20, 1ULL << 20}, {}, {});
  const TensorDiff diff = files.one(scales, zeros);
  CHECK(diff.mismatched == 1ULL << 40);
  CHECK(diff.first.size() == 5);
  CHECK(diff.first[4].index == Words{0, 4});
  CHECK(diff.max_abs == 0x1p-127);
}

TEST_CASE("diff: the golden files") {
  const auto same = [&](const std::string& actual, const std::string& golden) {
    const FileDiff diff = Files::diff_paths(kGood + actual, kGood + golden);
    CAPTURE(actual, golden);
    REQUIRE(diff.same);
    return *diff.same;
  };
  for (const char* name :
       {"layouts_f16", "layouts_f32", "layouts_i8", "layout_cdhw32_c", "layout_chw16_c",
        "layout_chw2_c", "layout_chw32_c", "layout_chw4_c", "layout_dhwc8_c", "layout_dhwc_c",
        "layout_dla_hwc4_c", "layout_dla_linear_c", "layout_hwc16_c", "layout_hwc8_c",
        "layout_hwc_c"}) {
    CHECK(same(name + std::string(".btf"), name + std::string(".linear.btf")));
    CHECK(same(name + std::string(".linear.btf"), name + std::string(".btf")));
  }
  CHECK(same("small_codes.btf", "small_codes.float32.btf"));
  CHECK(same("coo_code1.btf", "coo_code2.btf"));
  CHECK(same("coo_code2.btf", "coo_code2.dense.btf"));
  CHECK(same("coo_unsorted.btf", "coo_unsorted.canonical.btf"));
  CHECK(same("coo_unsorted.dense.btf", "coo_unsorted.btf"));

  // float64 holds every value but those of the 64-bit integers.
  for (const TensorDiff& tensor :
       Files::diff_paths(kGood + "dtypes.btf", kGood + "dtypes.float64.btf").tensors) {
    const bool wide = tensor.actual->dtype == DType::int64 || tensor.actual->dtype == DType::uint64;
    CAPTURE(btf::info(tensor.actual->dtype).name);
    CHECK((tensor.result == DiffResult::different) == wide);
    CHECK(tensor.max_rel <= 0x1p-53);
  }

  const FileDiff noisy = Files::diff_paths(kGood + "mixed_noisy.btf", kGood + "mixed.btf");
  REQUIRE(noisy.same);
  CHECK_FALSE(*noisy.same);
  REQUIRE(noisy.tensors.size() == 4);
  REQUIRE(noisy.tensors[0].first.size() == 3);
  CHECK(noisy.tensors[0].first[0].index == Words{0, 0, 2, 3});
  CHECK(noisy.tensors[0].first[1].index == Words{0, 1, 4, 4});
  CHECK(noisy.tensors[0].first[2].index == Words{0, 2, 7, 0});
  CHECK(noisy.tensors[0].max_rel == Approx(1e-3).epsilon(1e-3));
  CHECK(noisy.tensors[1].nan.actual == 1);
  CHECK(noisy.tensors[1].first.front().index == Words{5, 1, 1, 2});
  CHECK(noisy.tensors[2].result == DiffResult::same);
  CHECK(noisy.tensors[3].result == DiffResult::same);
}

TEST_CASE("diff: shapes") {
  const Files files;
  const auto shape = [&](const Words& actual, const Words& golden) {
    const FileDiff diff = files.diff({linear({DType::int8, actual, Words(product(actual), 1)})},
                                     {linear({DType::int8, golden, Words(product(golden), 1)})});
    REQUIRE(diff.same);
    CHECK(*diff.same == (actual == golden));
    CHECK((diff.tensors.front().result == DiffResult::shape) == (actual != golden));
    return diff.tensors.front();
  };
  CHECK(shape({2, 3}, {3, 2}).reason == "shape [2, 3] against [3, 2]");
  CHECK(shape({6}, {2, 3}).compared == 0);
  shape({1, 6}, {6});
  shape({}, {1});
  shape({2, 0}, {0, 2});
  shape({0}, {0, 0});
  shape({2, 3}, {2, 3});
  // A broadcast would fit; it is not what was asked for.
  shape({1}, {4});
}

TEST_CASE("diff: a tensor on one side only is a difference") {
  const Files files;
  const Bytes one = linear(f32({1}));
  for (const bool more_actual : {true, false}) {
    const std::vector<Bytes> two{one, one};
    const FileDiff diff = more_actual ? files.diff(two, {one}) : files.diff({one}, two);
    REQUIRE(diff.same);
    CHECK_FALSE(*diff.same);
    REQUIRE(diff.tensors.size() == 2);
    CHECK(diff.tensors[0].result == DiffResult::same);
    CHECK(diff.tensors[1].result == DiffResult::missing);
    CHECK(diff.tensors[1].actual.has_value() == more_actual);
    CHECK(diff.tensors[1].golden.has_value() == !more_actual);
    CHECK_FALSE(diff.tensors[1].reason.empty());
  }
  const FileDiff none = files.diff({}, {one});
  REQUIRE(none.same);
  CHECK_FALSE(*none.same);
}

TEST_CASE("diff: comparing nothing is an error") {
  const Files files;
  CHECK(files.diff({}, {}).same.error().code == ErrorCode::refused);
  DiffOptions nothing;
  nothing.actual_tensors.emplace();
  nothing.golden_tensors.emplace();
  CHECK(files.diff({linear(f32({1}))}, {linear(f32({1}))}, nothing).same.error().code ==
        ErrorCode::refused);
  // Tensors without elements beside others are fine; nothing but such is nothing compared.
  const Bytes empty = linear({DType::float32, {0, 3}, {}});
  CHECK(files.diff({empty, empty}, {empty, empty}).same.error().code == ErrorCode::refused);
  CHECK(files.diff({empty, linear(f32({1}))}, {empty, linear(f32({1}))}).same.value());
  CHECK_FALSE(files.diff({empty}, {linear({DType::float32, {3, 0}, {}})}).same.value());
}

TEST_CASE("diff: selected tensors are paired in their order") {
  const Files files;
  const std::vector<Bytes> actual{linear(f32({1})), linear(f32({2})), linear(f32({3}))};
  const std::vector<Bytes> golden{linear(f32({3})), linear(f32({9})), linear(f32({1}))};
  DiffOptions options;
  options.actual_tensors = {0, 2};
  options.golden_tensors = {2, 0};
  const FileDiff diff = files.diff(actual, golden, options);
  REQUIRE(diff.same);
  CHECK(*diff.same);
  REQUIRE(diff.tensors.size() == 2);
  CHECK(diff.tensors[1].actual->index == 2);
  CHECK(diff.tensors[1].golden->index == 0);
  options.golden_tensors = {2, 3};
  CHECK(files.diff(actual, golden, options).same.error().code == ErrorCode::invalid_argument);
}

TEST_CASE("diff: what cannot be compared is an error") {
  const Files files;
  const Bytes good = linear(f32({1, 2}));
  const auto refused = [&](const std::vector<Bytes>& bad, ErrorCode code) {
    for (const bool as_actual : {true, false}) {
      const auto diff = as_actual ? files.diff(bad, {good}) : files.diff({good}, bad);
      REQUIRE_FALSE(diff.same);
      CHECK(diff.same.error().code == code);
      CHECK(diff.same.error().text().find(as_actual
                                              ? "actual.btf: tensor 0: "
                                              : "golden.btf: tensor 0: ") != std::string::npos);
    }
  };
  refused({bytes::dense(42, Layout::linear, {2}, Bytes(8))}, ErrorCode::unsupported);
  refused({bytes::dense(DType::float32, 77, {2}, Bytes(8))}, ErrorCode::unsupported);
  refused({bytes::dense(DType::float32, Layout::linear, {20}, Bytes(8))}, ErrorCode::malformed);
  refused({bytes::dense(DType::float32, Layout::hwc8, {2}, Bytes(8))}, ErrorCode::malformed);
}

TEST_CASE("diff: strict sees dtype and layout") {
  const Files files;
  const Tensor tensor{DType::int8, {1, 2, 3}, {1, 2, 3, 4, 5, 6}};
  DiffOptions strict;
  strict.strict = true;
  CHECK(files.one(linear(tensor), linear(tensor), strict).result == DiffResult::same);
  const Tensor wide{DType::int16, tensor.dims, tensor.codes};
  const TensorDiff dtype = files.one(linear(tensor), linear(wide), strict);
  CHECK(dtype.result == DiffResult::different);
  CHECK(dtype.reason == "dtype int8 against int16");
  CHECK(dtype.mismatched == 0);
  for (const naive::Name& name : naive::names()) {
    const bool same = name.code == 0;
    if (!naive::can_hold(name, 3, 1)) continue;
    const TensorDiff layout = files.one(stored(name, tensor), linear(tensor), strict);
    CHECK((layout.result == DiffResult::same) == same);
    CHECK(layout.reason.empty() == same);
  }
  CHECK(files.one(sparse(tensor), linear(tensor), strict).result == DiffResult::different);
  CHECK(files.one(sparse(tensor), linear(tensor)).result == DiffResult::same);
}

TEST_CASE("diff: the number of threads changes nothing") {
  Random random(6);
  const Files files;
  const Words dims{2, 37, 130, 150};
  Tensor golden = random_tensor(DType::float32, dims, random);
  for (std::uint64_t& code : golden.codes) code = (code & 0x007fffff) | 0x3f800000;
  Tensor actual = golden;
  for (std::uint64_t& code : actual.codes)
    code ^= random.below(100) == 0 ? random.below(1 << 16) : 0;
  actual.codes[1'000'000] = 0x7fc00000;
  DiffOptions options = tolerance(1e-4, 0);
  for (const char* actual_layout : {"kLINEAR", "kCHW32"}) {
    for (const char* golden_layout : {"kLINEAR", "kHWC8"}) {
      const auto named = [](const char* name) {
        return *std::ranges::find(naive::names(), std::string_view(name), &naive::Name::name);
      };
      const Bytes left = stored(named(actual_layout), actual);
      const Bytes right = stored(named(golden_layout), golden);
      std::vector<std::string> texts;
      for (const unsigned jobs : {1U, 2U, 3U}) {
        options.execution.jobs = jobs;
        const TensorDiff diff = files.one(left, right, options);
        CHECK(diff.mismatched > 1000);
        texts.push_back(text(diff));
      }
      CHECK(texts[1] == texts[0]);
      CHECK(texts[2] == texts[0]);
    }
  }
  options.execution.jobs = 2;
  const TensorDiff diff = diff_of(actual, golden, options);
  check_against(diff, actual, golden, options);
}

TEST_CASE("diff: many tensors are told in their order, by any number of threads") {
  Random random(8);
  const Files files;
  std::vector<Bytes> actual;
  std::vector<Bytes> golden;
  std::vector<Tensor> tensors;
  for (std::uint64_t i = 0; i < 700; ++i) {
    // One is large: those before and behind it are not.
    const std::uint64_t elements = i == 333 ? 5U << 20 : 1 + random.below(700);
    const Tensor tensor = random_tensor(DType::int8, {elements}, random);
    const Tensor other = i % 3 == 0 ? tensor : disturbed(tensor, random);
    golden.push_back(i % 7 == 1 ? sparse(tensor) : linear(tensor));
    actual.push_back(i % 11 == 2 ? linear({DType::int8, {1, elements}, other.codes})
                                 : linear(other));
  }
  const auto told = [&](unsigned jobs) {
    DiffOptions options;
    options.execution.jobs = jobs;
    const FileDiff all = files.diff(actual, golden, options);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < all.tensors.size(); ++i) {
      CHECK(all.tensors[i].actual->index == i);
      texts.push_back(text(all.tensors[i]));
    }
    texts.push_back(all.same ? "no error" : all.same.error().text());
    return texts;
  };
  const std::vector<std::string> by_one = told(1);
  CHECK(by_one.size() == 701);
  CHECK(told(2) == by_one);
  CHECK(told(5) == by_one);
  // What comes before a tensor that cannot be compared is told nevertheless.
  actual[500] = bytes::dense(42, Layout::linear, {2}, Bytes(8));
  const std::vector<std::string> cut = told(1);
  CHECK(cut.size() == 501);
  CHECK(cut.back().find("actual.btf: tensor 500: ") != std::string::npos);
  CHECK(told(2) == cut);
  CHECK(told(5) == cut);
}

TEST_CASE("diff: as many first mismatches as asked for") {
  const Tensor actual = line(DType::int16, Words(5000, 1));
  const Tensor golden = line(DType::int16, Words(5000, 2));
  for (const std::uint64_t show : {0ULL, 1ULL, 5ULL, 4999ULL, 5000ULL, ~0ULL}) {
    DiffOptions options;
    options.show = show;
    const TensorDiff diff = diff_of(actual, golden, options);
    CHECK(diff.first.size() == std::min<std::uint64_t>(show, 5000));
    CHECK(diff.worst_abs->index == Words{0});
    CHECK(diff.mismatched == 5000);
  }
}

TEST_CASE("diff: a mismatch says what the tolerance allows there") {
  const TensorDiff diff = diff_of(f32({10}), f32({-4}), tolerance(0.5, 0.25));
  CHECK(diff.worst_abs->allowed == 2.25);
  CHECK(diff.worst_abs->abs_error == 14);
  CHECK(diff.worst_abs->rel_error == 3.5);
}

TEST_CASE("diff: no elements are the same, whatever the type") {
  const TensorDiff diff = diff_of({DType::float32, {0, 3}, {}}, {DType::int4, {0, 3}, {}});
  CHECK(diff.result == DiffResult::same);
  CHECK(diff.compared == 0);
  CHECK(diff.required_atol == 0.0);
}

TEST_CASE("diff: a buffer that is too short is refused") {
  const Bytes data(11);
  const auto layout = btf::resolve(Layout::linear, Words{3}, DType::float32).value();
  const Bytes whole(12);
  const btf::TensorView cut{DType::float32, layout, data};
  const btf::TensorView full{DType::float32, layout, whole};
  CHECK(btf::diff(cut, full).error().code == ErrorCode::invalid_argument);
  CHECK(btf::diff(full, cut).error().code == ErrorCode::invalid_argument);
}

TEST_CASE("diff: can be stopped") {
  const std::atomic<bool> cancel = true;
  DiffOptions options;
  options.execution.cancel = &cancel;
  CHECK(try_diff(f32({1}), f32({1}), options).error().code == ErrorCode::cancelled);
}

// What other comparers let pass: each of these must fail here.

TEST_CASE("diff: no silent pass of values") {
  CHECK_FALSE(passes(f32({NAN}), f32({6.0F}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32({6.0F}), f32({NAN}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32(std::vector<float>(1000, NAN)), f32(std::vector<float>(1000, 1))));
  CHECK_FALSE(passes(f32({1}), f32({INFINITY}), tolerance(1e-5, 1e-5)));
  CHECK_FALSE(passes(f32({INFINITY}), f32({1}), tolerance(1e30, 1e30)));
  CHECK_FALSE(passes(f32({INFINITY}), f32({-INFINITY}), tolerance(1e30, 1e30)));
  // Below any absolute threshold.
  CHECK_FALSE(passes(f32({1e-20F}), f32({2e-20F}), tolerance(1e-6, 0)));
  CHECK_FALSE(passes(f64({1e-320}), f64({2e-320}), tolerance(1e-6, 0)));
  CHECK_FALSE(passes(f32({0x1p-149F}), f32({0})));
  // One bad element in many with a good mean.
  std::vector<float> many(1000, 1);
  const Tensor golden = f32(many);
  many[500] += 5;
  CHECK_FALSE(passes(f32(many), golden, tolerance(0, 1e-2)));
  // Differences that do not fit the tensors' own type.
  CHECK(diff_of(line(DType::uint8, {0}), line(DType::uint8, {1})).max_abs == 1);
  CHECK(diff_of(line(DType::int8, {0x80}), line(DType::int8, {0x7f})).max_abs == 255);
  CHECK_FALSE(passes(line(DType::int8, {0x80}), line(DType::int8, {0x7f}), tolerance(0, 1)));
  CHECK_FALSE(
      passes(line(DType::int32, {0x80000000}), line(DType::int32, {0x7fffffff}), tolerance(0, 1)));
  CHECK_FALSE(passes(line(DType::int64, {1ULL << 63}), line(DType::int64, {(1ULL << 63) - 1}),
                     tolerance(0, 1)));
  // 60000 against -60000 overflows float16, and Inf <= Inf.
  CHECK(diff_of(line(DType::float16, {0x7b53}), line(DType::float16, {0xfb53})).max_abs == 120000);
  CHECK_FALSE(
      passes(line(DType::float16, {0x7b53}), line(DType::float16, {0xfb53}), tolerance(1.9, 0)));
}

TEST_CASE("diff: no silent pass of tensors") {
  const Files files;
  const Bytes one = linear(f32({1, 2}));
  // Missing, on either side.
  CHECK_FALSE(*files.diff({one}, {one, one}).same);
  CHECK_FALSE(*files.diff({one, one}, {one}).same);
  // Twice the size: the first half is the same.
  CHECK_FALSE(*files.diff({linear(f32({1, 2, 1, 2}))}, {one}).same);
  CHECK_FALSE(*files.diff({one}, {linear(f32({1, 2, 1, 2}))}).same);
  // float32 bits read as float16, and the other way round.
  const Bytes halves = linear(line(DType::float16, {0, 0x3f80, 0, 0x4000}));
  CHECK_FALSE(*files.diff({halves}, {one}).same);
  // A vectorised dump taken for a linear tensor: the same elements in another order.
  const Tensor image{DType::int8, {4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}};
  const Bytes dump = stored(naive::names()[3], image);
  REQUIRE(naive::names()[3].name == "kCHW4");
  const Bytes mislabelled =
      bytes::dense(DType::int8, Layout::linear, image.dims, Bytes(dump.end() - 8, dump.end()));
  CHECK(*files.diff({dump}, {linear(image)}).same);
  CHECK_FALSE(*files.diff({mislabelled}, {linear(image)}).same);
  // An unknown type is not skipped.
  CHECK_FALSE(files.diff({one, bytes::dense(42, Layout::linear, {1}, Bytes(4))}, {one, one}).same);
  // A malformed record behind good ones, nor is that.
  CHECK_FALSE(
      files.diff({one, bytes::dense(DType::int8, Layout::linear, {100}, {})}, {one, one}).same);
}

TEST_CASE("diff: tensors that cannot be compared, and the others all the same") {
  const Files files;
  const Bytes one = linear(f32({1, 2}));
  const Bytes other = linear(f32({1, 3}));
  const Bytes unknown = bytes::dense(42, Layout::linear, {1}, Bytes(4));
  const Bytes cut = bytes::dense(DType::int8, Layout::linear, {100}, {});
  for (const unsigned jobs : {1U, 4U}) {
    DiffOptions options;
    options.execution.jobs = jobs;
    options.hints = false;
    CHECK_FALSE(files.diff({unknown, one}, {one, one}, options).same);
    options.go_on = true;
    const auto found = files.diff({unknown, one, other, one, cut}, {one, one, one, cut}, options);
    REQUIRE(found.same);
    CHECK_FALSE(*found.same);
    REQUIRE(found.tensors.size() == 5);
    const auto result = [&](std::size_t i) { return found.tensors[i].result; };
    CHECK(result(0) == DiffResult::trouble);
    CHECK(result(1) == DiffResult::same);
    CHECK(result(2) == DiffResult::different);
    CHECK(result(3) == DiffResult::trouble);
    CHECK(result(4) == DiffResult::trouble);
    CHECK(found.tensors[0].error->message.contains("unknown dtype code 42"));
    CHECK(found.tensors[0].error->tensor == 0);
    CHECK_FALSE(found.tensors[0].actual->known);
    CHECK(found.tensors[0].golden->dtype == DType::float32);
    CHECK(found.tensors[3].error->tensor == 3);
    CHECK_FALSE(found.tensors[4].golden);
    // Trouble alone is not the same.
    CHECK_FALSE(*files.diff({unknown, one}, {one, one}, options).same);
  }
}
