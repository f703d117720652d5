// Walks two COO tensors of the same dims side by side without spelling out what neither stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "btf/execution.h"
#include "diff/pairs/side.h"
#include "kernels/number/widen.h"

namespace btf {

inline bool both_sparse(const DiffSide& actual, const DiffSide& golden) {
  return actual.storage() == nullptr && golden.storage() == nullptr;
}

// The pairs with numbers from `begin` on and below `end`: `count` of these are stored by a side,
// the others by neither.
struct SparseRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t count = 0;  // at most kPairRun
  const std::uint64_t* numbers = nullptr;
  const std::byte* actual_codes = nullptr;  // buffer_bytes() each
  const std::byte* golden_codes = nullptr;

  std::uint64_t absent() const { return end - begin - count; }
};

// In slabs, which are ranges of numbers and depend on the tensors alone.
class SparseSlabs {
 public:
  // Slabs begin at multiples of `granule`. The sides outlive them.
  static Result<SparseSlabs> open(const DiffSide& actual, const DiffSide& golden,
                                  const Execution& execution, std::uint64_t granule = 1);

  unsigned workers() const { return workers_; }

  // Every pair once; runs of a slab ascend and come from one worker.
  using Visit = std::function<void(unsigned worker, std::uint64_t slab, const SparseRun& run)>;
  Status walk(const Visit& visit) const;

 private:
  SparseSlabs(const DiffSide& actual, const DiffSide& golden, const Execution& execution)
      : actual_(&actual), golden_(&golden), execution_(&execution) {}

  const DiffSide* actual_;
  const DiffSide* golden_;
  const Execution* execution_;
  std::vector<std::uint64_t> begins_;  // and the end of the last
  unsigned workers_ = 1;
};

template <typename Real>
Real widen_code(DType dtype, std::uint64_t code) {
  Real real = 0;
  widener<Real>(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &real);
  return real;
}

// An element that a side does not store: zero bits.
template <typename Real>
Real absent_value(DType dtype) {
  return widen_code<Real>(dtype, 0);
}

}  // namespace btf
