#include "diff/rejudge.h"

#include <utility>

#include "btf/report/rejudge.h"
#include "btf/report/report.h"
#include "btf/try.h"
#include "diff/reports.h"
#include "io/read_text.h"
#include "io/text.h"

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::TensorDiff;

// Hands what is judged to the reports, and trouble to stderr.
class Rejudgement final : public btf::SetDiffSink {
 public:
  Rejudgement(const Context& context, const DiffCommand& command, const btf::SetDiffResult& report)
      : context_(context),
        command_(command),
        report_(report),
        reports_(context, command, report.directories) {}

  btf::Result<int> run() {
    BTF_TRY(check_tolerances());
    BTF_TRY(reports_.check_files());
    const btf::RejudgeOptions options{.tolerance = command_.diff.tolerance,
                                      .gates = command_.diff.gates,
                                      .tensor_tolerances = command_.tensor_tolerances};
    if (const auto status = btf::rejudge(report_, options, *this); !status) {
      reports_.refuse({report_.actual, report_.actual, report_.golden}, status.error());
      return std::unexpected(status.error());
    }
    if (errors_.held_back() > 0)
      context_.log.error("and " + std::to_string(errors_.held_back()) + " more");
    if (reports_.compared_nothing())
      trouble({ErrorCode::refused, "nothing was compared: no tensor has an element"});
    return reports_.finish();
  }

  void begin(const FilePair& pair) override { reports_.begin(pair); }
  void take(const TensorDiff& diff) override {
    if (diff.error) trouble(*diff.error);
    reports_.take(diff);
  }
  bool lists_missing() const override { return true; }
  void missing(const TensorDiff& diff) override { reports_.missing(diff); }
  void end(const FilePair& pair, const PairOutcome& outcome) override {
    PairOutcome told = outcome;
    if (told.cause && told.cause->finding == btf::kUndecided) {
      const std::string whole = told.cause->message;
      told.cause->message += "; compare the files: btftool diff " + printable(pair.actual) + " " +
                             printable(pair.golden);
      if (told.error == whole) told.error = told.cause->message;
      if (report_.directories) told.cause = told.cause->within(printable(pair.name));
    }
    if (told.cause) trouble(*told.cause);
    reports_.end(std::move(told));
  }

 private:
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
