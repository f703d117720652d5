// Pairs that differ by noise of many kinds: no cause may be claimed for any of them.
#include <catch2/catch.hpp>
#include <map>
#include <numeric>

#include "support/hint_data.h"
#include "support/rounds.h"

using namespace hint_data;

namespace {

const std::vector<DType> kDtypes{
    DType::float32,       DType::float32,       DType::float16,     DType::bfloat16,
    DType::float64,       DType::int8,          DType::uint8,       DType::int16,
    DType::uint16,        DType::int32,         DType::uint32,      DType::int64,
    DType::uint64,        DType::float8_e4m3fn, DType::float8_e5m2, DType::float8_e8m0fnu,
    DType::float4_e2m1fn, DType::int4,          DType::uint4,       DType::boolean};

const std::vector<Words> kShapes{{7},
                                 {16},
                                 {64},
                                 {1000},
                                 {4096},
                                 {3, 3},
                                 {8, 8},
                                 {17, 5},
                                 {32, 32},
                                 {100, 10},
                                 {2, 3, 4},
                                 {3, 16, 16},
                                 {8, 8, 8},
                                 {1, 3, 8, 8},
                                 {1, 8, 12, 12},
                                 {2, 16, 7, 7},
                                 {1, 32, 8, 8},
                                 {4, 4, 4, 4},
                                 {2, 4, 3, 5, 6},
                                 {2, 2, 3, 4, 5, 2},
                                 {1, 16, 4, 4, 4},
                                 {512, 3}};

// The greatest size of values that makes sense in a dtype.
double scale_of(DType dtype, Random& random) {
  switch (dtype) {
    case DType::boolean:
      return 1;
    case DType::int4:
    case DType::uint4:
    case DType::float4_e2m1fn:
      return 3;
    case DType::int8:
    case DType::uint8:
      return 40;
    default:
      break;
  }
  if (is_float(dtype)) return std::array{1.0, 1.0, 0.02, 30.0}[random.below(4)];
  return std::array{10.0, 1000.0, 10000.0}[random.below(3)];
}

constexpr int kDataKinds = 16;

Values make_data(int kind, const Words& dims, double scale, Random& random) {
  const std::uint64_t count = product(dims);
  Values values = gaussians(count, scale, random);
  const double steps = 1 + static_cast<double>(random.below(5));
  const double waves = 0.001 * std::pow(10, 2 * uniform(random));
  const double level = scale * uniform(random);
  const std::uint64_t block = 1 + random.below(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    double& v = values[i];
    switch (kind) {
      case 0:  // as it is
        break;
      case 1:
        v = scale * (2 * uniform(random) - 1);
        break;
      case 2:  // few different numbers
        v = std::nearbyint(v / scale * steps) / steps * scale;
        break;
      case 3:  // mostly zeros
        if (random.below(30) != 0) v = 0;
        break;
      case 4:  // constant
        v = level;
        break;
      case 5:  // smooth
        v = scale * std::sin(waves * static_cast<double>(i));
        break;
      case 6:  // a ramp
        v = scale * static_cast<double>(i) / static_cast<double>(count) * 3;
        break;
      case 7:  // behind a ReLU
        v = std::max(v, 0.0);
        break;
      case 8:  // another size in every first index
        v *= std::pow(2, static_cast<double>(i * dims[0] / count) / 2);
        break;
      case 9:  // constant blocks
        v = i % block == 0 || i == 0 ? v : values[i - 1];
        break;
      case 10:  // zero in the last part of every row
        if (i % dims.back() * 4 >= dims.back() * 3) v = 0;
        break;
      case 11:  // all ones or zeros
        v = scale * static_cast<double>(random.below(2));
        break;
      case 12:  // smooth along the last dim, another level in every row
        v = scale * (std::sin(waves * 30 * static_cast<double>(i % dims.back())) +
                     static_cast<double>(i / dims.back() % 7));
        break;
      case 13:  // periodic
        v = i < block ? v : values[i - block];
        break;
      case 14:  // counting
        v = static_cast<double>(i % 1000);
        break;
      case 15:  // the same in every row
        v = i < dims.back() ? v : values[i - dims.back()];
        break;
    }
  }
  return values;
}

constexpr int kNoiseKinds = 19;
// Elements that were exchanged: of a list that is an order of its indices.
constexpr int kExchanged = 15;

bool true_order(int noise, const Words& dims, const std::string& claim) {
  return noise == kExchanged && std::ranges::count(dims, 1U) + 1 >= static_cast<long>(dims.size()) &&
         claim.starts_with("reordered: ");
}

// Two more, of elements that are right elsewhere: any of the same row, and rows in any order.
constexpr int kAnyOfRow = 19;
constexpr int kAnyRow = 20;

// Returns the tensor with noise.
Tensor disturbed(int kind, const Tensor& golden, double scale, Random& random) {
  Tensor actual = golden;
  const double size = std::pow(10.0, 8 * uniform(random) - 6);
  const std::uint64_t rare = std::array<std::uint64_t, 4>{2, 10, 100, 400}[random.below(4)];
  const unsigned bits = btf::info(golden.dtype).bits;
  const std::uint64_t mask = bits == 64 ? ~0ULL : (1ULL << bits) - 1;
  const Values other = gaussians(golden.codes.size(), scale, random);
  const std::uint64_t row = golden.dims.back();
  std::vector<std::uint64_t> rows(golden.codes.size() / row);
  std::iota(rows.begin(), rows.end(), std::uint64_t{0});
  for (std::size_t k = rows.size(); kind == kAnyRow && k > 1; --k)
    std::swap(rows[k - 1], rows[random.below(k)]);
  for (std::uint64_t i = 0; i < golden.codes.size(); ++i) {
    std::uint64_t& code = actual.codes[i];
    const double v = golden.value(i);
    const auto put = [&](double value) { code = code_of(golden.dtype, value); };
    const bool hit = random.below(rare) == 0;
    switch (kind) {
      case 0:  // everywhere, of any size
        put(v + size * scale * gaussian(random));
        break;
      case 1:
        put(v * (1 + size * gaussian(random)));
        break;
      case 2:  // outliers
        if (hit) put(v + 10 * scale * gaussian(random));
        break;
      case 3:
        put(v + static_cast<double>(random.below(3)) - 1);
        break;
      case 4:
        if (hit) put(random.below(2) == 0 ? v + 1 : v - 1);
        break;
      case 5:
        if (hit && is_float(golden.dtype)) put(std::nan(""));
        break;
      case 6:
        if (hit && is_float(golden.dtype)) put(random.below(2) == 0 ? HUGE_VAL : -HUGE_VAL);
        break;
      case 7:  // a step of the code either way
        if (hit) code = (code + (random.below(2) == 0 ? 1 : mask)) & mask;
        break;
      case 8:  // any code
        if (hit) code = random.next() & mask;
        break;
      case 9:  // lost at random
        if (hit) put(0);
        break;
      case 10:  // something else altogether
        put(other[i]);
        break;
      case 11:  // signs at random
        if (random.below(2) == 0) put(-v);
        break;
      case 12:  // one bit
        if (hit) code ^= 1ULL << random.below(bits);
        break;
      case 13:  // the same other number here and there
        if (hit) put(scale * 2.5);
        break;
      case 14:  // all too large
        put(v + size * scale * std::abs(gaussian(random)));
        break;
      case 15:  // two exchanged
        if (hit) std::swap(code, actual.codes[random.below(golden.codes.size())]);
        break;
      case 16:  // scaled by anything
        put(v * (1 + gaussian(random)));
        break;
      case 17:  // outliers on top of noise
        put(v * (1 + 1e-4 * gaussian(random)) + (hit ? scale * gaussian(random) : 0));
        break;
      case 18:  // quantised
        put(std::nearbyint(v / (size * scale / 300)) * size * scale / 300);
        break;
      case kAnyOfRow:
        code = golden.codes[i / row * row + random.below(row)];
        break;
      case kAnyRow:
        code = golden.codes[rows[i / row] * row + i % row];
        break;
    }
    if (golden.dtype == DType::boolean) code = code != 0 ? 1 : 0;
  }
  return actual;
}

btf::DiffOptions random_tolerance(Random& random) {
  btf::DiffOptions options;
  switch (random.below(6)) {
    case 0:
    case 1:
      break;
    case 2:
      options.tolerance.close = true;
      break;
    case 3:
      options.tolerance.rtol = std::pow(10, -5 * uniform(random));
      break;
    case 4:
      options.tolerance.atol = std::pow(10, -6 * uniform(random) + 1);
      break;
    case 5:
      options.tolerance.rtol = std::pow(10, -5 * uniform(random));
      options.tolerance.atol = std::pow(10, -6 * uniform(random));
      break;
  }
  if (random.below(20) == 0) options.tolerance.ulp = random.below(4);
  if (random.below(10) == 0) options.tolerance.equal_nan = false;
  return options;
}

}  // namespace

TEST_CASE("no cause is claimed for noise") {
  const Rounds rounds(4000);
  std::uint64_t different = 0;
  std::map<std::string, int> claims;
  for (std::uint64_t pair = rounds.first; pair < rounds.end(); ++pair) {
    Random random(pair * 77 + 5);
    const DType dtype = kDtypes[random.below(kDtypes.size())];
    const Words& dims = kShapes[random.below(kShapes.size())];
    const double scale = scale_of(dtype, random);
    const int data = static_cast<int>(random.below(kDataKinds));
    const int noise = static_cast<int>(random.below(kNoiseKinds));
    const Tensor golden = tensor(dtype, dims, make_data(data, dims, scale, random));
    const Tensor actual = disturbed(noise, golden, scale, random);
    const btf::TensorDiff diff = diff_of(actual, golden, random_tolerance(random));
    if (diff.mismatched > 0) ++different;
    const std::string claim = hint_of(diff);
    INFO("pair " << pair << ": " << btf::info(dtype).name << " " << btf::dims_text(dims) << " data "
                 << data << " noise " << noise << " mismatched " << diff.mismatched << "  "
                 << claim);
    // True, too, where steps are wide: all is 0.
    CHECK((claim.empty() || claim.starts_with("zero-tail: actual is 0 throughout") ||
           true_order(noise, dims, claim)));
  }
  CHECK(different > rounds.count / 2);
}

TEST_CASE(
    "no cause is claimed for noise in any dtype, nor for elements that changed places at random") {
  const Rounds rounds(60);
  const std::vector<Words> shapes{{64, 16}, {2, 8, 12, 10}, {1, 16, 9, 9}, {20, 20}};
  std::uint64_t different = 0;
  for (const btf::DTypeInfo& row : btf::dtypes())
    for (std::uint64_t pair = rounds.first; pair < rounds.end(); ++pair) {
      Random random(pair * 131 + row.bits);
      const Words& dims = shapes[random.below(shapes.size())];
      const double scale = scale_of(row.dtype, random);
      const int data = std::array{0, 1, 7}[random.below(3)];
      const int noise = std::array{0, 1, 8, 10, 16, kAnyOfRow, kAnyRow}[pair % 7];
      const Tensor golden = tensor(row.dtype, dims, make_data(data, dims, scale, random));
      const Tensor actual = disturbed(noise, golden, scale, random);
      const btf::TensorDiff diff = diff_of(actual, golden, random_tolerance(random));
      if (diff.mismatched > 0) ++different;
      const std::string claim = hint_of(diff);
      INFO("pair " << pair << ": " << row.name << " " << btf::dims_text(dims) << " data " << data
                   << " noise " << noise << " mismatched " << diff.mismatched << "  " << claim);
      // Rows of two dims in any order have a cause.
      CHECK((claim.empty() || claim.starts_with("zero-tail: actual is 0 throughout") ||
             (noise == kAnyRow && dims.size() == 2 && claim.starts_with("reordered: "))));
    }
  CHECK(different > rounds.count * btf::dtypes().size() / 2);
}

namespace {

// Are there numbers that a dtype does not reach?
bool beyond(const Values& values, DType dtype) {
  const double lowest = value_of(dtype, code_of(dtype, -1e300));
  const double highest = value_of(dtype, code_of(dtype, 1e300));
  return std::ranges::any_of(values, [&](double value) {
    return std::isinf(value_of(dtype, code_of(dtype, value))) || value < lowest || value > highest;
  });
}

}  // namespace

TEST_CASE("no cause is claimed for noise across dtypes, but for rounding where it is no more") {
  const Rounds rounds(3000);
  const std::vector<std::pair<DType, DType>> types{
      {DType::float32, DType::float16},       {DType::float32, DType::bfloat16},
      {DType::float32, DType::float8_e4m3fn}, {DType::float16, DType::float8_e5m2},
      {DType::bfloat16, DType::float16},      {DType::float64, DType::float32},
      {DType::float32, DType::int8},          {DType::int32, DType::float16},
      {DType::float32, DType::uint8},         {DType::int16, DType::int8}};
  std::uint64_t different = 0;
  for (std::uint64_t pair = rounds.first; pair < rounds.end(); ++pair) {
    Random random(pair * 91 + 3);
    const auto [fine, coarse] = types[random.below(types.size())];
    const Words& dims = kShapes[random.below(kShapes.size())];
    const double scale = scale_of(coarse, random);
    int data = static_cast<int>(random.below(kDataKinds));
    if (data == 8 && dims[0] > 32) data = 0;  // no float holds such sizes
    const int noise = static_cast<int>(random.below(kNoiseKinds));
    const Tensor golden = tensor(fine, dims, make_data(data, dims, scale, random));
    const Values noisy = disturbed(noise, golden, scale, random).values();
    const Tensor actual = tensor(coarse, dims, noisy);
    const bool turned = random.below(2) == 0;
    const btf::TensorDiff diff = turned ? diff_of(golden, actual, random_tolerance(random))
                                        : diff_of(actual, golden, random_tolerance(random));
    if (diff.mismatched > 0) ++different;
    const std::string claim = hint_of(diff);
    INFO("pair " << pair << ": " << btf::info(actual.dtype).name << " of " << btf::info(fine).name
                 << (turned ? " turned " : " ") << btf::dims_text(dims) << " data " << data
                 << " noise " << noise << " mismatched " << diff.mismatched << " rtol "
                 << diff.tolerance.rtol.value_or(0) << " atol " << diff.tolerance.atol.value_or(0)
                 << "  " << claim);
    // True, too: what a dtype cannot hold, and a side without any other number than 0.
    const bool rounding = claim.starts_with("rounding: ") && claim.find(" is ") != claim.npos;
    const bool cut_off = claim.starts_with("saturation: ") && beyond(noisy, coarse);
    const bool nothing = claim.starts_with("zero-tail: actual is 0 throughout");
    CHECK((claim.empty() || rounding || cut_off || nothing || true_order(noise, dims, claim)));
  }
  CHECK(different > rounds.count / 2);
}

namespace {

// Numbers that their place decides, so that what happens to a number happens to a place.
double placed(std::uint64_t kind, const Words& dims, std::uint64_t number, double a, double b) {
  const Words index = index_of(dims, number);
  const auto i = static_cast<double>(number);
  const auto x = static_cast<double>(index.back());
  const auto y = static_cast<double>(index.front());
  switch (kind) {
    case 0:
      return i;
    case 1:
      return static_cast<double>(number % 1000);
    case 2:
      return a + b * i / static_cast<double>(product(dims));
    case 3:
      return std::sin(b * i);
    case 4:  // whole periods
      return a * std::sin(2 * 3.14159265358979323846 * i / std::nearbyint(2 + 100 * b));
    case 5:
      return std::sin(b * x) * std::cos(0.1 * y);
    case 6:
      return a * (x * x + y);
    case 7:
      return std::exp(-b * x) * (1 + y);
    case 8:
      return std::sqrt(i) * a;
    case 9:
      return x * a;
    case 10:
      return y * a + std::nearbyint(x * b);
    default:
      return a * std::log1p(i);
  }
}
constexpr std::uint64_t kPlacedKinds = 12;

double to_whole(double v, std::uint64_t mode) {
  switch (mode) {
    case 0:
      return std::nearbyint(v);
    case 1:
      return std::floor(v);
    case 2:
      return std::trunc(v);
    case 3:
      return std::round(v);
    default:
      return std::ceil(v);
  }
}

// To `bits` significant ones.
double to_bits(double v, int bits, std::uint64_t mode) {
  if (v == 0 || !std::isfinite(v)) return v;
  const double unit = std::ldexp(1.0, std::ilogb(v) + 1 - bits);
  return to_whole(v / unit, mode) * unit;
}

// actual / golden is the same everywhere, but for float32.
bool one_ratio(const Tensor& actual, const Tensor& golden) {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  for (std::uint64_t i = 0; i < golden.codes.size(); ++i) {
    if (golden.value(i) == 0 && actual.value(i) == 0) continue;
    const double ratio = actual.value(i) / golden.value(i);
    least = std::min(least, ratio);
    most = std::max(most, ratio);
  }
  return std::abs(most / least - 1) < 1e-6;
}

// Nearly all pairs lie on one line, but for a little.
bool one_line(const Tensor& actual, const Tensor& golden) {
  std::vector<std::uint64_t> order(golden.codes.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::ranges::sort(order, {}, [&](std::uint64_t i) { return golden.value(i); });
  const std::uint64_t low = order[order.size() / 8];
  const std::uint64_t high = order[order.size() - 1 - order.size() / 8];
  const double run = golden.value(high) - golden.value(low);
  const double rise = actual.value(high) - actual.value(low);
  std::uint64_t off = 0;
  for (std::uint64_t i = 0; i < golden.codes.size(); ++i) {
    const double there = actual.value(low) + rise * ((golden.value(i) - golden.value(low)) / run);
    if (!(std::abs(actual.value(i) - there) <= 1e-5 * std::abs(rise))) ++off;
  }
  return run > 0 && rise != 0 && off * 100 <= golden.codes.size();
}

}  // namespace

TEST_CASE("rounding is not taken for a place, a scale or a limit") {
  const Rounds rounds(3000);
  const std::vector<DType> narrow{DType::float16,     DType::bfloat16, DType::float8_e4m3fn,
                                  DType::float8_e5m2, DType::int8,     DType::int32};
  std::uint64_t different = 0;
  std::uint64_t named = 0;
  for (std::uint64_t pair = rounds.first; pair < rounds.end(); ++pair) {
    Random random(pair * 31 + 7);
    const Words& dims = kShapes[4 + random.below(kShapes.size() - 4)];
    const std::uint64_t kind = random.below(kPlacedKinds);
    const double a = std::pow(10, 3 * uniform(random) - 1);
    const double b = uniform(random);
    Values values(product(dims));
    for (std::uint64_t i = 0; i < values.size(); ++i) values[i] = placed(kind, dims, i, a, b);
    const DType fine = random.below(3) == 0 ? DType::float64 : DType::float32;
    const Tensor golden = tensor(fine, dims, values);
    values = golden.values();
    const std::uint64_t how = random.below(3);
    DType coarse = fine;
    const std::uint64_t mode = random.below(5);
    const int bits = static_cast<int>(random.between(3, 14));
    const double step = a * std::pow(10, -4 * uniform(random));
    if (how == 0) coarse = narrow[random.below(narrow.size())];
    if (how == 1)
      for (double& v : values) v = to_bits(v, bits, mode);
    if (how == 2)
      for (double& v : values) v = to_whole(v / step, mode) * step;
    const Tensor actual = tensor(coarse, dims, values);
    const bool turned = random.below(4) == 0;
    const btf::TensorDiff diff = turned ? diff_of(golden, actual, random_tolerance(random))
                                        : diff_of(actual, golden, random_tolerance(random));
    if (diff.mismatched > 0) ++different;
    const std::string claim = hint_of(diff);
    if (claim.starts_with("rounding: ")) ++named;
    INFO("pair " << pair << ": " << btf::info(actual.dtype).name << " of " << btf::info(fine).name
                 << (turned ? " turned " : " ") << btf::dims_text(dims) << " data " << kind
                 << " how " << how << " mode " << mode << " bits " << bits << " step " << step
                 << " mismatched " << diff.mismatched << " rtol " << diff.tolerance.rtol.value_or(0)
                 << " atol " << diff.tolerance.atol.value_or(0) << "  " << claim);
    // True, too: numbers beyond what a dtype holds, steps so wide that all is 0, and a scale or a
    // line that happens to hold for every number.
    const bool fine_claim = claim.empty() || claim.starts_with("rounding: ") ||
                            claim.starts_with("zero-tail: actual is 0 throughout") ||
                            (how == 0 && claim.starts_with("saturation: ")) ||
                            (claim.starts_with("scale: ") && one_ratio(actual, golden)) ||
                            (claim.starts_with("affine: ") &&
                             (turned ? one_line(golden, actual) : one_line(actual, golden)));
    CHECK(fine_claim);
  }
  CHECK(different > rounds.count / 2);
  CHECK(named > rounds.count / 30);
}
