// The result of a comparison of two tensors.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/diff/criteria.h"
#include "btf/dtype.h"
#include "btf/error.h"
#include "btf/layers/pair_names.h"
#include "btf/layout.h"

namespace btf {

struct NanCount {
  std::uint64_t both = 0;
  std::uint64_t actual = 0;  // in actual only
  std::uint64_t golden = 0;  // in golden only

  void add(const NanCount& other) {
    both += other.both;
    actual += other.actual;
    golden += other.golden;
  }
};

struct InfCount {
  std::uint64_t both = 0;      // of the same sign
  std::uint64_t opposite = 0;  // of opposite signs
  std::uint64_t actual = 0;
  std::uint64_t golden = 0;

  void add(const InfCount& other) {
    both += other.both;
    opposite += other.opposite;
    actual += other.actual;
    golden += other.golden;
  }
};

// Refused pairs of finite numbers with one side at the end of its dtype, or its codes at theirs,
// and the other beyond it.
struct SaturatedCount {
  std::uint64_t actual = 0;  // actual is at the end
  std::uint64_t golden = 0;
};

// Where the first of each kind is, in row-major order; nothing: there is none, or it was not looked
// for.
struct FirstNonfinite {
  std::optional<Dims> nan_actual{};  // in actual only
  std::optional<Dims> nan_golden{};
  std::optional<Dims> inf_opposite{};
  std::optional<Dims> inf_actual{};
  std::optional<Dims> inf_golden{};
  std::optional<Dims> nan_both{};
  std::optional<Dims> inf_both{};  // of one sign
};

// One pair of elements. Byte offsets are into the files; nothing for an element that a COO tensor
// does not store.
struct Mismatch {
  Dims index;  // logical
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  double abs_error = 0;
  double rel_error = 0;
  double allowed = 0;                  // the largest error that rtol and atol accept here
  std::optional<std::uint64_t> steps;  // of the coarser dtype; nothing for NaN and Inf
  std::optional<std::uint64_t> actual_offset;
  std::optional<std::uint64_t> golden_offset;
};

struct QuantileValue {
  double q = 0;
  double value = 0;
};

struct TopK {
  std::uint64_t k = 0;
  std::uint64_t rows = 0;
  std::uint64_t disagreeing = 0;  // rows whose lists differ
  std::optional<Dims> first{};    // the first of these, without the last dim
};

// Unequal pairs of finite numbers whose absolute error is in [10^decade, 10^(decade + 1)).
struct DecadeCount {
  int decade = 0;
  std::uint64_t count = 0;
  std::uint64_t mismatched = 0;
};

struct RequiredPair {
  double rtol = 0;
  double atol = 0;  // the least that, with this rtol, accepts everything
};

enum class Cause : std::uint8_t {
  shape,  // edits that would make different dims equal
  layout,
  permutation,
  shift,
  byte_order,
  nibble_order,
  dtype_misread,
  scale,
  offset,
  sign,
  saturation,
  rounding,
  stale_padding,
  region,
  zero_tail,
  channels_reversed,
  mirrored,
  rotated,
  shuffled,
  interleaved,
  repeated,
  pitch,
  index_base,
  affine,
  channel_scale,
  scale_axis,
  activation,
  inverted,
  wrapped,
  reordered,
  padded,  // of dims that differ
};

// All of them: {Cause::byte_order, "byte-order"}
BTF_API std::span<const Named<Cause>> cause_names();
BTF_API std::string_view cause_name(Cause cause);

// A cause that explains the difference. It is never applied.
// The evidence of Cause::shape where other dims make them equal: this, and "squeeze", "reshape" or
// "permute 0,3,1,2", perhaps "permute 2,0,1 and squeeze". Among noise ", but for noise of 0.01 rms:
// correlation 0.99995 over 1000 elements" follows, before it perhaps ", then actual = 2 x golden".
inline constexpr std::string_view kEqualAfter = "equal after ";
// Any other cause, where dims differ, begins with this: it is one of actual's elements, one after
// the other, in golden's dims.
inline constexpr std::string_view kGivenGoldensDims = "with golden's dims ";

struct Hint {
  Cause cause{};
  std::string evidence;
  std::string other_cause{};  // of a report by another version: a cause that is none of these
};

// How many pairs were refused, cell by cell over one or two dims and summed over the others. A cell
// covers `step` indices, the last one of a dim perhaps fewer.
struct Heatmap {
  struct Axis {
    std::uint32_t dim = 0;
    std::uint64_t step = 1;
  };
  std::optional<Axis> down;  // nothing: one row
  std::optional<Axis> across;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::vector<std::uint64_t> mismatched;  // rows * columns, row by row
  std::vector<std::uint64_t> elements;    // likewise: how many pairs the cell covers
};

enum class DiffResult : std::uint8_t {
  same,
  different,
  shape,
  missing,
  trouble  // it cannot be compared, and DiffOptions::go_on is set
};

// One side of a pair, as it is compared.
struct DiffTensor {
  std::uint64_t index = 0;  // in its file
  DType dtype{};
  Layout layout{};
  Dims dims;
  std::string name{};             // empty: in memory
  bool named = false;             // by the file itself
  std::optional<DType> codes{};   // what it is made of by a scale, if it is
  std::optional<double> scale{};  // of these, if there is one
  unsigned text_digits = 0;       // significant, of floats that the file has as text; else 0
  bool text_fixed = false;        // these digits are decimals
  bool known = true;              // else dtype, layout and dims say nothing (DiffResult::trouble)
};

struct TensorDiff {
  std::optional<DiffTensor> actual;  // nothing: missing (DiffResult::missing)
  std::optional<DiffTensor> golden;
  // By which tier names that are not equal made it a pair; nothing: they are, or were not asked.
  std::optional<PairTier> tier{};
  std::string note{};  // of one that is missing: which name of the other side is close
  DiffResult result = DiffResult::same;
  std::string reason;  // of a difference that is not one of values: shape, dtype, layout, missing
  std::optional<Error> error{};           // trouble; nothing else is set then
  Tolerance tolerance;                    // as used for this pair: close has become numbers
  std::vector<CriterionResult> criteria;  // all that were judged
  std::uint64_t compared = 0;
  std::uint64_t mismatched = 0;  // refused by the tolerance, whether or not that decides
  // False: all that is known of `mismatched`, then 1, is that it is not 0 (rejudge()).
  bool mismatched_known = true;
  double max_abs = 0;  // over all pairs of finite numbers, as the next two
  double max_rel = 0;
  std::uint64_t max_ulp = 0;  // steps of the coarser dtype
  NanCount nan;
  InfCount inf;
  FirstNonfinite first_nonfinite;
  // The least tolerance of one kind alone that would accept everything; nothing if none would.
  std::optional<double> required_atol;
  std::optional<double> required_rtol;

  // Nothing if they were not requested and the tensors are the same.
  std::optional<Figures> figures;
  std::vector<QuantileValue> quantiles;  // those of the gates
  std::optional<TopK> top_k;

  // Only if something mismatched. Mismatches are of finite numbers where there are any, the rest by
  // row-major order.
  std::optional<Mismatch> worst_abs;
  std::optional<Mismatch> worst_rel;
  std::vector<Mismatch> first;    // in row-major order
  std::vector<Mismatch> largest;  // by absolute error, descending
  std::uint64_t equal = 0;        // pairs of finite numbers that are equal
  SaturatedCount saturated{};
  std::vector<DecadeCount> decades;           // ascending; empty decades are left out
  std::vector<RequiredPair> required_pairs;   // by rtol, ascending; both not 0; atol falls
  std::optional<RequiredPair> required_pair;  // the most balanced of these
  std::vector<Hint> hints;                    // the best first
  std::optional<Heatmap> heatmap;             // if requested

  // NaN or Inf on one side where the other has something else.
  bool nonfinite_differs() const {
    return nan.actual + nan.golden + inf.actual + inf.golden + inf.opposite > 0;
  }
  // By which one tensor is worse than another: max_abs, or Inf.
  double worst_error() const {
    return nonfinite_differs() ? std::numeric_limits<double>::infinity() : max_abs;
  }
};

}  // namespace btf
