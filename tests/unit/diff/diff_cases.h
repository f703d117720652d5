// Tensors and files to compare, and the whole answer by a loop over long doubles.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "btf/convert.h"
#include "btf/diff.h"
#include "support/btf_bytes.h"
#include "support/cast_oracle.h"
#include "support/naive_layout.h"
#include "support/random_tensor.h"
#include "support/scratch_dir.h"
#include "support/shapes.h"

namespace diff_cases {

using btf::DiffOptions;
using btf::DiffResult;
using btf::DType;
using btf::ErrorCode;
using btf::Layout;
using btf::Mismatch;
using btf::TensorDiff;
using bytes::Bytes;
using bytes::Words;
using shapes::index_of;
using shapes::product;

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline const std::string kGood = BTF_TESTDATA_DIR "/good/";

inline double below(double x) { return std::nextafter(x, -kInf); }
inline double above(double x) { return std::nextafter(x, kInf); }

inline DiffOptions tolerance(double rtol, double atol) {
  DiffOptions options;
  options.tolerance = {.rtol = rtol, .atol = atol};
  return options;
}

// Codes in row-major order.
struct Tensor {
  DType dtype{};
  Words dims;
  Words codes;
};

inline Tensor line(DType dtype, const Words& codes) { return {dtype, {codes.size()}, codes}; }

template <typename T>
Tensor numbers(DType dtype, const std::vector<T>& values) {
  Words codes(values.size(), 0);
  for (std::size_t i = 0; i < values.size(); ++i) std::memcpy(&codes[i], &values[i], sizeof(T));
  return line(dtype, codes);
}

inline Tensor f32(const std::vector<float>& values) { return numbers(DType::float32, values); }
inline Tensor f64(const std::vector<double>& values) { return numbers(DType::float64, values); }

inline btf::Result<TensorDiff> try_diff(const Tensor& actual, const Tensor& golden,
                                        const DiffOptions& options = {}) {
  const Bytes left = bytes::pack(btf::info(actual.dtype).bits, actual.codes);
  const Bytes right = bytes::pack(btf::info(golden.dtype).bits, golden.codes);
  const btf::TensorView a{actual.dtype,
                          btf::resolve(Layout::linear, actual.dims, actual.dtype).value(), left};
  const btf::TensorView g{golden.dtype,
                          btf::resolve(Layout::linear, golden.dims, golden.dtype).value(), right};
  return btf::diff(a, g, options);
}

inline TensorDiff diff_of(const Tensor& actual, const Tensor& golden,
                          const DiffOptions& options = {}) {
  auto result = try_diff(actual, golden, options);
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

inline bool passes(const Tensor& actual, const Tensor& golden, const DiffOptions& options = {}) {
  const TensorDiff diff = diff_of(actual, golden, options);
  CHECK((diff.mismatched == 0) == (diff.result == DiffResult::same));
  return diff.result == DiffResult::same;
}

inline Bytes linear(const Tensor& tensor) {
  return bytes::dense(tensor.dtype, Layout::linear, tensor.dims,
                      bytes::pack(btf::info(tensor.dtype).bits, tensor.codes));
}

// With junk for padding.
inline Bytes stored(const naive::Name& name, const Tensor& tensor) {
  const unsigned element = btf::info(tensor.dtype).bits / 8;
  const naive::Array array = naive::layout(name.name, tensor.dims, element);
  Bytes data(array.elements() * element, std::byte{0x7f});
  const Bytes packed = bytes::pack(element * 8, tensor.codes);
  for (std::size_t i = 0; i < array.place.size(); ++i)
    std::copy_n(&packed[i * element], element, &data[array.place[i] * element]);
  return bytes::dense(tensor.dtype, name.code, tensor.dims, data);
}

inline Bytes sparse(const Tensor& tensor) {
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

inline void write(std::ostream& out, const std::optional<Mismatch>& mismatch) {
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
inline std::string text(const TensorDiff& diff) {
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

inline std::uint64_t random_code(DType dtype, Random& random) {
  const unsigned bits = btf::info(dtype).bits;
  return bits == 64 ? random.next() : random.next() & ((1ULL << bits) - 1);
}

inline Tensor random_tensor(DType dtype, const Words& dims, Random& random) {
  Tensor tensor{dtype, dims, Words(product(dims))};
  for (std::uint64_t& code : tensor.codes) code = random_code(dtype, random);
  return tensor;
}

// Like `tensor`, but some codes are a step or two away and a few are anything.
inline Tensor disturbed(const Tensor& tensor, Random& random) {
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

inline Error brute_error(const Tensor& actual, const Tensor& golden, std::uint64_t i) {
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

inline Brute brute_force(const Tensor& actual, const Tensor& golden,
                         const btf::Tolerance& tolerance) {
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

inline bool near(double value, double expected) {
  return value == expected || std::abs(value - expected) <= 1e-15 * std::abs(value);
}

// Of equal errors the first is the worst.
inline void check_against(const TensorDiff& diff, const Tensor& actual, const Tensor& golden,
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

}  // namespace diff_cases
