// Walks two tensors of the same dims side by side, in runs of row-major numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "btf/error.h"
#include "btf/execution.h"
#include "diff/pairs/real_values.h"
#include "diff/pairs/side.h"

namespace btf {

// At most kPairRun pairs, if they are not all alike.
template <typename Real>
struct PairRun {
  std::uint64_t first = 0;  // row-major number of the first pair
  std::uint64_t count = 0;
  const Real* actual = nullptr;  // `count` values; one if all pairs are alike
  const Real* golden = nullptr;
  const std::byte* actual_codes = nullptr;  // likewise, buffer_bytes() each
  const std::byte* golden_codes = nullptr;
  bool alike = false;  // what two COO tensors do not store
  // The numbers of gathered pairs, ascending; nullptr: they follow the first.
  const std::uint64_t* numbers = nullptr;

  std::uint64_t values() const { return alike ? 1 : count; }
  std::uint64_t number(std::uint64_t i) const {
    return numbers != nullptr ? numbers[i] : first + i;
  }
};

// `slab` numbers the pieces of work in a way that does not depend on the number of workers; runs of
// a slab come one after the other, from one worker.
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
  in_order,  // a run has pairs that follow one another
  gathered,  // a run has what is stored here and there; the pairs of equal numbers that neither
             // stores among these come as one run behind them, and what their numbers are is lost
};

class PairRows {
 public:
  PairRows(const DiffSide& actual, const DiffSide& golden, const Execution& execution,
           PairOrder order = PairOrder::any)
      : actual_(actual), golden_(golden), execution_(execution), order_(order) {}

  DType actual() const { return actual_.dtype(); }
  DType golden() const { return golden_.dtype(); }

  // Sides whose values all fit a double are visited as double, others as long double, or as the
  // nearest double by who looks at the codes where it matters. Those that fit a float, and are not
  // both COO, may be visited as float: float32 is read where it lies.
  bool use_double() const;
  bool use_float() const;

  // How many workers walk() will have.
  Result<unsigned> workers() const;

  // Every pair once.
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
