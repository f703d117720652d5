#include "btf/diff.h"

#include <array>
#include <cmath>

#include "btf/try.h"
#include "core/criteria.h"
#include "core/strided.h"
#include "diff/details.h"
#include "diff/pairs/tensor_pairs.h"
#include "diff/score/compare_walk.h"
#include "diff/score/figures.h"
#include "elements/element_access.h"
#include "formats/io/byte_source.h"

namespace btf {
namespace {

Status compare(const DiffSide& actual, const DiffSide& golden, const DiffOptions& options,
               TensorDiff& diff) {
  const auto special = options.tensor_tolerance.find(diff.actual->index);
  diff.tolerance = effective(options.tolerance,
                             special == options.tensor_tolerance.end() ? nullptr : &special->second,
                             actual.dtype(), golden.dtype());
  const Judge judge = judge_of(diff.tolerance, actual.dtype(), golden.dtype());
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
    BTF_ASSIGN(const TensorPairs pairs, TensorPairs::of(actual_, golden_, options_));
    if (pairs.size() == 0 && !options_.may_compare_nothing)
      return nothing_compared("there is no tensor on either side");
    bool same = true;
    std::uint64_t compared = 0;
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      const TensorPair pair = pairs.at(i);
      TensorDiff diff;
      TensorInfo a;
      TensorInfo b;
      if (pair.actual) {
        BTF_ASSIGN(a, load(actual_, *pair.actual));
        diff.actual = tensor_of(a);
      }
      if (pair.golden) {
        BTF_ASSIGN(b, load(golden_, *pair.golden));
        diff.golden = tensor_of(b);
      }
      BTF_TRY(compare_pair(a, b, diff));
      same = same && diff.result == DiffResult::same;
      compared += diff.compared;
      if (report) report(diff);
    }
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

  static Result<TensorInfo> load(const TensorFile& file, std::uint64_t index) {
    BTF_ASSIGN(TensorInfo record, file.tensor(index));
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
    if (a.dims != b.dims) {
      diff.result = DiffResult::shape;
      diff.reason = "shape " + dims_text(a.dims) + " against " + dims_text(b.dims);
      return {};
    }
    BTF_ASSIGN(const auto actual, file_side(actual_, a, options_.execution));
    BTF_ASSIGN(const auto golden, file_side(golden_, b, options_.execution));
    if (options_.strict) compare_types(diff);
    return compare(*actual, *golden, options_, diff);
  }

  const TensorFile& actual_;
  const TensorFile& golden_;
  const DiffOptions& options_;
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
  if (actual.storage.dims != golden.storage.dims) {
    diff.result = DiffResult::shape;
    diff.reason =
        "shape " + dims_text(actual.storage.dims) + " against " + dims_text(golden.storage.dims);
    return diff;
  }
  BTF_TRY(check_buffer(actual.bytes.size(), actual.storage, actual.dtype));
  BTF_TRY(check_buffer(golden.bytes.size(), golden.storage, golden.dtype));
  BTF_TRY(compare(*memory_side(actual), *memory_side(golden), options, diff));
  return diff;
}

}  // namespace btf
