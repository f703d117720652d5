#include "report/diff/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "report/diff/names.h"
#include "report/diff/page/chart_items.h"
#include "report/diff/page/parts.h"
#include "report/diff/set_rows.h"
#include "report/diff/text.h"
#include "report/page/html_text.h"
#include "report/page/origin.h"
#include "report/page/page.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

constexpr std::uint64_t kMostOpen = 20;  // more tensors that are the same are folded away
constexpr std::uint64_t kMostSections = 50;
constexpr std::size_t kMostDetail = 16U << 20;  // bytes
constexpr const char* kNoFigures = "<td><td><td><td class=rel><td class=steps><td>";

// Empty where there is none, or it is the file's.
std::string own_name(const TensorDiff& diff, const FilePair& pair) {
  const auto named = [](const std::optional<DiffTensor>& side) { return side && side->named; };
  if (!named(diff.actual) && !named(diff.golden)) return "";
  const std::string name = set_name(diff, pair, false);
  return name == printable(pair.name) ? "" : html_name(name);
}

std::string why_cell(const TensorDiff& diff) {
  if (diff.hints.empty()) return "<td class=why>" + html_text(diff.reason);
  const Hint& hint = diff.hints.front();
  return "<td class=why><b>" + html_text(cause_text(hint)) + "</b> <small>" +
         html_text(hint.evidence) + "</small>";
}

std::string figures_cells(const TensorDiff& diff) {
  const auto count = static_cast<double>(diff.mismatched);
  const bool share = diff.compared > 0 && diff.mismatched_known;
  const bool figures =
      diff.figures && diff.figures->pairs > 0 && !std::isnan(diff.figures->cosine);
  return why_cell(diff) +
         html_figure("", "mismatched", diff.mismatched_known ? count : -1,
                     diff.mismatched_known ? html_count(diff.mismatched) : std::string("some")) +
         html_figure("", "share", share ? count / static_cast<double>(diff.compared) : -1,
                     share ? html_text(percent(diff.mismatched, diff.compared)) : "–") +
         html_figure("", "max abs", diff.max_abs, html_number(diff.max_abs)) +
         html_figure("rel", "max rel", diff.max_rel, html_number(diff.max_rel)) +
         html_figure("steps", "max steps", static_cast<double>(diff.max_ulp),
                     html_count(diff.max_ulp)) +
         html_figure("", "cosine", figures ? diff.figures->cosine : -2,
                     figures ? html_number(diff.figures->cosine) : "–");
}

// "3 of 12 tensors differ"
std::string sum_text(const DiffTotals& totals) {
  const std::uint64_t all = totals.tensors;
  const std::uint64_t different = totals.different_tensors;
  std::string text;
  if (all == 0)
    text = "no tensors were compared";
  else if (all == 1)
    text = different == 1 ? "the only tensor differs" : "the only tensor is the same";
  else if (different == 0)
    text = "all " + html_count(all) + " tensors are the same";
  else
    text = html_count(different) + " of " + html_count(all) + " tensors " +
           (different == 1 ? "differs" : "differ");
  if (totals.troubled_files > 0 && totals.directories)
    text += "; " + counted(totals.troubled_files, "file") + " could not be compared";
  else if (totals.partly())
    text += "; " + counted(totals.troubled_tensors, "tensor") + " could not be compared";
  return text;
}

// The rows of a table, up to a bound.
struct Rows {
  std::string html;
  std::uint64_t kept = 0;
  std::uint64_t all = 0;

  void add(std::string_view row) {
    if (++all > kMostRows) return;
    ++kept;
    html += row;
    html += '\n';
  }
};

class HtmlReport final : public DiffReport {
 public:
  HtmlReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), sink_(std::move(sink)), directories_(options_.directories) {}

  void begin(const FilePair& pair) override {
    pair_ = pair;
    troubled_ = false;
  }
  void take(const TensorDiff& diff) override;
  void end(const FilePair& pair, const PairOutcome& outcome) override;
  Status finish(const DiffTotals& totals) override;

 private:
  void pair_row(std::string_view result, const std::string& note);
  std::string path_cell() const;
  std::vector<std::int32_t> axes() const {
    return options_.criteria.heatmap ? options_.criteria.heatmap->axes
                                     : std::vector<std::int32_t>();
  }
  std::string head(const DiffTotals& totals) const;
  std::string overview(const DiffTotals& totals) const;
  std::string table(const Rows& rows) const;
  std::string notes_table(const Rows& rows) const;
  Rows& rows_of(DiffResult result);
  void chart(const TensorDiff& diff, const std::string& name);
  std::string left_out() const;
  std::string same_ones() const;

  ReportOptions options_;
  TextSink sink_;
  bool directories_;
  FilePair pair_;
  bool troubled_ = false;       // a tensor of it
  std::uint64_t detailed_ = 0;  // have a section, or would have had one
  std::uint64_t sections_ = 0;
  std::uint64_t compared_ = 0;  // elements
  static constexpr std::size_t kMostUncompared = 5;
  std::vector<std::string> uncompared_;  // sentences
  std::uint64_t mismatched_ = 0;
  bool counted_ = true;  // mismatched_ is known
  Rows different_;
  Rows missing_;
  Rows trouble_;
  Rows same_;
  ChartItems chart_;
  std::string details_;
};

Rows& HtmlReport::rows_of(DiffResult result) {
  if (result == DiffResult::same) return same_;
  if (result == DiffResult::missing) return missing_;
  return result == DiffResult::trouble ? trouble_ : different_;
}

void HtmlReport::chart(const TensorDiff& diff, const std::string& name) {
  const bool same = diff.result == DiffResult::same;
  const bool different = diff.result == DiffResult::different;
  double error = -1;
  if ((same || different) && diff.figures && diff.figures->pairs > 0 &&
      !std::isnan(diff.figures->snr))
    error = diff.max_abs == 0 ? 0 : std::pow(10.0, -diff.figures->snr / 20);
  const bool shape = diff.result == DiffResult::shape;
  chart_.add(
      [&] {
        return (directories_ ? html_text(pair_.name) + " · " : "") + name + ": " +
               (error >= 0 ? fmt::format("relative error {:.3g} %", 100 * error)
                           : result_name(diff.result));
      },
      same                 ? "plain"
      : different || shape ? "root"
                           : "dump",
      error);
}

void HtmlReport::take(const TensorDiff& diff) {
  compared_ += diff.compared;
  mismatched_ += diff.mismatched;
  counted_ = counted_ && diff.mismatched_known;
  const bool same = diff.result == DiffResult::same;
  const bool trouble = diff.result == DiffResult::trouble;
  const bool valued = diff.actual && diff.golden && diff.result != DiffResult::shape && !trouble;
  const std::string number = html_pair(diff);
  const std::string own = own_name(diff, pair_);
  std::string name = own.empty() ? number : own;
  chart(diff, html_text(set_name(diff, pair_, false)));
  if (!same && valued) {
    ++detailed_;
    if (sections_ < kMostSections && details_.size() < kMostDetail) {
      const std::string anchor = fmt::format("d{}", ++sections_);
      const std::string file = directories_ ? html_name(pair_.name) + " · " : "";
      const std::string title = own.empty() ? "Tensor " + number : own;
      details_ += html_section(diff, file + title, anchor, axes(), options_.member_names);
      name = fmt::format("<a href=\"#{}\">{}</a>", anchor, name);
    }
  }
  const std::string tensor =
      own.empty() ? "<td class=path>" + std::string("Tensor ") + name
                  : "<td class=path>" + name + " <small class=dims>" + number + "</small>";
  std::string row = "<tr>" + path_cell() + tensor + "<td class=type>" + html_sides(diff) + "<td>" +
                    html_result(result_name(diff.result));
  if (valued)
    row += figures_cells(diff);
  else
    row += "<td class=why>" + html_text(headline(diff)) +
           (diff.result == DiffResult::shape ? kNoFigures : "");
  rows_of(diff.result).add(row);
  troubled_ = troubled_ || trouble;
}

void HtmlReport::end(const FilePair& pair, const PairOutcome& outcome) {
  if (of_whole_files(outcome.result))
    pair_row(result_name(outcome.result), whole_files_text(pair, outcome));
  if (!outcome.files.all.empty()) pair_row("different", file_differences_text(outcome));
  if (!outcome.files.uncompared.empty() && uncompared_.size() < kMostUncompared)
    uncompared_.push_back((directories_ ? printable(pair.name) + ": " : "") +
                          printable(outcome.files.uncompared));
  if (outcome.result == PairResult::trouble && !troubled_) pair_row("trouble", outcome.error);
}

void HtmlReport::pair_row(std::string_view result, const std::string& note) {
  const bool trouble = result == "trouble";
  const bool missing = result == "missing";
  (trouble   ? trouble_
   : missing ? missing_
             : different_)
      .add("<tr>" + path_cell() + "<td class=path>–<td class=type>–<td>" + html_result(result) +
           "<td class=why>" + html_text(note) + (trouble || missing ? "" : kNoFigures));
}

std::string HtmlReport::path_cell() const {
  return directories_ ? "<td class=path>" + html_name(pair_.name) : "";
}

std::string HtmlReport::head(const DiffTotals& totals) const {
  const std::string result = result_name(totals.result());
  PageOrigin origin = options_.origin;
  if (totals.newest_input) origin.newest_input = totals.newest_input;
  return page_begin(fmt::format("{}: {} against {}", result, html_text(options_.actual),
                                html_text(options_.golden))) +
         fmt::format("<header id=top>\n{}<h1>{} <span>{}</span></h1>\n",
                     html_origin(origin, "btftool diff"), html_result(result), sum_text(totals));
}

std::string HtmlReport::overview(const DiffTotals& totals) const {
  std::string html = "<dl class=facts>\n";
  const auto fact = [&](std::string_view name, const std::string& value) {
    html += fmt::format("<div><dt>{}<dd>{}</div>\n", name, value);
  };
  fact("actual", html_name(options_.actual));
  fact("golden", html_name(options_.golden));
  fact("accepted", html_text(common_criteria_text(options_, totals.close)));
  if (directories_)
    fact("files", fmt::format("{}, {} different", html_count(totals.files),
                              html_count(totals.different_files)));
  if (totals.first_different && (totals.tensors > 1 || directories_))
    fact("first different", html_name(*totals.first_different));
  if (const std::string paired = pairing_text(totals.pairing); !paired.empty())
    fact("paired", html_text(paired));
  std::string elements = html_count(compared_) + " compared, ";
  if (mismatched_ == 0)
    elements += "none mismatched";
  else if (!counted_)
    elements += "some mismatched";
  else
    elements += html_count(mismatched_) + " mismatched (" +
                html_text(percent(mismatched_, compared_)) + ")";
  fact("elements", elements);
  for (const std::string& what : uncompared_) fact("not compared", html_text(what));
  return html + "</dl>\n</header>\n";
}

std::string HtmlReport::table(const Rows& rows) const {
  return fmt::format(
      "<table class=\"summary sortable{}\">\n<thead><tr>{}<th>tensor<th>type and shape<th>result"
      "<th class=why>likely cause<th class=n>mismatched<th class=n>share<th class=n>max abs<th "
      "class=\"n rel\">max rel<th class=\"n steps\">max steps<th class=n>cosine</thead>\n"
      "<tbody>\n{}</tbody>\n</table>\n",
      &rows == &same_ ? " short" : "", directories_ ? "<th>file" : "", rows.html);
}

// The table of pairs that have no figures.
std::string HtmlReport::notes_table(const Rows& rows) const {
  const std::string cut = rows.all > rows.kept
                              ? fmt::format("<p class=note>{} more are not listed.</p>\n",
                                            html_count(rows.all - rows.kept))
                              : "";
  return fmt::format(
      "<table class=\"summary sortable\">\n<thead><tr>{}<th>tensor<th>type and shape<th>result<th "
      "class=why>why</thead>\n<tbody>\n{}</tbody>\n</table>\n{}",
      directories_ ? "<th>file" : "", rows.html, cut);
}

std::string HtmlReport::left_out() const {
  std::string text;
  if (different_.all > different_.kept)
    text += fmt::format("The table ends after {} of {} rows. ", html_count(different_.kept),
                        html_count(different_.all));
  if (detailed_ > sections_)
    text += fmt::format("The first {} of {} different tensors have a section below; {}.",
                        html_count(sections_), html_count(detailed_),
                        in_words(options_.member_names, "`tensors` chooses others"));
  return text.empty() ? "" : "<p class=note>" + text + "</p>\n";
}

std::string HtmlReport::same_ones() const {
  const std::string more = same_.all > same_.kept
                               ? fmt::format("<p class=note>{} more are not listed.</p>\n",
                                             html_count(same_.all - same_.kept))
                               : "";
  return fmt::format("<details{}><summary>{} {} the same</summary>\n{}{}</details>\n",
                     same_.all <= kMostOpen ? " open" : "", counted(same_.all, "tensor"),
                     same_.all == 1 ? "is" : "are", table(same_), more);
}

Status HtmlReport::finish(const DiffTotals& totals) {
  std::string page = head(totals) + overview(totals) + chart_.html();
  if (different_.all + missing_.all + trouble_.all + same_.all > 1) page += filter_box();
  if (different_.all > 0) page += "<h2>Different</h2>\n" + table(different_) + left_out();
  if (missing_.all > 0) page += "<h2>Missing</h2>\n" + notes_table(missing_);
  if (trouble_.all > 0) page += "<h2>Trouble</h2>\n" + notes_table(trouble_);
  if (same_.all > 0) page += same_ones();
  page += details_;
  page +=
      "<footer>Errors are |actual − golden|, relative ones by |golden|. Largest errors, steps and "
      "figures are over the pairs of finite numbers; NaN and Inf are counted apart. Steps are of "
      "the coarser dtype.</footer>\n" +
      page_end();
  return sink_(page);
}

}  // namespace

std::unique_ptr<DiffReport> html_report(ReportOptions options, TextSink sink) {
  return std::make_unique<HtmlReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report
