#include "btf/diff.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "btf/try.h"
#include "core/criteria.h"
#include "core/strided.h"
#include "diff/details.h"
#include "diff/pairs/tensor_pairs.h"
#include "diff/scaled_side.h"
#include "diff/score/compare_walk.h"
#include "diff/score/figures.h"
#include "diff/shape_edits.h"
#include "elements/element_access.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

// What the pair is judged by.
Tolerance tolerance_of(const DiffOptions& options, const TensorDiff& diff) {
  const auto special = options.tensor_tolerance.find(diff.actual->index);
  const Tolerance asked = options.pair_tolerance
                              ? overlaid(options.tolerance, options.pair_tolerance(diff))
                              : options.tolerance;
  return effective(asked, special == options.tensor_tolerance.end() ? nullptr : &special->second,
                   diff.actual->dtype, diff.golden->dtype);
}

// Codes step by their scale, of both sides by the larger one.
Status count_by_scale(const DiffSide& actual, const DiffSide& golden, Judge& judge) {
  const std::optional<double> left = actual.scale();
  const std::optional<double> right = golden.scale();
  if (!left && !right) return {};
  if (left != 0.0 && right != 0.0)
    judge.grid = StepGrid::integers(std::max(left.value_or(0), right.value_or(0)));
  else if (judge.ulp != UINT64_MAX)
    return fail(ErrorCode::invalid_argument,
                "steps of a scale: the tensor has several; --atol and --rtol go with them");
  return {};
}

Status compare(const DiffSide& actual, const DiffSide& golden, const DiffOptions& options,
               TensorDiff& diff) {
  diff.tolerance = tolerance_of(options, diff);
  Judge judge = judge_of(diff.tolerance, actual.dtype(), golden.dtype());
  BTF_TRY(count_by_scale(actual, golden, judge));
  if (options.gates.top_k) {
    const Status fits = check_top_k(actual, golden, *options.gates.top_k, options.execution);
    if (!fits) return std::unexpected(fits.error().of_tensor(diff.actual->index));
  }
  BTF_ASSIGN(const CompareScore score, score_pairs(actual, golden, judge, options.execution));
  diff.compared = score.compared;
  diff.mismatched = score.mismatched;
  diff.max_abs = score.max_abs;
  diff.max_rel = score.max_rel;
  diff.max_ulp = score.max_ulp;
  diff.nan = score.nan;
  diff.inf = score.inf;
  if (score.tolerable && std::isfinite(score.least_atol)) diff.required_atol = score.least_atol;
  if (score.tolerable && std::isfinite(score.least_rtol)) diff.required_rtol = score.least_rtol;
  return complete(actual, golden, judge, options, score, diff);
}

DiffTensor tensor_of(const TensorInfo& record) {
  return {record.index, *record.dtype, *record.layout, record.dims, record.name, record.named};
}

std::string layout_name(Layout layout) {
  const LayoutSpec& row = spec(layout);
  return std::string(row.name) + (row.dla.empty() ? "" : " of " + std::string(row.dla));
}

// Why the pair differs by its types alone.
void compare_types(TensorDiff& diff) {
  const DiffTensor& actual = *diff.actual;
  const DiffTensor& golden = *diff.golden;
  if (actual.dtype != golden.dtype)
    diff.reason = "dtype " + std::string(info(actual.dtype).name) + " against " +
                  std::string(info(golden.dtype).name);
  if (actual.layout != golden.layout)
    diff.reason += (diff.reason.empty() ? "layout " : ", layout ") + layout_name(actual.layout) +
                   " against " + layout_name(golden.layout);
}

// Where the dims of the sides, edited as is asked for, are the same.
Status compare_edited(const MakeSide& actual, const MakeSide& golden, const DiffOptions& options,
                      TensorDiff& diff) {
  BTF_ASSIGN(const ShapeEdits edits, shape_edits(diff.actual->dims, diff.golden->dims, options));
  const Dims actual_dims = diff.actual->dims;
  BTF_ASSIGN(diff.actual->dims, edited_dims(actual_dims, edits.actual));
  BTF_ASSIGN(diff.golden->dims, edited_dims(diff.golden->dims, edits.golden));
  if (options.strict) compare_types(diff);
  if (diff.actual->dims == diff.golden->dims) {
    BTF_ASSIGN(const auto left, actual(edits.actual));
    BTF_ASSIGN(const auto right, golden(edits.golden));
    return compare(*left, *right, options, diff);
  }
  diff.result = DiffResult::shape;
  diff.reason =
      "shape " + dims_text(diff.actual->dims) + " against " + dims_text(diff.golden->dims);
  if (!options.hints) return {};
  BTF_ASSIGN(diff.hints, find_shape_hints(actual, golden, edits, tolerance_of(options, diff), diff,
                                          options.execution));
  return {};
}

constexpr auto kPairBy = std::to_array<Named<PairBy>>({
    {PairBy::automatic, "auto"},
    {PairBy::name, "name"},
    {PairBy::number, "number"},
});

class FileDiff {
 public:
  FileDiff(const TensorFile& actual, const TensorFile& golden, const DiffOptions& options)
      : actual_(actual), golden_(golden), options_(options) {}

  Result<bool> run(const TensorDiffSink& report) {
    BTF_ASSIGN(actual_scales_, FileScales::of(actual_, options_.dequantize, options_.actual_scale,
                                              options_.execution));
    BTF_ASSIGN(golden_scales_, FileScales::of(golden_, options_.dequantize, options_.golden_scale,
                                              options_.execution));
    DiffOptions selection = options_;
    actual_scales_.leave_out(actual_, selection.actual_tensors);
    golden_scales_.leave_out(golden_, selection.golden_tensors);
    BTF_ASSIGN(const TensorPairs pairs, TensorPairs::of(actual_, golden_, selection));
    if (pairs.size() == 0 && !options_.may_compare_nothing)
      return nothing_compared("there is no tensor on either side");
    bool same = true;
    bool permuted = !options_.permute || options_.may_compare_nothing;
    std::uint64_t compared = 0;
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      const TensorPair pair = pairs.at(i);
      TensorDiff diff;
      TensorInfo a;
      TensorInfo b;
      if (pair.actual) {
        BTF_ASSIGN(a, load(actual_, actual_scales_, *pair.actual));
        diff.actual = tensor_of(a);
      }
      if (pair.golden) {
        BTF_ASSIGN(b, load(golden_, golden_scales_, *pair.golden));
        diff.golden = tensor_of(b);
      }
      permuted = permuted || (diff.actual && a.dims.size() == options_.permute->order.size());
      BTF_TRY(compare_pair(a, b, diff));
      same = same && diff.result == DiffResult::same;
      compared += diff.compared;
      if (report) report(diff);
    }
    for (const FileScales* scales : {&actual_scales_, &golden_scales_})
      if (scales->unused() && !options_.may_compare_nothing)
        return std::unexpected(
            Error{ErrorCode::invalid_argument, "no tensor that is compared has codes for a scale"}
                .in_file((scales == &actual_scales_ ? actual_ : golden_).path()));
    if (!permuted)
      return std::unexpected(
          Error{ErrorCode::invalid_argument, "no tensor has the " +
                                                 std::to_string(options_.permute->order.size()) +
                                                 " dims that the permutation is of"}
              .in_file(actual_.path()));
    BTF_TRY(actual_.check_unchanged());
    BTF_TRY(golden_.check_unchanged());
    if (same && compared == 0 && !options_.may_compare_nothing)
      return nothing_compared("no tensor has an element");
    return same;
  }

 private:
  std::unexpected<Error> nothing_compared(const std::string& why) const {
    return std::unexpected(
        Error{ErrorCode::refused, "nothing was compared: " + why}.in_file(actual_.path()));
  }

  static Result<TensorInfo> load(const TensorFile& file, const FileScales& scales,
                                 std::uint64_t index) {
    BTF_ASSIGN(TensorInfo record, scales.record(file, index));
    Status status = file.check_overlap(record);
    if (status) status = check_known(record);
    if (!status) return std::unexpected(file.about(index, status.error()));
    return record;
  }

  Status compare_pair(const TensorInfo& a, const TensorInfo& b, TensorDiff& diff) {
    if (!diff.actual || !diff.golden) {
      diff = missing_tensor(diff.actual ? a : b, !diff.actual);
      return {};
    }
    const auto left = actual_scales_.plan(actual_, a, options_.execution);
    if (!left) return std::unexpected(actual_.about(a.index, left.error()));
    const auto right = golden_scales_.plan(golden_, b, options_.execution);
    if (!right) return std::unexpected(golden_.about(b.index, right.error()));
    note_codes(*left, *diff.actual);
    note_codes(*right, *diff.golden);
    const Status compared = compare_edited(
        [&](std::span<const Edit> edits) {
          return scaled_side(file_side(actual_, a, edits, options_.execution), *left, edits);
        },
        [&](std::span<const Edit> edits) {
          return scaled_side(file_side(golden_, b, edits, options_.execution), *right, edits);
        },
        options_, diff);
    return compared ? compared : std::unexpected(actual_.about(a.index, compared.error()));
  }

  static void note_codes(const QuantizePlan& plan, DiffTensor& tensor) {
    if (plan.scaling == Scaling::none) return;
    tensor.codes = tensor.dtype;
    tensor.dtype = plan.cast.to;
  }

  const TensorFile& actual_;
  const TensorFile& golden_;
  const DiffOptions& options_;
  FileScales actual_scales_;
  FileScales golden_scales_;
};

}  // namespace

std::span<const Named<PairBy>> pair_by_names() { return kPairBy; }

Result<bool> diff(const TensorFile& actual, const TensorFile& golden, const DiffOptions& options,
                  const TensorDiffSink& report) {
  return FileDiff(actual, golden, options).run(report);
}

TensorDiff missing_tensor(const TensorInfo& tensor, bool of_golden) {
  TensorDiff diff;
  (of_golden ? diff.golden : diff.actual) = tensor_of(tensor);
  diff.result = DiffResult::missing;
  diff.reason = of_golden ? "no actual tensor" : "no golden tensor";
  return diff;
}

Result<TensorDiff> diff(const TensorView& actual, const TensorView& golden,
                        const DiffOptions& options) {
  TensorDiff diff;
  diff.actual = DiffTensor{0, actual.dtype, Layout::linear, actual.storage.dims, {}, false};
  diff.golden = DiffTensor{0, golden.dtype, Layout::linear, golden.storage.dims, {}, false};
  BTF_TRY(check_buffer(actual.bytes.size(), actual.storage, actual.dtype));
  BTF_TRY(check_buffer(golden.bytes.size(), golden.storage, golden.dtype));
  BTF_TRY(compare_edited([&](std::span<const Edit> edits) { return memory_side(actual, edits); },
                         [&](std::span<const Edit> edits) { return memory_side(golden, edits); },
                         options, diff));
  return diff;
}

}  // namespace btf
