#include "diff_rejudge.h"

#include <algorithm>
#include <vector>

#include "btf/diff.h"
#include "diff_reports.h"
#include "diff_text.h"
#include "saved_report.h"
#include "text.h"

namespace btftool {
namespace {

using btf::DiffResult;
using btf::ErrorCode;
using btf::TensorDiff;
using btf::Tolerance;

bool same_limits(const Tolerance& a, const Tolerance& b) {
  const auto by_error = [](const Tolerance& t) { return t.rtol || t.atol || !t.ulp; };
  return by_error(a) == by_error(b) && a.rtol.value_or(0) == b.rtol.value_or(0) &&
         a.atol.value_or(0) == b.atol.value_or(0) && a.ulp == b.ulp && a.equal_nan == b.equal_nan;
}

// What tells of the mismatches one by one tells of those of the old tolerance.
void drop_mismatches(TensorDiff& diff) {
  diff.worst_abs.reset();
  diff.worst_rel.reset();
  diff.first.clear();
  diff.largest.clear();
  diff.decades.clear();
  diff.heatmap.reset();
}

class Rejudgement {
 public:
  Rejudgement(const Context& context, const DiffCommand& command, const SavedReport& report)
      : context_(context),
        command_(command),
        report_(report),
        reports_(context, command, report.directories),
        used_(command.tensor_tolerances.size()) {}

  btf::Result<int> run() {
    if (const auto status = check_tolerances(); !status) return std::unexpected(status.error());
    if (const auto status = reports_.check_files(); !status) return std::unexpected(status.error());
    for (const SavedPair& pair : report_.pairs) judge(pair);
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    const int exit_code = reports_.finish();
    if (const auto status = check_used(); !status) return std::unexpected(status.error());
    return exit_code;
  }

 private:
  void judge(const SavedPair& pair) {
    reports_.begin(pair.files);
    PairOutcome outcome = pair.outcome;
    if (outcome.result == PairResult::trouble)
      trouble({ErrorCode::refused, outcome.error});
    else if (outcome.result != PairResult::missing)
      outcome.result = PairResult::same;
    if (outcome.result == PairResult::same && pair.tensors.empty())
      outcome = undecided(pair, "nothing was compared");
    for (const TensorDiff& saved : pair.tensors) judge(pair, saved, outcome);
    reports_.end(outcome);
  }

  void judge(const SavedPair& pair, TensorDiff diff, PairOutcome& outcome) {
    if (const auto status = judge(diff); !status) {
      const std::string why = pair_name(diff) + ": " + status.error().message;
      // Of several tensors the first tells why the pair is trouble.
      const PairOutcome undecided_by_it = undecided(pair, why);
      if (outcome.result != PairResult::trouble) outcome = undecided_by_it;
      return;
    }
    reports_.take(diff);
    if (diff.result != DiffResult::same && outcome.result == PairResult::same)
      outcome.result = PairResult::different;
  }

  btf::Status judge(TensorDiff& diff) {
    const Tolerance before = diff.tolerance;
    const btf::Status status = btf::rejudge(diff, tolerance_of(diff), command_.diff.gates);
    if (status && !same_limits(before, diff.tolerance)) drop_mismatches(diff);
    return status;
  }

  // What is given for this tensor goes before what is given for all.
  Tolerance tolerance_of(const TensorDiff& diff) {
    Tolerance tolerance = command_.diff.tolerance;
    for (std::size_t i = 0; i < command_.tensor_tolerances.size(); ++i) {
      const TensorTolerance& given = command_.tensor_tolerances[i];
      if (!diff.actual || diff.actual->index != static_cast<std::uint64_t>(given.tensor)) continue;
      used_[i] = true;
      if (given.tolerance.rtol) tolerance.rtol = given.tolerance.rtol;
      if (given.tolerance.atol) tolerance.atol = given.tolerance.atol;
      if (given.tolerance.ulp) tolerance.ulp = given.tolerance.ulp;
    }
    return tolerance;
  }

  PairOutcome undecided(const SavedPair& pair, const std::string& why) {
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
                         given.option + " " + given.word +
                             ": with --from-json tensors are counted from the front");
    return {};
  }

  btf::Status check_used() const {
    const auto unused = std::ranges::find(used_, false);
    if (unused == used_.end()) return {};
    const TensorTolerance& given =
        command_.tensor_tolerances[static_cast<std::size_t>(unused - used_.begin())];
    return btf::fail(ErrorCode::invalid_argument, given.option + " " + given.word +
                                                      ": the report has no tensor " +
                                                      std::to_string(given.tensor) + " of actual");
  }

  const Context& context_;
  const DiffCommand& command_;
  const SavedReport& report_;
  DiffReports reports_;
  std::vector<bool> used_;
  Limited errors_;
};

}  // namespace

btf::Result<int> run_rejudge(const Context& context, const DiffCommand& command) {
  const auto report = read_saved_report(*command.from_json);
  if (!report) return std::unexpected(report.error());
  DiffCommand judged = command;
  judged.actual = report->actual;
  judged.golden = report->golden;
  return Rejudgement(context, judged, *report).run();
}

}  // namespace btftool
