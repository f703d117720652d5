#include "diff/reports.h"

#include <algorithm>
#include <filesystem>

#include "btf/output.h"
#include "diff/reports/html/html.h"
#include "diff/reports/json.h"
#include "diff/reports/junit.h"
#include "diff/reports/screen.h"
#include "io/exit_code.h"
#include "io/text.h"

namespace btftool {
namespace {

// A report must not take the place of what it is about.
btf::Status check_operand(const std::string& report, const std::string& operand) {
  std::error_code error;
  if (!std::filesystem::equivalent(report, operand, error) ||
      !std::filesystem::is_regular_file(report, error))
    return {};
  return std::unexpected(
      btf::Error{btf::ErrorCode::invalid_argument, "a report would replace what is compared"}
          .in_file(report));
}

}  // namespace

DiffReports::DiffReports(const Context& context, const DiffCommand& command, bool directories)
    : context_(context), command_(command) {
  totals_.directories = directories;
  if (command.json)
    reports_.push_back(json_report(context.out, command, directories));
  else if (!context.global.quiet)
    reports_.push_back(command.summary ? summary_report(context.out, command)
                                       : screen_report(context.out, command, directories));
  if (command.junit) reports_.push_back(junit_report(command));
  if (command.html) reports_.push_back(html_report(command, directories));
}

btf::Status DiffReports::check_files() const {
  for (const std::optional<std::string>& path : {command_.junit, command_.html}) {
    if (!path) continue;
    btf::Status status = btf::check_output(*path);
    if (status) status = check_operand(*path, command_.from_json.value_or(command_.actual));
    if (status) status = check_operand(*path, command_.from_json.value_or(command_.golden));
    if (!status) return status;
  }
  return {};
}

void DiffReports::begin(const FilePair& pair) {
  pair_ = pair;
  before_ = totals_.troubled_tensors;
  for (const auto& report : reports_) report->begin(pair);
}

void DiffReports::take(const btf::TensorDiff& diff) {
  // Only errors and causes can name options.
  diff.error || !diff.hints.empty() ? show(context_.names.in(diff)) : show(diff);
}

void DiffReports::show(const btf::TensorDiff& diff) {
  if (!diff.error)
    count(diff);
  else if (totals_.troubled_tensors++ == before_)
    first_trouble_ = diff.error->text();
  totals_.pairing.add(diff);
  for (const auto& report : reports_) report->take(diff);
}

void DiffReports::count(const btf::TensorDiff& diff) {
  ++totals_.tensors;
  totals_.compared += diff.compared;
  if (diff.result != btf::DiffResult::same) {
    ++totals_.different_tensors;
    note_different((diff.golden ? diff.golden : diff.actual)->name);
  }
  note_close(diff, totals_.close);
}

void DiffReports::note_different(const std::string& name) {
  if (!totals_.first_different) totals_.first_different = name;
}

std::string DiffReports::trouble() const {
  return troubled() == 0 ? "" : btf::trouble_of_tensors(first_trouble_, troubled());
}

bool DiffReports::lists_missing() const {
  return std::ranges::any_of(reports_, [](const auto& report) { return report->lists_missing(); });
}

void DiffReports::missing(const btf::TensorDiff& diff) {
  for (const auto& report : reports_) report->missing(diff);
}

void DiffReports::end(PairOutcome outcome) {
  outcome.error = context_.names.in(std::move(outcome.error));
  ++totals_.files;
  if (outcome.result == PairResult::trouble)
    ++totals_.troubled_files;
  else if (outcome.result != PairResult::same)
    ++totals_.different_files;
  if (of_whole_files(outcome.result)) note_different(pair_.name);
  if (outcome.result == PairResult::missing)
    ++(pair_.actual.empty() ? totals_.pairing.golden_only : totals_.pairing.actual_only);
  for (const auto& report : reports_) report->end(pair_, outcome);
}

// Files first: the report on stdout tells of those that could not be written.
int DiffReports::finish() {
  const bool silent = totals_.troubled_files > 0 && !totals_.directories && !totals_.partly();
  for (const bool own_file : {true, false})
    for (const auto& report : reports_)
      if (report->own_file() == own_file && (own_file || !silent)) finish(*report);
  switch (result_of(totals_)) {
    case PairResult::same:
      return kSame;
    case PairResult::trouble:
      return kTrouble;
    default:
      return kDifferent;
  }
}

void DiffReports::refuse(const FilePair& pair, const btf::Error& error) {
  totals_.directories = false;
  begin(pair);
  end({.result = PairResult::trouble, .error = error.text()});
  finish();
}

void DiffReports::finish(DiffReport& report) {
  const btf::Status status = report.finish(totals_);
  if (status) return;
  context_.log.error(status.error());
  totals_.unwritten = true;
}

btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command) {
  btf::DiffOptions options = command.diff;
  const bool text = !global.quiet && !command.json;
  options.details = command.json || command.junit || command.html || (text && !command.summary);
  options.figures = command.json || command.html || (text && command.summary);
  options.hints = options.hints && options.details;
  if (command.html && !options.heatmap) options.heatmap.emplace();
  if (!command.json && !command.html && !text) options.heatmap.reset();
  return options;
}

}  // namespace btftool
