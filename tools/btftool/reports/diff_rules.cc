#include "reports/diff_rules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "btf/dtype.h"
#include "btf/report.h"
#include "btf/try.h"
#include "cli/arguments.h"
#include "cli/rows.h"
#include "io/text.h"
#include "report/text/json.h"
#include "reports/diff.h"

namespace btftool {
namespace {

using btf::ErrorCode;
using btf::TensorDiff;

// Passes the judged tensors to the reports, and errors to the log.
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
      log_error({ErrorCode::refused, "nothing was compared: no tensor has an element"});
    return reports_.finish();
  }

  void begin(const FilePair& pair) override { reports_.begin(pair); }
  void take(const TensorDiff& diff) override {
    if (diff.error) log_error(*diff.error);
    reports_.take(diff);
  }
  bool lists_missing() const override { return true; }
  void missing(const TensorDiff& diff) override { reports_.missing(diff); }
  void end(const FilePair& pair, const PairOutcome& outcome) override {
    PairOutcome reported = outcome;
    if (auto& cause = reported.cause; cause && cause->finding == btf::kUndecided) {
      const std::string message = cause->message;
      cause->message += "; compare the files: btftool diff " + printable(pair.actual) + " " +
                        printable(pair.golden);
      if (reported.error == message) reported.error = cause->message;
      if (report_.directories) cause = cause->within(printable(pair.name));
    }
    if (reported.cause) log_error(*reported.cause);
    reports_.end(std::move(reported));
  }

 private:
  void log_error(const btf::Error& error) {
    if (errors_.pass()) context_.log.error(error.in_file(*command_.from_json));
  }

  // A report does not have the number of tensors, so numbers from the end have no meaning.
  btf::Status check_tolerances() const {
    for (const TensorTolerance& given : command_.tensor_tolerances)
      if (given.tensor < 0)
        return btf::fail(
            ErrorCode::invalid_argument,
            given.source + ": with --from-json, tensors cannot be counted from the end");
    return {};
  }

  const Context& context_;
  const DiffCommand& command_;
  const btf::SetDiffResult& report_;
  DiffReports reports_;
  MessageLimit errors_;
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

namespace {

constexpr std::string_view kSchema = "btftool/rules/1";
constexpr std::string_view kWhat = "a rules file of btftool diff";

class RulesReader {
 public:
  explicit RulesReader(const std::string& name) : name_(name) {}

  Rules read(const JsonNode& root) {
    if (root["schema"].text() != kSchema) root["schema"].fail("is not " + std::string(kSchema));
    root.members([](const std::string& name, const JsonNode& value) {
      if (name != "schema" && name != "comment" && name != "rules") value.fail(kUnknown);
    });
    std::size_t number = 0;
    root["rules"].each([&](const JsonNode& rule) {
      source_ = name_ + ": rules[" + std::to_string(number++) + "]";
      if (!rule.failed()) take(rule);
    });
    return std::move(rules_);
  }

 private:
  static constexpr std::string_view kUnknown = "is not a known member";

  void take(const JsonNode& rule) {
    const JsonNode tensor = rule["tensor"];
    const std::string glob = tensor.text();
    if (const std::string error = glob_error(glob); !error.empty()) tensor.fail(error);
    std::size_t given = 0;
    rule.members([&](const std::string& name, const JsonNode& value) {
      if (name == "tensor" || name == "comment" || value.failed()) return;
      ++given;
      if (name == "rtol")
        limit(glob, value, name, &btf::Tolerance::rtol);
      else if (name == "atol")
        limit(glob, value, name, &btf::Tolerance::atol);
      else if (name == "ulp")
        steps(glob, value);
      else if (name == "actual_spec")
        spec(glob, value, rules_.actual_specs);
      else if (name == "golden_spec")
        spec(glob, value, rules_.golden_specs);
      else
        value.fail(kUnknown);
    });
    if (given == 0) rule.fail("has no rtol, atol, ulp, actual_spec or golden_spec");
  }

  void limit(const std::string& glob, const JsonNode& value, const std::string& name,
             std::optional<double> btf::Tolerance::* member) {
    const double number = value.amount();
    if (!std::isfinite(number)) value.fail("is not finite");
    TensorTolerance& entry = add(glob, name + " " + btf::number_text(number));
    entry.tolerance.*member = number;
  }

  void steps(const std::string& glob, const JsonNode& value) {
    const std::uint64_t count = value.count();
    add(glob, "ulp " + std::to_string(count)).tolerance.ulp = count;
  }

  void spec(const std::string& glob, const JsonNode& value, std::vector<SpecRule>& rules) {
    const std::string text = value.text();
    if (value.failed()) return;
    if (const btf::Status status = check_spec(text); !status) value.fail(status.error().message);
    rules.push_back({glob, text, source_});
  }

  TensorTolerance& add(const std::string& glob, std::string text) {
    rules_.tolerances.push_back(
        {.tensor = 0, .glob = glob, .tolerance = {}, .source = source_, .text = std::move(text)});
    return rules_.tolerances.back();
  }

  const std::string& name_;
  std::string source_;
  Rules rules_;
};

template <typename T>
void put_in_front(std::vector<T>& of, std::vector<T> more) {
  std::ranges::move(of, std::back_inserter(more));
  of = std::move(more);
}

}  // namespace

btf::Result<Rules> parse_rules(const std::string& text, const std::string& name) {
  BTF_ASSIGN(const Json json, parse_written_json(text, kWhat));
  std::string error;
  Rules rules = RulesReader(name).read(JsonNode(json, error));
  if (!error.empty()) return btf::fail(btf::ErrorCode::invalid_argument, error);
  return rules;
}

btf::Result<DiffCommand> with_rules(const DiffCommand& command) {
  DiffCommand whole = command;
  if (!command.rules) return whole;
  const auto in_file = [&](const btf::Error& error) {
    return std::unexpected(error.in_file(*command.rules));
  };
  const auto text = read_text(*command.rules);
  if (!text) return in_file(text.error());
  auto rules = parse_rules(*text, printable(*command.rules));
  if (!rules) return in_file(rules.error());
  if (command.from_json && !(rules->actual_specs.empty() && rules->golden_specs.empty()))
    return in_file(
        {btf::ErrorCode::invalid_argument, "specs of files cannot be combined with --from-json"});
  put_in_front(whole.tensor_tolerances, std::move(rules->tolerances));
  put_in_front(whole.actual_specs, std::move(rules->actual_specs));
  put_in_front(whole.golden_specs, std::move(rules->golden_specs));
  return whole;
}

}  // namespace btftool
