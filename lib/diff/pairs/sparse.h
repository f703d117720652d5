// Walks two COO tensors of the same dims side by side without spelling out what neither stores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "btf/try.h"
#include "core/checked_math.h"
#include "diff/pairs/side.h"
#include "elements/parallel.h"
#include "kernels/number/widen.h"

namespace btf {

inline bool both_sparse(const DiffSide& actual, const DiffSide& golden) {
  return actual.storage() == nullptr && golden.storage() == nullptr;
}

// `count` pairs from the row-major number `first` on, all alike.
template <typename Real>
struct SparseRun {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  Real actual = 0;
  Real golden = 0;
};

template <typename Real>
Real widen_code(DType dtype, std::uint64_t code) {
  Real real = 0;
  widener<Real>(dtype)(reinterpret_cast<const std::byte*>(&code), 1, 1, &real);
  return real;
}

// The same of one dtype. What is not stored is asked for again and again.
template <typename Real>
class CodeValues {
 public:
  explicit CodeValues(DType dtype) : dtype_(dtype), absent_(widen_code<Real>(dtype, 0)) {}

  Real of(std::uint64_t code) const { return code == 0 ? absent_ : widen_code<Real>(dtype_, code); }

 private:
  DType dtype_;
  Real absent_;
};

// Calls visit(run) for every stored entry of either side and for the runs of numbers that neither
// stores, ascending, until visit returns false.
template <typename Real, typename Visit>
Status visit_sparse(const DiffSide& actual, const DiffSide& golden, const Execution& execution,
                    Visit&& visit) {
  constexpr std::uint64_t kCancelInterval = 1U << 20;  // entries
  BTF_ASSIGN(const auto left, actual.entries());
  BTF_ASSIGN(const auto right, golden.entries());
  const CodeValues<Real> actual_values(actual.dtype());
  const CodeValues<Real> golden_values(golden.dtype());
  const bool same_dtype = actual.dtype() == golden.dtype();
  const auto run_of = [&](std::uint64_t first, std::uint64_t count, std::uint64_t actual_code,
                          std::uint64_t golden_code) {
    const Real value = actual_values.of(actual_code);
    const bool same = same_dtype && actual_code == golden_code;
    return SparseRun<Real>{first,       count, actual_code,
                           golden_code, value, same ? value : golden_values.of(golden_code)};
  };
  const std::uint64_t total = *element_count(golden.dims());
  BTF_ASSIGN(std::optional<CooEntry> a, left->next());
  BTF_ASSIGN(std::optional<CooEntry> b, right->next());
  std::uint64_t next = 0;
  for (std::uint64_t turn = 0;; ++turn) {
    if (turn % kCancelInterval == 0) BTF_TRY(check_cancelled(execution));
    const std::uint64_t at = std::min(a ? a->key : total, b ? b->key : total);
    if (at > next && !visit(run_of(next, at - next, 0, 0))) return {};
    if (at == total) return {};
    const bool in_left = a && a->key == at;
    const bool in_right = b && b->key == at;
    if (!visit(run_of(at, 1, in_left ? a->code : 0, in_right ? b->code : 0))) return {};
    next = at + 1;
    if (in_left) {
      BTF_ASSIGN(a, left->next());
    }
    if (in_right) {
      BTF_ASSIGN(b, right->next());
    }
  }
}

}  // namespace btf
