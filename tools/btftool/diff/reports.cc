#include "diff/reports.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "btf/output.h"
#include "btf/try.h"
#include "diff/next.h"
#include "diff/picture.h"
#include "io/exit_code.h"
#include "io/page_origin.h"
#include "io/text.h"

namespace btftool {
namespace {

// "rtol 1e-3 for tensor 2"
std::string of_tensor(const TensorTolerance& given) {
  return given.text + " for " +
         (given.glob ? printable(*given.glob) : "tensor " + std::to_string(given.tensor));
}

btf::ReportOptions report_options(const Context& context, const DiffCommand& command,
                                  bool directories) {
  btf::ReportOptions options{
      .actual = command.actual,
      .golden = command.golden,
      .directories = directories,
      .criteria = command.diff,
      .schema = command.json_schema,
      .sort = command.sort,
      .text = {.all = command.all,
               .figures = context.global.verbose,
               .columns = output_columns(),
               .whole_lines = !fits_columns(),
               .color = context.out.colored()},
      .member_names = [&names =
                           context.names](std::string text) { return names.in(std::move(text)); },
      .origin = page_origin(same_command(command)),
      .next_command =
          [&command, directories](const FilePair& pair, const btf::TensorDiff& diff) {
            return next_command(command, directories, pair, diff);
          }};
  for (const TensorTolerance& given : command.tensor_tolerances)
    options.tensor_criteria.push_back(of_tensor(given));
  if (!command.tensor_criteria.empty()) options.tensor_criteria = command.tensor_criteria;
  return options;
}

// The format of standard output, if anything is printed there.
std::optional<btf::ReportFormat> printed(const GlobalOptions& global, const DiffCommand& command) {
  if (command.part) return std::nullopt;
  if (command.json) return btf::ReportFormat::json;
  if (global.quiet || picture_takes_output(command)) return std::nullopt;
  return command.summary ? btf::ReportFormat::summary : btf::ReportFormat::text;
}

}  // namespace

DiffReports::DiffReports(const Context& context, const DiffCommand& command, bool directories)
    : context_(context), command_(command) {
  totals_.directories = directories;
  const btf::ReportOptions options = report_options(context, command, directories);
  if (const auto format = printed(context.global, command))
    reports_.push_back({make_report(*format, options,
                                    [&out = context.out](std::string_view text) -> btf::Status {
                                      out.text(text);
                                      return {};
                                    }),
                        false});
  const auto to_file = [&](btf::ReportFormat format, const std::optional<std::string>& path) {
    if (path)
      reports_.push_back({make_report(format, options,
                                      [path = *path](std::string_view text) {
                                        return btf::write_text(path, text);
                                      }),
                          true});
  };
  to_file(btf::ReportFormat::junit, command.junit);
  to_file(btf::ReportFormat::html, command.html);
  if (!command.part) return;
  auto part = std::make_unique<PartReport>(context, command, directories, options.tensor_criteria);
  part_ = part.get();
  reports_.push_back({std::move(part), true});
}

void DiffReports::tell_others(std::vector<std::string> paths) {
  if (part_ != nullptr) part_->tell_others(paths);
  totals_.others = std::move(paths);
}

btf::Result<std::vector<std::uint64_t>> DiffReports::pick(std::span<const btf::PlannedPair> pairs) {
  return part_->pick(pairs);
}

btf::Status DiffReports::check_files() const {
  for (const std::optional<std::string>& path : {command_.junit, command_.html}) {
    if (path) BTF_TRY(btf::check_output(*path));
  }
  return {};
}

void DiffReports::begin(const FilePair& pair) {
  if (!command_.html || command_.from_json) return begin(pair, {}, {});
  begin(pair, btf::FileState::of(pair.actual), btf::FileState::of(pair.golden));
}

void DiffReports::begin(const FilePair& pair, const std::optional<btf::FileState>& actual,
                        const std::optional<btf::FileState>& golden) {
  pair_ = pair;
  totals_.begin();
  btf::PageOrigin origin{.newest_input = totals_.newest_input};
  for (const auto& file : {actual, golden})
    if (file && !command_.from_json) origin.add(*file);
  totals_.newest_input = origin.newest_input;
  for (const Report& row : reports_) row.report->begin(pair);
}

void DiffReports::take(const btf::TensorDiff& diff) {
  // Only errors and causes can name options.
  diff.error || !diff.hints.empty() ? show(context_.names.in(diff)) : show(diff);
}

void DiffReports::show(const btf::TensorDiff& diff) {
  totals_.take(diff);
  for (const Report& row : reports_) row.report->take(diff);
}

bool DiffReports::lists_missing() const {
  return std::ranges::any_of(reports_,
                             [](const Report& row) { return row.report->lists_missing(); });
}

void DiffReports::missing(const btf::TensorDiff& diff) {
  for (const Report& row : reports_) row.report->missing(diff);
}

void DiffReports::end(PairOutcome outcome) {
  outcome.error = context_.names.in(std::move(outcome.error));
  totals_.end(pair_, outcome);
  for (const Report& row : reports_) row.report->end(pair_, outcome);
}

// Files first: the report on stdout names those that could not be written. It is left out when
// nothing of a single pair of files could be compared.
int DiffReports::finish() {
  btf::PageOrigin origin{.newest_input = totals_.newest_input};
  take_given_date(origin);
  totals_.newest_input = origin.newest_input;
  const bool silent = totals_.troubled_files > 0 && !totals_.directories && !totals_.partly();
  for (const bool own_file : {true, false})
    for (const Report& row : reports_) {
      if (row.own_file != own_file || (silent && !own_file)) continue;
      const btf::Status status = row.report->finish(totals_);
      if (status) continue;
      context_.log.error(status.error());
      totals_.unwritten = true;
    }
  // What a part says is judged by merge.
  if (part_ != nullptr) return totals_.unwritten ? kTrouble : kSame;
  switch (totals_.result()) {
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

btf::DiffOptions needed_by_reports(const GlobalOptions& global, const DiffCommand& command) {
  btf::DiffOptions options = command.diff;
  options.details = options.figures = false;
  const auto format = printed(global, command);
  if (format) ask_for(*format, options);
  if (command.junit) ask_for(btf::ReportFormat::junit, options);
  // A part may become any report.
  if (command.html || command.part) ask_for(btf::ReportFormat::html, options);
  options.hints = options.hints && options.details;
  if (!format && !command.html && !command.part) options.heatmap.reset();
  if (command.image.path) options.details = true;  // where the largest error is
  return options;
}

}  // namespace btftool
