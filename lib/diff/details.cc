#include "diff/details.h"

#include <algorithm>
#include <cmath>

#include "btf/try.h"
#include "diff/hints/hints.h"
#include "diff/judge.h"
#include "diff/pairs/sparse.h"
#include "diff/score/collectors.h"
#include "diff/score/figures.h"
#include "diff/score/heatmap_frame.h"
#include "diff/score/nonfinite.h"
#include "diff/score/saturation.h"
#include "elements/element_access.h"

namespace btf {
namespace {

template <typename Real>
void measure(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
             std::uint64_t number, Mismatch& mismatch) {
  const Real left = widen_code<Real>(actual.dtype(), mismatch.actual_code);
  const Real right = widen_code<Real>(golden.dtype(), mismatch.golden_code);
  const PairError error = error_of(left, right);
  mismatch.abs_error = error.abs;
  mismatch.rel_error = error.rel;
  mismatch.allowed =
      allowed_error(static_cast<double>(left), static_cast<double>(right), judge, number);
  if (std::isfinite(left) && std::isfinite(right))
    mismatch.steps = steps_between(left, right, judge.grid);
}

class Details {
 public:
  Details(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
          const DiffOptions& options, const CompareScore& score, TensorDiff& diff)
      : actual_(actual),
        golden_(golden),
        judge_(judge),
        options_(options),
        score_(score),
        diff_(diff),
        pairs_(actual, golden, options.execution) {}

  Status run() {
    const bool mismatches = options_.details && score_.mismatched > 0;
    // Also for equal tensors.
    const bool nonfinite = options_.details && score_.special > 0;
    const bool figures = mismatches || options_.figures ||
                         std::ranges::any_of(btf::figures(), [&](const FigureInfo& row) {
                           return row.value != nullptr && (gates().*row.limit).has_value();
                         });
    // Where all numbers are equal they are known.
    const bool equal = !mismatches && score_.max_abs == 0;
    if (figures && equal)
      diff_.figures = FigureCollector::of_equal(score_.compared - score_.special);
    if ((figures && !equal) || nonfinite) BTF_TRY(walk(mismatches, figures && !equal, nonfinite));
    if (score_.max_abs == 0) {
      for (const QuantileGate& gate : gates().quantiles) diff_.quantiles.push_back({gate.q, 0});
    } else {
      BTF_ASSIGN(diff_.quantiles,
                 error_quantiles(pairs_, score_.compared - score_.special, gates().quantiles));
    }
    if (gates().top_k) {
      BTF_ASSIGN(diff_.top_k,
                 compare_top_k(actual_, golden_, *gates().top_k, judge_, options_.execution));
    }
    if (options_.heatmap && score_.mismatched > 0 && !diff_.heatmap) BTF_TRY(draw_heatmap());
    btf::judge(diff_, gates(), score_.compared - score_.special);
    if (hints_wanted() && mismatches && diff_.result == DiffResult::different) {
      BTF_ASSIGN(diff_.hints, find_hints({.actual = actual_,
                                          .golden = golden_,
                                          .judge = judge_,
                                          .mismatched = score_.mismatched,
                                          .sample = sample_,
                                          .execution = options_.execution}));
    }
    return {};
  }

 private:
  const Gates& gates() const { return options_.gates; }
  bool hints_wanted() const {
    return options_.hints && !actual_.rearranged() && !golden_.rearranged();
  }

  Status walk(bool mismatches, bool measured, bool special) {
    std::optional<HeatmapCollector> cells;
    if (mismatches && options_.heatmap && needs_no_sample(golden_.dims(), *options_.heatmap))
      cells.emplace(golden_.dims(), heatmap_frame(golden_.dims(), *options_.heatmap, {}));
    FigureCollector figures(actual_.dtype(), golden_.dtype());
    MismatchCollector found(options_.show, hints_wanted() || options_.heatmap ? kHintSample : 0);
    ErrorCollector errors;
    NonfiniteCollector nonfinite;
    SaturationCollector saturation(judge_);
    std::vector<PairCollector*> collectors;
    if (measured) collectors.push_back(&figures);
    if (special) collectors.push_back(&nonfinite);
    if (cells) collectors.push_back(&*cells);
    if (mismatches) {
      collectors.push_back(&found);
      collectors.push_back(&errors);
      if (options_.tolerance.close && saturation.wanted()) collectors.push_back(&saturation);
    }
    BTF_TRY(collect(pairs_, judge_, collectors));
    if (cells) diff_.heatmap = cells->finish();
    if (measured) diff_.figures = figures.finish();
    if (special) diff_.first_nonfinite = nonfinite.first(golden_.dims());
    if (!mismatches) return {};
    diff_.equal = errors.equal();
    diff_.saturated = saturation.count();
    diff_.decades = errors.decades();
    if (diff_.required_atol) require(errors.required(diff_.required_rtol));
    sample_ = found.sample();
    return describe_all(found);
  }

  // The most balanced pair: the larger of its two shares in what would be needed alone is least.
  // Not one that needs as much atol as atol alone, as where golden is 0.
  void require(std::vector<RequiredPair> pairs) {
    const auto weight = [&](const RequiredPair& pair) {
      return std::max(pair.rtol / diff_.required_rtol.value_or(1),
                      pair.atol / *diff_.required_atol);
    };
    diff_.required_pairs = std::move(pairs);
    for (const RequiredPair& pair : diff_.required_pairs)
      if (pair.atol < *diff_.required_atol &&
          (!diff_.required_pair || weight(pair) < weight(*diff_.required_pair)))
        diff_.required_pair = pair;
  }

  Status describe_all(const MismatchCollector& found) {
    const std::vector<std::uint64_t> first = found.first();
    const std::vector<std::uint64_t> largest = found.largest();
    std::vector<std::uint64_t> numbers = first;
    numbers.insert(numbers.end(), largest.begin(), largest.end());
    numbers.push_back(found.worst_abs());
    numbers.push_back(found.worst_rel());
    BTF_ASSIGN(std::vector<Mismatch> all, describe(numbers));
    diff_.worst_rel = std::move(all.back());
    all.pop_back();
    diff_.worst_abs = std::move(all.back());
    all.pop_back();
    const auto border = all.begin() + static_cast<std::ptrdiff_t>(first.size());
    diff_.first.assign(all.begin(), border);
    diff_.largest.assign(border, all.end());
    return {};
  }

  Result<std::vector<Mismatch>> describe(const std::vector<std::uint64_t>& numbers) const {
    std::vector<Dims> places;
    for (const std::uint64_t number : numbers) places.push_back(index_of(golden_.dims(), number));
    BTF_ASSIGN(const std::vector<Element> left, actual_.elements(places));
    BTF_ASSIGN(const std::vector<Element> right, golden_.elements(places));
    std::vector<Mismatch> all;
    all.reserve(places.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      Mismatch mismatch;
      mismatch.index = std::move(places[i]);
      mismatch.actual_code = left[i].code;
      mismatch.golden_code = right[i].code;
      mismatch.actual_offset = left[i].offset;
      mismatch.golden_offset = right[i].offset;
      pairs_.use_double() ? measure<double>(actual_, golden_, judge_, numbers[i], mismatch)
                          : measure<long double>(actual_, golden_, judge_, numbers[i], mismatch);
      all.push_back(std::move(mismatch));
    }
    return all;
  }

  Status draw_heatmap() {
    if (sample_.empty()) {
      MismatchCollector found(0, kHintSample);
      PairCollector* const collectors[] = {&found};
      BTF_TRY(collect(pairs_, judge_, collectors));
      sample_ = found.sample();
    }
    HeatmapCollector cells(golden_.dims(),
                           heatmap_frame(golden_.dims(), *options_.heatmap, sample_));
    PairCollector* const collectors[] = {&cells};
    BTF_TRY(collect(pairs_, judge_, collectors));
    diff_.heatmap = cells.finish();
    return {};
  }

  const DiffSide& actual_;
  const DiffSide& golden_;
  const Judge& judge_;
  const DiffOptions& options_;
  const CompareScore& score_;
  TensorDiff& diff_;
  PairRows pairs_;
  std::vector<std::uint64_t> sample_;  // numbers of mismatches, from all over the tensor
};

}  // namespace

Status complete(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                const DiffOptions& options, const CompareScore& score, TensorDiff& diff) {
  return Details(actual, golden, judge, options, score, diff).run();
}

}  // namespace btf
