// Walks two tensors of the same dims together, in runs of row-major numbers, dense or sparse.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <vector>

#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "diff/sides/side.h"
#include "kernels/cast/cast_runs.h"
#include "kernels/number/widen.h"

namespace btf {

// The most elements that are read together.
inline constexpr std::uint64_t kPairRun = 1024;

// Elements of one dtype as Real: float, double or long double.
template <typename Real>
class RealValues {
 public:
  explicit RealValues(DType dtype) : widen_(widener<Real>(dtype)) {}

  // Takes at most kPairRun elements. The result is valid until the next call, and while the codes
  // are.
  const Real* of(const std::byte* codes, std::uint64_t stride, std::uint64_t count) {
    widen_(codes, stride, count, values_.data());
    return values_.data();
  }

 private:
  WidenFn<Real> widen_;
  std::array<Real, kPairRun> values_;
};

// Whether a float holds every value, and there is a fast conversion to it.
inline bool fits_float(DType dtype) {
  return dtype == DType::float32 ||
         (is_lossless(dtype, DType::float32) && find_cast_runs(dtype, DType::float32) != nullptr);
}

// float32 is read in place.
template <>
class RealValues<float> {
 public:
  explicit RealValues(DType dtype)
      : bytes_(info(dtype).buffer_bytes()), cast_(find_cast_runs(dtype, DType::float32)) {}

  const float* of(const std::byte* codes, std::uint64_t stride, std::uint64_t count) {
    if (stride != 1) {
      for (std::uint64_t i = 0; i < count; ++i)
        std::memcpy(contiguous_.data() + i * bytes_, codes + i * stride * bytes_, bytes_);
      codes = contiguous_.data();
    }
    if (cast_ == nullptr && reinterpret_cast<std::uintptr_t>(codes) % alignof(float) == 0)
      return reinterpret_cast<const float*>(codes);
    auto* const target = reinterpret_cast<std::byte*>(values_.data());
    if (cast_ == nullptr) {
      std::memcpy(target, codes, count * sizeof(float));
    } else {
      LossAccount none;
      cast_({.source = codes, .target = target, .count = count}, none);
    }
    return values_.data();
  }

 private:
  std::uint64_t bytes_;
  CastRunsFn cast_;  // nullptr: the dtype is float32
  std::array<float, kPairRun> values_;
  alignas(float) std::array<std::byte, kPairRun * sizeof(float)> contiguous_;
};

inline bool both_sparse(const DiffSide& actual, const DiffSide& golden) {
  return actual.storage() == nullptr && golden.storage() == nullptr;
}

// The pairs with numbers in [begin, end): `count` of them are stored by a side, the others by
// neither.
struct SparseRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t count = 0;  // at most kPairRun
  const std::uint64_t* numbers = nullptr;
  const std::byte* actual_codes = nullptr;  // buffer_bytes() each
  const std::byte* golden_codes = nullptr;

  std::uint64_t absent() const { return end - begin - count; }
};

// Walks two COO tensors without expanding what neither stores. Slabs are ranges of numbers that
// depend on the tensors only.
class SparseSlabs {
 public:
  // Slabs begin at multiples of `granule`. The sides must outlive the object.
  static Result<SparseSlabs> open(const DiffSide& actual, const DiffSide& golden,
                                  const Execution& execution, std::uint64_t granule = 1);

  unsigned workers() const { return workers_; }

  // Visits every pair once. Runs of a slab ascend and come from one worker.
  using Visit = std::function<void(unsigned worker, std::uint64_t slab, const SparseRun& run)>;
  Status walk(const Visit& visit) const;

 private:
  SparseSlabs(const DiffSide& actual, const DiffSide& golden, const Execution& execution)
      : actual_(&actual), golden_(&golden), execution_(&execution) {}

  const DiffSide* actual_;
  const DiffSide* golden_;
  const Execution* execution_;
  std::vector<std::uint64_t> begins_;  // begin of each slab, and the end of the last
  unsigned workers_ = 1;
};

template <typename Real>
Real widen_code(DType dtype, std::uint64_t code) {
  Real real = 0;
  widener<Real>(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &real);
  return real;
}

// The value of an element that a side does not store: zero bits.
template <typename Real>
Real absent_value(DType dtype) {
  return widen_code<Real>(dtype, 0);
}

// At most kPairRun pairs, or any number of equal ones (`alike`).
template <typename Real>
struct PairRun {
  std::uint64_t first = 0;  // row-major number of the first pair
  std::uint64_t count = 0;
  const Real* actual = nullptr;  // `count` values; one if all pairs are alike
  const Real* golden = nullptr;
  const std::byte* actual_codes = nullptr;  // buffer_bytes() each, as many as values
  const std::byte* golden_codes = nullptr;
  bool alike = false;  // the pairs are elements that neither COO tensor stores
  // The numbers of gathered pairs, ascending; nullptr: consecutive numbers.
  const std::uint64_t* numbers = nullptr;

  std::uint64_t values() const { return alike ? 1 : count; }
  std::uint64_t number(std::uint64_t i) const {
    return numbers != nullptr ? numbers[i] : first + i;
  }
};

// `slab` numbers the pieces of work, independently of the number of workers. The runs of a slab
// come in order, from one worker.
template <typename Real>
using PairVisit =
    std::function<void(unsigned worker, std::uint64_t slab, const PairRun<Real>& run)>;

enum class PairOrder : std::uint8_t {
  any,        // slabs as boxes of either side's storage, on all workers
  rows,       // the same, but whole rows of the last dim; row_major where these take too much
  row_major,  // ascending numbers, one worker
};

// How two COO tensors are visited.
enum class SparsePairs : std::uint8_t {
  in_order,  // a run has consecutive pairs
  gathered,  // a run has stored elements from different places; equal pairs that neither side
             // stores between them follow as one run, without their numbers
};

class PairRows {
 public:
  PairRows(const DiffSide& actual, const DiffSide& golden, const Execution& execution,
           PairOrder order = PairOrder::any)
      : actual_(actual), golden_(golden), execution_(execution), order_(order) {}

  DType actual() const { return actual_.dtype(); }
  DType golden() const { return golden_.dtype(); }

  // Sides whose values all fit a double are visited as double, others as long double, or as the
  // nearest double if the visitor reads the codes where that matters. Those that fit a float, and
  // are not both COO, may be visited as float; float32 is read in place.
  bool use_double() const;
  bool use_float() const;

  // The number of workers that walk() will use.
  Result<unsigned> workers() const;

  // Visits every pair once.
  template <typename Real>
  Status walk(const PairVisit<Real>& visit, SparsePairs sparse = SparsePairs::in_order) const;

 private:
  std::uint64_t sparse_granule() const;
  template <typename Real>
  Status walk_sparse(const PairVisit<Real>& visit, SparsePairs sparse) const;
  template <typename Real>
  Status walk_dense(const PairVisit<Real>& visit) const;

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Execution& execution_;
  PairOrder order_;
};

}  // namespace btf
