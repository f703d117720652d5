#include <algorithm>
#include <cstdint>
#include <string>

#include "btf/report.h"
#include "btf/try.h"
#include "report/text/text.h"

namespace btf {
namespace {

// Returns true if both tolerances accept the same elements of this tensor.
bool same_limits(const Tolerance& a, const TensorDiff& diff) {
  const Tolerance& b = diff.tolerance;
  return a.same_limits(b) && (a.equal_nan == b.equal_nan || diff.nan.both == 0);
}

// Removes the details of single mismatches, which depend on the old tolerance.
void drop_mismatches(TensorDiff& diff) {
  diff.worst_abs.reset();
  diff.worst_rel.reset();
  diff.first.clear();
  diff.largest.clear();
  diff.decades.clear();
  diff.heatmap.reset();
  diff.saturated = {};
}

// Limits for this tensor take precedence over those for all.
Tolerance tolerance_of(const TensorDiff& diff, const RejudgeOptions& options) {
  Tolerance tolerance = options.tolerance;
  const auto take = [&](const Tolerance& more) {
    if (more.rtol) tolerance.rtol = more.rtol;
    if (more.atol) tolerance.atol = more.atol;
    if (more.ulp) tolerance.ulp = more.ulp;
  };
  take(tolerance_by_name(options.tensor_tolerances, diff));
  for (const TensorTolerance& given : options.tensor_tolerances)
    if (!given.glob && is_for(given, diff)) take(given.tolerance);
  return tolerance;
}

Status judge(TensorDiff& diff, const RejudgeOptions& options) {
  const Tolerance before = diff.tolerance;
  const Status status = rejudge(diff, tolerance_of(diff, options), options.gates);
  if (status && !same_limits(before, diff)) drop_mismatches(diff);
  return status;
}

Status check_used(const SetDiffResult& report, const RejudgeOptions& options) {
  for (const TensorTolerance& given : options.tensor_tolerances) {
    const bool used = std::ranges::any_of(report.pairs, [&](const SetDiffResult::Pair& pair) {
      return std::ranges::any_of(pair.tensors,
                                 [&](const TensorDiff& diff) { return is_for(given, diff); });
    });
    if (!used)
      return fail(ErrorCode::invalid_argument,
                  given.source + ": the report has no tensor " +
                      (given.glob ? "that matches" : std::to_string(given.tensor) + " of actual"));
  }
  return {};
}

PairOutcome undecided(const std::string& why) {
  Error error{ErrorCode::refused, why};
  error.finding = kUndecided;
  return {.result = PairResult::trouble, .error = why, .cause = std::move(error)};
}

// The outcome of a pair before its tensors are judged.
PairOutcome beginning(const SetDiffResult::Pair& pair) {
  const auto in_trouble = [](const TensorDiff& diff) { return diff.error.has_value(); };
  PairOutcome outcome = pair.outcome;
  if (std::ranges::any_of(pair.tensors, in_trouble))
    outcome.result = PairResult::trouble;
  else if (outcome.result == PairResult::trouble)
    outcome.cause = Error{ErrorCode::refused, outcome.error};
  else if (outcome.result != PairResult::missing && outcome.result != PairResult::bytes)
    outcome.result = outcome.files.all.empty() ? PairResult::same : PairResult::different;
  return outcome;
}

void judge(const SetDiffResult& report, const SetDiffResult::Pair& pair,
           const RejudgeOptions& options, SetDiffSink& sink) {
  sink.begin(pair.files);
  PairOutcome outcome = beginning(pair);
  std::string why;
  if (outcome.result == PairResult::same && pair.tensors.empty() && !report.directories)
    why = "nothing was compared";
  if (sink.lists_missing())
    for (const TensorDiff& diff : pair.missing) sink.missing(diff);
  std::uint64_t undecided_tensors = 0;
  DiffTotals totals;
  totals.begin();
  for (TensorDiff diff : pair.tensors) {
    if (const Status status = judge(diff, options); !status) {
      // The first undecided tensor gives the reason for the pair.
      if (++undecided_tensors == 1) why = pair_name(diff) + ": " + status.error().message;
      continue;
    }
    totals.take(diff);
    sink.take(diff);
    if (diff.result != DiffResult::same && outcome.result == PairResult::same)
      outcome.result = PairResult::different;
  }
  if (undecided_tensors > 1)
    why += "; " + report::counted(undecided_tensors - 1, "more tensor") + " cannot be judged";
  if (!why.empty()) {
    PairOutcome open = undecided(why);
    if (outcome.result == PairResult::trouble)
      outcome.cause = std::move(open.cause);
    else
      open.files = std::move(outcome.files), outcome = std::move(open);
  }
  if (outcome.error.empty()) outcome.error = totals.trouble_text();
  sink.end(pair.files, outcome);
}

}  // namespace

Status rejudge(const SetDiffResult& report, const RejudgeOptions& options, SetDiffSink& sink) {
  BTF_TRY(check_used(report, options));
  for (const SetDiffResult::Pair& pair : report.pairs) judge(report, pair, options, sink);
  return {};
}

}  // namespace btf
