// Judges the figures of a pair by the criteria, and collects its details.
#include "diff/verdict.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

#include "btf/criteria.h"
#include "btf/diff.h"
#include "btf/dtype.h"
#include "btf/try.h"
#include "diff/hints/hints.h"
#include "diff/score/collectors.h"
#include "diff/score/figures.h"
#include "diff/sides/rows.h"
#include "elements/elements.h"
#include "kernels/compare/compare_runs.h"

namespace btf {
namespace {

// The number of pairs of finite numbers; unset if unknown. The counts of NaN and Inf are per side,
// so they do not show where a NaN is paired with an Inf.
std::optional<std::uint64_t> finite_pairs(const TensorDiff& diff) {
  if (diff.figures) return diff.figures->pairs;
  const std::uint64_t nan = diff.nan.actual + diff.nan.golden;
  const std::uint64_t inf = diff.inf.actual + diff.inf.golden;
  if (nan > 0 && inf > 0) return std::nullopt;
  return diff.compared - nan - inf - diff.nan.both - diff.inf.both - diff.inf.opposite;
}

// Pairs that are refused because of NaN or Inf.
std::uint64_t special_mismatches(const TensorDiff& diff, std::uint64_t finite) {
  return diff.compared - finite - diff.inf.both - (diff.tolerance.equal_nan ? diff.nan.both : 0);
}

std::string tolerance_text(const Tolerance& tolerance) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (tolerance.rtol || tolerance.atol) {
    add("rtol " + number_text(tolerance.rtol.value_or(0)));
    add("atol " + number_text(tolerance.atol.value_or(0)));
  }
  if (tolerance.half_step) add("or half a step");
  if (tolerance.ulp) add("ulp " + std::to_string(*tolerance.ulp));
  return text.empty() ? "equality" : text;
}

class GateJudge {
 public:
  GateJudge(TensorDiff& diff, const Gates& gates, std::uint64_t finite)
      : diff_(diff), gates_(gates), finite_(finite) {}

  void run() {
    diff_.criteria.clear();
    elements();
    for (const FigureInfo* row : figure_gates())
      if (const std::optional<double>& limit = gates_.*row->limit)
        figure(row->name, row->name, row->at_least, *limit, row->judged(diff_));
    for (const QuantileGate& gate : gates_.quantiles) {
      const auto found = std::ranges::find(diff_.quantiles, gate.q, &QuantileValue::q);
      const double value = found == diff_.quantiles.end() ? 0 : found->value;
      figure("quantile", "quantile " + number_text(gate.q) + " of the errors", false, gate.most,
             value);
    }
    top_k();
    if (!diff_.reason.empty()) add("strict", diff_.reason, {}, {}, false);
    const bool passed = std::ranges::all_of(diff_.criteria, &CriterionResult::passed);
    diff_.result = passed ? DiffResult::same : DiffResult::different;
  }

 private:
  void add(std::string_view name, std::string text, std::optional<double> limit,
           std::optional<double> value, bool passed) {
    diff_.criteria.push_back({std::string(name), std::move(text), limit, value, passed});
  }

  void elements() {
    const auto mismatched = static_cast<double>(diff_.mismatched);
    const std::string count = (diff_.mismatched_known ? std::to_string(diff_.mismatched) : "some") +
                              " of " + std::to_string(diff_.compared) + " elements refused by " +
                              tolerance_text(diff_.tolerance);
    if (gates_.max_mismatch) {
      const MismatchLimit& limit = *gates_.max_mismatch;
      // A quotient, since 57 / 100 is the double 0.57, but 0.57 * 10000 is less than 5700.
      const double share = limit.percent && diff_.mismatched > 0
                               ? mismatched * 100 / static_cast<double>(diff_.compared)
                               : mismatched;
      const bool passed = share <= limit.value;
      add("max-mismatch",
          count + ", allowed " + number_text(limit.value) + (limit.percent ? "%" : ""), limit.value,
          mismatched, passed);
    } else if (diff_.tolerance.given() || !gates_.given()) {
      add("elements", count, {}, diff_.mismatched_known ? std::optional(mismatched) : std::nullopt,
          diff_.mismatched == 0);
    } else {
      const std::uint64_t special = special_mismatches(diff_, finite_);
      add("nonfinite",
          special == 0 ? "NaN and Inf agree"
                       : "NaN or Inf on one side only: " + std::to_string(special),
          {}, static_cast<double>(special), special == 0);
    }
  }

  // If a figure is undefined or unknown, the criterion fails instead of accepting a mismatch.
  void figure(std::string_view name, std::string_view subject, bool at_least, double limit,
              std::optional<double> value) {
    std::string text(subject);
    if (finite_ == 0 && diff_.mismatched > 0)
      return add(name, text + ": there is no pair of finite numbers", limit, {}, false);
    if (!value) return add(name, text + " is not known", limit, {}, false);
    const bool passed = at_least ? *value >= limit : *value <= limit;
    text += " " + number_text(*value);
    if (passed)
      text += at_least ? ", at least " : ", at most ";
    else
      text += at_least ? " is below " : " is above ";
    add(name, text + number_text(limit), limit, value, passed);
  }

  void top_k() {
    if (!gates_.top_k) return;
    const TopK found = diff_.top_k.value_or(TopK{});
    std::string text = "top " + std::to_string(*gates_.top_k) + ": " +
                       std::to_string(found.disagreeing) + " of " + std::to_string(found.rows) +
                       " rows disagree";
    if (found.first) text += ", the first is " + dims_text(*found.first);
    add("top-k", std::move(text), static_cast<double>(*gates_.top_k),
        static_cast<double>(found.disagreeing), found.disagreeing == 0);
  }

  TensorDiff& diff_;
  const Gates& gates_;
  std::uint64_t finite_;
};

// The grid, as far as a report states it.
Grid grid_of(const DiffTensor& tensor) {
  return {.dtype = tensor.codes.value_or(tensor.dtype),
          .codes = tensor.codes.has_value(),
          .digits = tensor.text_digits,
          .fixed = tensor.text_fixed,
          .scales = tensor.scale ? std::span(&*tensor.scale, 1) : std::span<const double>()};
}

// What a report tells about another tolerance.
enum class Verdict : std::uint8_t { accepted, refused, unknown };

// The rtol and atol of a tolerance that judges by error.
struct ErrorTolerance {
  double rtol = 0;
  double atol = 0;

  explicit ErrorTolerance(const Tolerance& tolerance)
      : rtol(tolerance.rtol.value_or(0)), atol(tolerance.atol.value_or(0)) {}
};

// Whether the tolerance accepts all pairs of finite numbers, as far as the report's least
// tolerances show.
Verdict error_verdict(const TensorDiff& diff, const ErrorTolerance& wanted, bool half_step) {
  if (!diff.required_atol) return Verdict::unknown;
  if (wanted.atol >= *diff.required_atol) return Verdict::accepted;
  if (diff.required_rtol && wanted.rtol >= *diff.required_rtol) return Verdict::accepted;
  if (half_step) return Verdict::unknown;
  if (wanted.rtol == 0 || wanted.atol == 0) return Verdict::refused;
  // The atol of a pair exceeds the least one by at most the rounding of the error.
  const double margin = diff.max_abs * 0x1p-48 + 4 * std::numeric_limits<double>::denorm_min();
  for (const RequiredPair& pair : diff.required_pairs) {
    if (pair.rtol <= wanted.rtol && pair.atol <= wanted.atol) return Verdict::accepted;
    if (pair.rtol >= wanted.rtol && pair.atol - margin > wanted.atol) return Verdict::refused;
  }
  return Verdict::unknown;
}

// The same, from a comparison with the tolerance that the report was made with.
Verdict compared_verdict(const TensorDiff& diff, const Tolerance& wanted, std::uint64_t finite) {
  if (!wanted.by_error() || !diff.tolerance.by_error()) return Verdict::unknown;
  const ErrorTolerance now(wanted);
  const ErrorTolerance then(diff.tolerance);
  const bool no_ulp = !wanted.ulp && !diff.tolerance.ulp;
  const bool by_half = diff.tolerance.half_step;
  if (diff.mismatched == 0 && !wanted.ulp && now.rtol >= then.rtol && now.atol >= then.atol &&
      (wanted.half_step || !by_half))
    return Verdict::accepted;
  const bool numbers = diff.mismatched > 0 && special_mismatches(diff, finite) == 0;
  if (numbers && no_ulp && now.rtol <= then.rtol && now.atol <= then.atol &&
      (by_half || !wanted.half_step))
    return Verdict::refused;
  return Verdict::unknown;
}

Verdict verdict_of(const TensorDiff& diff, const Tolerance& wanted, std::uint64_t finite) {
  if (diff.max_abs == 0) return Verdict::accepted;
  if (wanted.ulp && diff.max_ulp > *wanted.ulp) return Verdict::refused;
  if (!wanted.by_error()) return Verdict::accepted;
  const Verdict verdict = error_verdict(diff, ErrorTolerance(wanted), wanted.half_step);
  return verdict == Verdict::unknown ? compared_verdict(diff, wanted, finite) : verdict;
}

std::unexpected<Error> unknown(const std::string& what) {
  return fail(ErrorCode::refused, "the report does not show " + what);
}

// Sets `mismatched` for the wanted tolerance.
Status recount(TensorDiff& diff, const Tolerance& wanted, const Gates& gates,
               std::uint64_t finite) {
  const auto uncounted = [&] {
    return unknown("how many elements " + tolerance_text(wanted) +
                   " refuses, which `gates.max_mismatch` asks for");
  };
  const bool same = diff.tolerance.same_limits(wanted);
  const bool other_nan = diff.nan.both > 0 && diff.tolerance.equal_nan != wanted.equal_nan;
  const Verdict verdict = verdict_of(diff, wanted, finite);
  diff.tolerance = wanted;
  if (same && !other_nan) {
    if (gates.max_mismatch && !diff.mismatched_known) return uncounted();
    return {};
  }
  if (same && diff.mismatched_known) {
    if (wanted.equal_nan)
      diff.mismatched -= diff.nan.both;
    else
      diff.mismatched += diff.nan.both;
    return {};
  }
  const std::uint64_t special = special_mismatches(diff, finite);
  if (verdict == Verdict::accepted) {
    diff.mismatched = special;
    diff.mismatched_known = true;
    return {};
  }
  const bool decides = gates.max_mismatch || wanted.given() || !gates.given();
  if (decides && gates.max_mismatch) return uncounted();
  if (decides && verdict == Verdict::unknown && special == 0)
    return unknown("whether " + tolerance_text(wanted) + " accepts every element");
  // Some are refused. That is certain for equality too, which cannot decide alone.
  diff.mismatched = 1;
  diff.mismatched_known = false;
  return {};
}

// Whether `a` accepts everything that `b` accepts.
bool covers(const Tolerance& a, const Tolerance& b) {
  const ErrorTolerance more(a);
  const ErrorTolerance less(b);
  const bool errors = !a.by_error() || (b.by_error() && more.rtol >= less.rtol &&
                                        more.atol >= less.atol && (a.half_step || !b.half_step));
  const bool steps = !a.ulp || (b.ulp && *a.ulp >= *b.ulp);
  return errors && steps && (a.equal_nan || !b.equal_nan);
}

// The stored result depends on the tolerance, by which elements of equal size may change places.
bool knows_top_k(const TensorDiff& diff, std::uint64_t k, const Tolerance& wanted) {
  const std::uint64_t row = diff.golden->dims.empty() ? 1 : diff.golden->dims.back();
  if (!diff.top_k || diff.top_k->k != std::min(k, row)) return false;
  return covers(wanted, diff.tolerance) &&
         (diff.top_k->disagreeing == 0 || covers(diff.tolerance, wanted));
}

Status check_figures(const TensorDiff& diff, const Gates& gates, const Tolerance& wanted) {
  for (const FigureInfo* row : figure_gates())
    if (gates.*row->limit && !row->judged(diff))
      return fail(ErrorCode::refused, "the report has no " + std::string(row->name) +
                                          (diff.figures ? ": an older version wrote it" : ""));
  for (const QuantileGate& gate : gates.quantiles)
    if (diff.max_abs != 0 &&
        std::ranges::find(diff.quantiles, gate.q, &QuantileValue::q) == diff.quantiles.end())
      return unknown("the " + number_text(gate.q) + " quantile of the errors");
  if (gates.top_k && !knows_top_k(diff, *gates.top_k, wanted))
    return unknown("the " + std::to_string(*gates.top_k) + " largest elements of each row");
  return {};
}

// Sets the criteria and the result from counts and figures, by diff.tolerance and the gates.
// Everything that a gate needs must be known. `finite`: the number of pairs of finite numbers.
void judge(TensorDiff& diff, const Gates& gates, std::uint64_t finite) {
  GateJudge(diff, gates, finite).run();
}

}  // namespace

Status rejudge(TensorDiff& diff, const Tolerance& tolerance, const Gates& gates) {
  if (diff.result == DiffResult::missing || diff.result == DiffResult::shape ||
      diff.result == DiffResult::trouble)
    return {};
  if (!diff.actual || !diff.golden)
    return fail(ErrorCode::invalid_argument, "a tensor is missing on one side");
  const Tolerance wanted = effective(tolerance, grid_of(*diff.actual), grid_of(*diff.golden));
  BTF_TRY(check_figures(diff, gates, wanted));
  const std::optional<std::uint64_t> finite = finite_pairs(diff);
  if (!finite) return unknown("how many pairs of finite numbers there are");
  BTF_TRY(recount(diff, wanted, gates, *finite));
  if (!diff.tolerance.equal_nan && diff.nan.both > 0) {
    diff.required_atol.reset();
    diff.required_rtol.reset();
    diff.required_pair.reset();
    diff.required_pairs.clear();
  }
  judge(diff, gates, *finite);
  return {};
}

namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr double kLargestLimit = std::numeric_limits<double>::max();

constexpr FigureInfo kFigures[] = {
    {"rmse", "RMSE", "root mean squared error", "", false, 0, kAny, true, &Gates::rmse,
     &Figures::rmse},
    {"cosine", "cosine", "cosine similarity", "", true, -1, 1, true, &Gates::cosine,
     &Figures::cosine},
    {"psnr", "PSNR", "PSNR", "dB", true, -kAny, kAny, true, &Gates::psnr, &Figures::psnr},
    {"snr", "SNR", "SNR", "dB", true, -kAny, kAny, true, &Gates::snr, &Figures::snr},
    {"mae", "MAE", "mean absolute error", "", false, 0, kAny, false, &Gates::mae, &Figures::mae},
    {"bias", "bias", "magnitude of mean(actual - golden)", "", false, -kAny, kAny, false,
     &Gates::bias, &Figures::bias},
    {"max-abs", "max abs", "largest absolute error", "", false, 0, kAny, false, &Gates::max_abs,
     nullptr},
};

constexpr auto kGates = [] {
  std::array<const FigureInfo*, std::size(kFigures)> gates{};
  std::size_t count = 0;
  for (const bool at_least : {true, false})
    for (const FigureInfo& row : kFigures)
      if (row.at_least == at_least) gates[count++] = &row;
  return gates;
}();

}  // namespace

std::span<const FigureInfo> figures() { return kFigures; }

std::span<const FigureInfo* const> figure_gates() { return kGates; }

double FigureInfo::least_limit() const { return at_least ? std::max(lowest, -kLargestLimit) : 0; }

double FigureInfo::most_limit() const {
  return at_least ? std::min(highest, kLargestLimit) : kLargestLimit;
}

std::optional<double> FigureInfo::judged(const TensorDiff& diff) const {
  if (value != nullptr && !diff.figures) return std::nullopt;
  const double found = value == nullptr ? diff.max_abs : *diff.figures.*value;
  if (std::isnan(found)) return std::nullopt;
  return at_least ? found : std::abs(found);
}

bool Gates::given() const {
  return max_mismatch || !quantiles.empty() || top_k ||
         std::ranges::any_of(kFigures,
                             [&](const FigureInfo& row) { return (this->*row.limit).has_value(); });
}

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
    // For equal tensors too.
    const bool nonfinite = options_.details && score_.special > 0;
    const bool figures = mismatches || options_.figures ||
                         std::ranges::any_of(btf::figures(), [&](const FigureInfo& row) {
                           return row.value != nullptr && (gates().*row.limit).has_value();
                         });
    // If all numbers are equal, the figures are known without a walk.
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
    return options_.hints && !actual_.has_no_stored_array() && !golden_.has_no_stored_array();
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

  // Chooses the most balanced pair: the one whose larger share of what would be needed alone is
  // smallest. Excludes a pair that needs as much atol as atol alone, as where golden is 0.
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
  std::vector<std::uint64_t> sample_;  // numbers of mismatches, spread over the tensor
};

}  // namespace

Status complete(const DiffSide& actual, const DiffSide& golden, const Judge& judge,
                const DiffOptions& options, const CompareScore& score, TensorDiff& diff) {
  return Details(actual, golden, judge, options, score, diff).run();
}

}  // namespace btf
