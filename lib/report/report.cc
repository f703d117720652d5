#include "btf/report.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/text/text.h"

namespace btf {

void DiffTotals::begin() {
  pair_troubled = 0;
  pair_trouble.clear();
}

void DiffTotals::take(const TensorDiff& diff) {
  report::add_pairing(diff, pairing);
  if (diff.error) {
    ++troubled_tensors;
    if (++pair_troubled == 1) pair_trouble = diff.error->text();
    return;
  }
  ++tensors;
  compared += diff.compared;
  report::note_close(diff, close);
  if (diff.result == DiffResult::same) return;
  ++different_tensors;
  if (!first_different) first_different = (diff.golden ? diff.golden : diff.actual)->name;
}

void DiffTotals::end(const FilePair& pair, const PairOutcome& outcome) {
  ++files;
  if (outcome.result == PairResult::trouble)
    ++troubled_files;
  else if (outcome.result != PairResult::same)
    ++different_files;
  file_differences += outcome.files.all.size();
  // With only two files there is no file to name.
  const bool file =
      report::of_whole_files(outcome.result) || (directories && !outcome.files.all.empty());
  if (file && !first_different) first_different = pair.name;
  if (outcome.result == PairResult::missing)
    ++(pair.actual.empty() ? pairing.golden_only : pairing.actual_only);
}

std::string DiffTotals::trouble_text() const {
  return pair_troubled == 0 ? "" : trouble_of_tensors(pair_trouble, pair_troubled);
}

std::unique_ptr<DiffReport> make_report(ReportFormat format, ReportOptions options, TextSink sink) {
  switch (format) {
    case ReportFormat::text:
      return report::screen_report(std::move(options), std::move(sink));
    case ReportFormat::summary:
      return report::summary_report(std::move(options), std::move(sink));
    case ReportFormat::json:
      return report::json_report(std::move(options), std::move(sink));
    case ReportFormat::junit:
      return report::junit_report(std::move(options), std::move(sink));
    case ReportFormat::html:
      break;
  }
  return report::html_report(std::move(options), std::move(sink));
}

LayerReport with_names(LayerReport report, const MemberNames& names) {
  std::vector<std::string*> texts{&report.noise_source, &report.verdict.words,
                                  &report.verdict.detail};
  for (Layer& layer : report.layers) {
    texts.insert(texts.end(), {&layer.trouble, &layer.note});
    for (Hint& hint : layer.hints) texts.push_back(&hint.evidence);
  }
  for (SanityFinding& finding : report.sanity) texts.push_back(&finding.message);
  for (std::string& text : report.troubles) texts.push_back(&text);
  for (std::string& text : report.warnings) texts.push_back(&text);
  for (std::string* const text : texts) *text = names(std::move(*text));
  return report;
}

void ask_for(ReportFormat format, DiffOptions& options) {
  const bool json = format == ReportFormat::json;
  const bool html = format == ReportFormat::html;
  options.details = options.details || format != ReportFormat::summary;
  options.figures = options.figures || json || html || format == ReportFormat::summary;
  if (html && !options.heatmap) options.heatmap.emplace();
}

void SetDiffResult::begin(const FilePair& pair) { pairs.push_back({.files = pair}); }
void SetDiffResult::take(const TensorDiff& diff) { pairs.back().tensors.push_back(diff); }
void SetDiffResult::missing(const TensorDiff& diff) { pairs.back().missing.push_back(diff); }
void SetDiffResult::end(const FilePair&, const PairOutcome& outcome) {
  pairs.back().outcome = outcome;
}

std::string report_text(ReportFormat format, const SetDiffResult& result, ReportOptions options) {
  options.actual = result.actual;
  options.golden = result.golden;
  options.directories = result.directories;
  std::string text;
  const auto report =
      make_report(format, std::move(options), [&](std::string_view piece) -> Status {
        text += piece;
        return {};
      });
  DiffTotals totals{.directories = result.directories, .others = result.others};
  for (const SetDiffResult::Pair& pair : result.pairs) {
    totals.begin();
    report->begin(pair.files);
    for (const TensorDiff& diff : pair.tensors) {
      totals.take(diff);
      report->take(diff);
    }
    if (report->lists_missing())
      for (const TensorDiff& diff : pair.missing) report->missing(diff);
    totals.end(pair.files, pair.outcome);
    report->end(pair.files, pair.outcome);
  }
  // This sink only stores the text, so it cannot fail.
  [[maybe_unused]] const Status finished = report->finish(totals);
  return text;
}

}  // namespace btf
