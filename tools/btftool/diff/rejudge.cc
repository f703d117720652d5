#include "diff/rejudge.h"

#include <algorithm>
#include <vector>

#include "btf/report/report.h"
#include "btf/try.h"
#include "diff/reports.h"
#include "io/read_text.h"
#include "io/text.h"

namespace btftool {
namespace {

using btf::DiffResult;
using btf::ErrorCode;
using btf::TensorDiff;
using btf::Tolerance;

// Do both tolerances accept the same pairs of this tensor?
bool same_limits(const Tolerance& a, const TensorDiff& diff) {
  const Tolerance& b = diff.tolerance;
  return a.same_limits(b) && (a.equal_nan == b.equal_nan || diff.nan.both == 0);
}

// Details of single mismatches are those of the old tolerance.
void drop_mismatches(TensorDiff& diff) {
  diff.worst_abs.reset();
  diff.worst_rel.reset();
  diff.first.clear();
  diff.largest.clear();
  diff.decades.clear();
  diff.heatmap.reset();
  diff.saturated = {};
}

class Rejudgement {
 public:
  Rejudgement(const Context& context, const DiffCommand& command, const btf::SetDiffResult& report)
      : context_(context),
        command_(command),
        report_(report),
        reports_(context, command, report.directories) {}

  btf::Result<int> run() {
    BTF_TRY(check_tolerances());
    BTF_TRY(reports_.check_files());
    if (const auto status = check_used(); !status) {
      reports_.refuse({report_.actual, report_.actual, report_.golden}, status.error());
      return std::unexpected(status.error());
    }
    for (const btf::SetDiffResult::Pair& pair : report_.pairs) judge(pair);
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (reports_.compared_nothing())
      trouble({ErrorCode::refused, "nothing was compared: no tensor has an element"});
    return reports_.finish();
  }

 private:
  void judge(const btf::SetDiffResult::Pair& pair) {
    reports_.begin(pair.files);
    PairOutcome outcome = pair.outcome;
    const auto in_trouble = [](const TensorDiff& diff) { return diff.error.has_value(); };
    if (std::ranges::any_of(pair.tensors, in_trouble))
      outcome.result = PairResult::trouble;
    else if (outcome.result == PairResult::trouble)
      trouble({ErrorCode::refused, outcome.error});
    else if (outcome.result != PairResult::missing && outcome.result != PairResult::bytes)
      outcome.result = PairResult::same;
    std::string why;
    if (outcome.result == PairResult::same && pair.tensors.empty() && !report_.directories)
      why = "nothing was compared";
    for (const TensorDiff& diff : pair.missing) reports_.missing(diff);
    std::uint64_t undecided_tensors = 0;
    for (TensorDiff diff : pair.tensors) {
      if (diff.error) trouble(*diff.error);
      if (const auto status = judge(diff); !status) {
        // The first undecided tensor gives the reason for the pair.
        if (++undecided_tensors == 1) why = pair_name(diff) + ": " + status.error().message;
        continue;
      }
      reports_.take(diff);
      if (diff.result != DiffResult::same && outcome.result == PairResult::same)
        outcome.result = PairResult::different;
    }
    if (undecided_tensors > 1)
      why += "; " + counted(undecided_tensors - 1, "more tensor") + " cannot be judged";
    if (!why.empty()) {
      const PairOutcome undecided_pair = undecided(pair, why);
      if (outcome.result != PairResult::trouble) outcome = undecided_pair;
    }
    if (outcome.error.empty()) outcome.error = reports_.trouble();
    reports_.end(outcome);
  }

  btf::Status judge(TensorDiff& diff) {
    const Tolerance before = diff.tolerance;
    const btf::Status status = btf::rejudge(diff, tolerance_of(diff), command_.diff.gates);
    if (status && !same_limits(before, diff)) drop_mismatches(diff);
    return status;
  }

  // Limits for this tensor take precedence over those for all.
  Tolerance tolerance_of(const TensorDiff& diff) const {
    Tolerance tolerance = command_.diff.tolerance;
    const auto take = [&](const Tolerance& more) {
      if (more.rtol) tolerance.rtol = more.rtol;
      if (more.atol) tolerance.atol = more.atol;
      if (more.ulp) tolerance.ulp = more.ulp;
    };
    take(btf::tolerance_by_name(command_.tensor_tolerances, diff));
    for (const TensorTolerance& given : command_.tensor_tolerances)
      if (!given.glob && is_for(given, diff)) take(given.tolerance);
    return tolerance;
  }

  PairOutcome undecided(const btf::SetDiffResult::Pair& pair, const std::string& why) {
    const btf::Error error{ErrorCode::refused, why + "; compare the files: btftool diff " +
                                                   printable(pair.files.actual) + " " +
                                                   printable(pair.files.golden)};
    trouble(report_.directories ? error.within(printable(pair.files.name)) : error);
    return {PairResult::trouble, error.message};
  }

  void trouble(const btf::Error& error) {
    if (errors_.pass()) context_.log.error(error.in_file(*command_.from_json));
  }

  // A report does not say how many tensors there were to count from the end of.
  btf::Status check_tolerances() const {
    for (const TensorTolerance& given : command_.tensor_tolerances)
      if (given.tensor < 0)
        return btf::fail(ErrorCode::invalid_argument,
                         given.source + ": with --from-json tensors are counted from the front");
    return {};
  }

  btf::Status check_used() const {
    for (const TensorTolerance& given : command_.tensor_tolerances) {
      const bool used =
          std::ranges::any_of(report_.pairs, [&](const btf::SetDiffResult::Pair& pair) {
            return std::ranges::any_of(pair.tensors,
                                       [&](const TensorDiff& diff) { return is_for(given, diff); });
          });
      if (!used)
        return btf::fail(
            ErrorCode::invalid_argument,
            given.source + ": the report has no tensor " +
                (given.glob ? "that matches" : std::to_string(given.tensor) + " of actual"));
    }
    return {};
  }

  const Context& context_;
  const DiffCommand& command_;
  const btf::SetDiffResult& report_;
  DiffReports reports_;
  Limited errors_;
};

}  // namespace

btf::Result<int> run_rejudge(const Context& context, const DiffCommand& command) {
  const std::string& path = *command.from_json;
  const auto text = read_text(path);
  if (!text) return std::unexpected(text.error().in_file(path));
  const auto read = btf::read_diff_report(*text);
  if (!read) return std::unexpected(read.error().in_file(path));
  const btf::SetDiffResult& report = *read;
  DiffCommand judged = command;
  judged.actual = report.actual;
  judged.golden = report.golden;
  return Rejudgement(context, judged, report).run();
}

}  // namespace btftool
