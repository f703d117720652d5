// Comparison of two tensors, and of the tensors of two files: whether they are the same within a
// tolerance, and if not, where, by how much and why. Two tensors in memory give one TensorDiff;
// files and sets (btf/set_diff.h) give a bool, and a TensorDiff for each pair to a sink.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "btf/api.h"
#include "btf/criteria.h"
#include "btf/dtype.h"
#include "btf/edit.h"
#include "btf/error.h"
#include "btf/execution.h"
#include "btf/file.h"
#include "btf/layout.h"
#include "btf/pair_names.h"
#include "btf/quantize.h"

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

// Refused pairs of finite numbers of which one side is at the limit of its dtype, or of its codes,
// and the other is beyond that limit.
struct SaturatedCount {
  std::uint64_t actual = 0;  // actual is at its limit
  std::uint64_t golden = 0;
};

// Index of the first of each kind, in row-major order; unset if there is none or if it was not
// looked for.
struct FirstNonfinite {
  std::optional<Dims> nan_actual{};  // in actual only
  std::optional<Dims> nan_golden{};
  std::optional<Dims> inf_opposite{};
  std::optional<Dims> inf_actual{};
  std::optional<Dims> inf_golden{};
  std::optional<Dims> nan_both{};
  std::optional<Dims> inf_both{};  // of one sign
};

// One pair of elements that was refused. Offsets are in bytes from the start of each file; unset
// for an element that a COO tensor does not store.
struct Mismatch {
  Dims index;  // logical
  std::uint64_t actual_code = 0;
  std::uint64_t golden_code = 0;
  double abs_error = 0;
  double rel_error = 0;
  double allowed = 0;                  // the largest error that rtol and atol accept here
  std::optional<std::uint64_t> steps;  // of the coarser dtype; unset for NaN and Inf
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
  std::optional<Dims> first{};    // index of the first such row, without the last dim
};

// Unequal pairs of finite numbers whose absolute error is in [10^decade, 10^(decade + 1)).
struct DecadeCount {
  int decade = 0;
  std::uint64_t count = 0;
  std::uint64_t mismatched = 0;
};

struct RequiredPair {
  double rtol = 0;
  double atol = 0;  // the least one that accepts everything together with this rtol
};

enum class Cause : std::uint8_t {
  shape,  // different dims that edits would make equal
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
  padded,  // one side has larger dims, filled up around the other
};

// Names of all causes, as in {Cause::byte_order, "byte-order"}.
BTF_API std::span<const Named<Cause>> cause_names();
BTF_API std::string_view cause_name(Cause cause);

// The evidence of Cause::shape begins with this, followed by the edit: "squeeze", "reshape",
// "permute 0,3,1,2", or two of them ("permute 2,0,1 and squeeze"). In noisy data, ", then actual =
// 2 x golden" follows if there is such a factor, and then ", but for noise of 0.01 rms: correlation
// 0.99995 over 1000 elements".
inline constexpr std::string_view kEqualAfter = "equal after ";
// The evidence of any other cause begins with this if the dims differ: the cause was found after
// giving actual's elements golden's dims, in row-major order.
inline constexpr std::string_view kGivenGoldensDims = "with golden's dims ";

// A likely cause of the difference, with its evidence as text. Causes are reported and never
// applied.
struct Hint {
  Cause cause{};
  std::string evidence;
  std::string
      other_cause{};  // name of the cause, if a report by a newer version has one unknown here
};

// How many pairs were refused, by cells over one or two dims, summed over all other dims. A cell
// covers `step` indices of a dim; the last cell may cover fewer.
struct Heatmap {
  struct Axis {
    std::uint32_t dim = 0;
    std::uint64_t step = 1;
  };
  std::optional<Axis> down;  // unset if there is one row
  std::optional<Axis> across;
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::vector<std::uint64_t> mismatched;  // [rows, columns]
  std::vector<std::uint64_t> elements;    // [rows, columns]: how many pairs a cell covers
};

enum class DiffResult : std::uint8_t {
  same,
  different,
  shape,
  missing,
  trouble  // cannot be compared, and DiffOptions::go_on is set
};

// One side of a pair, after scales and edits were applied.
struct DiffTensor {
  std::uint64_t index = 0;  // in its file
  DType dtype{};
  Layout layout{};
  Dims dims;
  std::string name{};             // empty for a tensor in memory
  bool named = false;             // the name comes from the file itself
  std::optional<DType> codes{};   // dtype of the codes that were dequantised, if any
  std::optional<double> scale{};  // of the codes, if there is a single one
  unsigned text_digits = 0;       // significant digits of floats that are text in the file, else 0
  bool text_fixed = false;        // `text_digits` counts decimals instead
  bool known = true;              // false: dtype, layout and dims are not known (trouble)
};

struct TensorDiff {
  std::optional<DiffTensor> actual;  // unset if this side is missing (DiffResult::missing)
  std::optional<DiffTensor> golden;
  // The rule by which two different names were matched; unset if they are equal or were not used.
  std::optional<PairTier> tier{};
  std::string note{};  // for a missing tensor: a similar name on the other side
  DiffResult result = DiffResult::same;
  std::string reason;            // why they differ, if not by values: shape, dtype, layout, missing
  std::optional<Error> error{};  // set for trouble; the members below are then not set
  Tolerance tolerance;           // as applied to this pair: `close` has become numbers
  std::vector<CriterionResult> criteria;  // every criterion that was judged
  std::uint64_t compared = 0;             // elements
  std::uint64_t mismatched = 0;           // refused by the tolerance, whether or not that decides
  // False after rejudge() of a report that lacks the count: `mismatched` is 1 then, and the true
  // count is only known not to be 0.
  bool mismatched_known = true;
  double max_abs = 0;  // max_abs, max_rel and max_ulp are over all pairs of finite numbers
  double max_rel = 0;
  std::uint64_t max_ulp = 0;  // steps of the coarser dtype
  NanCount nan;
  InfCount inf;
  FirstNonfinite first_nonfinite;
  // The least atol, or rtol, that alone would accept everything; unset if none would.
  std::optional<double> required_atol;
  std::optional<double> required_rtol;

  // Unset if the tensors are the same and figures were not requested.
  std::optional<Figures> figures;
  std::vector<QuantileValue> quantiles;  // of the quantiles that have gates
  std::optional<TopK> top_k;

  // Set only if something mismatched. Mismatches of finite numbers take precedence over NaN and
  // Inf, which are listed in row-major order.
  std::optional<Mismatch> worst_abs;
  std::optional<Mismatch> worst_rel;
  std::vector<Mismatch> first;    // in row-major order
  std::vector<Mismatch> largest;  // by absolute error, descending
  std::uint64_t equal = 0;        // equal pairs of finite numbers
  SaturatedCount saturated{};
  std::vector<DecadeCount> decades;           // ascending; empty decades are left out
  std::vector<RequiredPair> required_pairs;   // rtol ascends and atol falls; neither is 0
  std::optional<RequiredPair> required_pair;  // the most balanced of these
  std::vector<Hint> hints;                    // the most likely cause first
  std::optional<Heatmap> heatmap;             // if requested

  // Returns true if a NaN or an Inf of one side meets something else on the other.
  bool nonfinite_differs() const {
    return nan.actual + nan.golden + inf.actual + inf.golden + inf.opposite > 0;
  }
  // The measure by which tensors are sorted: max_abs, or Inf if nonfinite_differs().
  double worst_error() const {
    return nonfinite_differs() ? std::numeric_limits<double>::infinity() : max_abs;
  }
};

// The axes of a heat map and its largest number of cells. `axes` holds one axis (across) or two
// (down, across); negative ones count from the last dim. If it is empty, or if the tensor lacks
// these axes, they are chosen by where the mismatches are.
struct HeatmapRequest {
  std::vector<std::int32_t> axes{};
  std::uint32_t rows = 24;
  std::uint32_t columns = 64;
};

// Why a tensor of this rank lacks these axes, as in "there is no dim 4 in rank 4"; empty if it has
// them.
BTF_API std::string axes_trouble(const std::vector<std::int32_t>& axes, std::size_t rank);

// Tensors of two files that are compared with each other, by their indices.
struct TensorPair {
  std::optional<std::uint64_t> actual{};  // unset if golden's tensor has no partner
  std::optional<std::uint64_t> golden{};  // unset if actual's tensor has no partner
  std::optional<PairTier> tier{};         // see TensorDiff::tier
  std::string note{};                     // see TensorDiff::note

  bool operator==(const TensorPair&) const = default;
};

// A pair of tensors of two files before it is compared.
struct PlannedTensor {
  std::string name{};       // golden's, else actual's
  std::uint64_t bytes = 0;  // of the elements of both sides
};

// Returns the numbers of the pairs to be compared, ascending.
using PickTensors =
    std::function<Result<std::vector<std::uint64_t>>(std::span<const PlannedTensor> pairs)>;

// The defaults compare every tensor exactly, values only, and look for the cause of a difference.
// Tensors are selected and paired by `actual_tensors`, `golden_tensors`, `pair_by` and `map`, or by
// `pairs` in place of all four. SetDiffOptions has its own members for that and leaves these unset.
struct DiffOptions {
  // Default: equal numbers only.
  Tolerance tolerance{};
  // Tolerances of single tensors, by index in actual. What they give overrides `tolerance`.
  std::map<std::uint64_t, Tolerance> tensor_tolerance{};
  // The same as a function of the pair, whose `actual` and `golden` are set. It is called from any
  // thread.
  std::function<Tolerance(const TensorDiff&)> pair_tolerance{};
  // Limits on figures of whole tensors. Default: none.
  Gates gates{};
  // Indices of the tensors to compare; unset: all. If golden's are unset and tensors are paired by
  // name, golden's are those that have the names of actual's.
  std::optional<std::vector<std::uint64_t>> actual_tensors{};
  std::optional<std::vector<std::uint64_t>> golden_tensors{};
  PairBy pair_by = PairBy::automatic;
  // Pairs of names. They take precedence over all other ways to match names.
  NameMap map{};
  // Exactly these pairs, in this order. If set, the four members above are ignored.
  std::optional<std::vector<TensorPair>> pairs{};
  // Permutes the dims of actual. Tensors of another rank are left as they are.
  std::optional<Permute> permute{};
  // Drops the dims of 1 on both sides.
  bool squeeze = false;
  // Gives actual the dims of golden if both have the same number of elements.
  bool reshape_actual = false;
  // Files only: compares quantised codes as the numbers that they stand for, by the scales that the
  // file links to them or a name does, and blocks of GGUF too. These scales are then not compared
  // themselves.
  bool dequantize = false;
  std::vector<std::uint64_t> scale_blocks{};  // with `dequantize`: see Quantization::scale_blocks
  // Files only: compares blocks of GGUF as bytes. By default two tensors of blocks are compared as
  // numbers, unless type and bytes are equal.
  bool codes = false;
  // Scales for all codes of a side. They take precedence over those of the file.
  std::optional<GivenScale> actual_scale{};
  std::optional<GivenScale> golden_scale{};
  // Counts a different dtype or layout as a difference too. Default: values alone are compared.
  bool strict = false;
  // Fills in the mismatches of TensorDiff. Switch it off if counts are enough: that saves a second
  // read of tensors that differ.
  bool details = true;
  // Figures of tensors that are the same, too. Those that differ always have them.
  bool figures = false;
  // Looks for the cause of a difference (docs/hints.md).
  bool hints = true;
  // How many of the first and of the largest mismatches are kept.
  std::uint64_t show = 5;
  std::optional<HeatmapRequest> heatmap{};
  // Reports a pair that cannot be compared as trouble, and compares the others. By default the
  // first such pair is the error that diff() returns.
  bool go_on = false;
  // Allows a call that compares nothing. For one call of several, of which not all may do so.
  bool may_compare_nothing = false;
  // Chooses among the pairs of two files. Comparing nothing is then no error.
  PickTensors pick{};
  Execution execution{};
};

using TensorDiffSink = std::function<void(const TensorDiff&)>;

// Compares the tensors of two files. `report` is called for every pair, in order, on the caller's
// thread. Returns true if all were the same; trouble counts as not the same. An error if something
// cannot be compared (see `go_on`), and if nothing is compared at all.
BTF_API Result<bool> diff(const TensorFile& actual, const TensorFile& golden,
                          const DiffOptions& options, const TensorDiffSink& report);

// Compares two tensors in memory. Offsets in the result are from the start of each view.
BTF_API Result<TensorDiff> diff(const TensorView& actual, const TensorView& golden,
                                const DiffOptions& options = {});

// Judges a result again by other criteria, without the tensors: sets `tolerance`, `criteria`,
// `mismatched` (if it is known) and `result`. An error if a figure that decides is missing; it says
// which.
BTF_API Status rejudge(TensorDiff& diff, const Tolerance& tolerance, const Gates& gates);

}  // namespace btf
