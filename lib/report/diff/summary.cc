#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "btf/report.h"
#include "report/diff/heatmap.h"
#include "report/diff/names.h"
#include "report/diff/reports.h"
#include "report/diff/sets.h"
#include "report/diff/text.h"
#include "report/text/text.h"

namespace btf::report {
namespace {

class Lines {
 public:
  explicit Lines(TextSink sink) : sink_(std::move(sink)) {}

  void line(std::string_view text) {
    if (status_) status_ = sink_(std::string(text) + "\n");
  }
  // The first write error. Nothing is written after it.
  const Status& status() const { return status_; }

 private:
  TextSink sink_;
  Status status_{};
};

std::string verdict(const DiffTotals& totals, Paint paint, const ReportOptions& options) {
  const auto of = [](std::uint64_t part, std::uint64_t all, const char* noun) {
    return part == 0 ? counted(all, noun) : fmt::format("{} of {}", part, counted(all, noun));
  };
  std::string text;
  if (totals.partly())
    text = paint.red("trouble") + ": " +
           of(totals.troubled_tensors, totals.troubled_tensors + totals.tensors, "tensor") + "; ";
  else if (totals.troubled_files > 0)
    text = paint.red("trouble") + ": " + of(totals.troubled_files, totals.files, "file") + "; ";
  else if (totals.unwritten)
    text = paint.red("trouble") + ": a report could not be written; ";
  if (totals.nothing()) return paint.red("trouble") + ": nothing was compared";
  if (totals.tensors == 0 && totals.troubled_files == totals.files)
    return text + "nothing was compared";
  text += (totals.same() ? paint.green("same") : paint.red("different")) + ": ";
  const std::uint64_t judged = totals.files - totals.troubled_files;
  std::string counts;
  if (totals.directories && judged > 0) counts = of(totals.different_files, judged, "file");
  if (totals.tensors > 0)
    counts += (counts.empty() ? "" : ", ") + of(totals.different_tensors, totals.tensors, "tensor");
  if (totals.file_differences > 0)
    counts += (totals.tensors == 0             ? ""
               : totals.different_tensors == 0 ? " the same, but "
                                               : ", and ") +
              counted(totals.file_differences, "difference") +
              (totals.tensors == 0 ? "" : " beside them");
  if (counts.empty()) counts = "no tensors";
  return text + counts + " (" + criteria_text(options, totals.close) + ")";
}

// Prints a single pair of tensors in full. Of several pairs, or directories, it prints a line for
// each, and the first one whose values differ in full.
class Screen final : public DiffReport {
 public:
  Screen(ReportOptions options, TextSink sink)
      : options_(std::move(options)),
        out_(std::move(sink)),
        directories_(options_.directories),
        columns_(options_.text.columns),
        room_(options_.text.whole_lines ? kAnyColumns : columns_),
        paint_{options_.text.color},
        table_(paint_, columns_, options_.text.whole_lines, options_.sort,
               refused_word(options_.criteria.tolerance)) {}

  void begin(const FilePair& pair) override {
    pair_ = pair;
    of_pair_ = in_trouble_ = 0;
  }

  void take(const TensorDiff& diff) override {
    ++of_pair_;
    if (diff.result == DiffResult::trouble) ++in_trouble_;
    if (!directories_ && all_++ == 0) {
      only_ = diff;
      return;
    }
    if (only_) add(*std::exchange(only_, {}));
    add(diff);
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    const bool trouble = outcome.result == PairResult::trouble;
    // If nothing in two files could be compared, errors are all there is to report.
    if (!directories_ && in_trouble_ == of_pair_) {
      only_.reset();
      table_.clear();
    }
    if (directories_ && in_trouble_ == 0 && (trouble || of_pair_ == 0)) {
      if (of_whole_files(outcome.result) && first_different_.empty())
        first_different_ = printable(pair.name);
      table_.add(set_row(pair, outcome));
    }
    note_files(pair, outcome.files);
    // With two files, nothing is printed after an error.
    print(trouble && !directories_);
  }

  Status finish(const DiffTotals& totals) override {
    if (only_) {
      for (const std::string& line : told_alone(*only_)) out_.line(line);
      put_files();
      put_pairing(totals);
      for (const std::string& line : wrapped(verdict(totals, paint_, options_), room_, kIndent))
        out_.line(line);
      if (only_->result == DiffResult::shape) put_next(next_for(*only_));
      return out_.status();
    }
    print(true);
    for (const std::string& line : block_) out_.line(line);
    if (hidden_ > 0)
      out_.line("not shown: details of " + counted(hidden_, "tensor") + "; " +
                in_words(options_.member_names, "`text.all` shows them"));
    put_files();
    put_pairing(totals);
    put_wrapped(verdict(totals, paint_, options_));
    if (!first_different_.empty()) put_wrapped("first different: " + first_different_);
    put_next(next_.empty() ? next_of_rest_ : next_);
    return out_.status();
  }

 private:
  static constexpr std::size_t kIndent = 4;  // indent of continued lines
  static constexpr std::size_t kNext = 6;    // columns of "next: "

  void put_next(const std::string& command) {
    if (!command.empty())
      out_.line("next: " + continued(command, room_, kNext, options_.text.whole_lines));
  }

  // A line for each difference of the files themselves.
  void note_files(const FilePair& pair, const FileDifferences& files) {
    constexpr std::size_t kMax = 20;
    const std::string of = directories_ ? printable(pair.name) + ": " : "";
    for (const FileDifference& found : files.all) {
      if (options_.text.all || about_files_.size() < kMax)
        about_files_.push_back(of + printable(found.text()));
      else
        ++files_hidden_;
    }
    if (!files.all.empty() && directories_ && first_different_.empty())
      first_different_ = printable(pair.name);
    if (files.uncompared.empty()) return;
    if (options_.text.all || about_files_.size() < kMax)
      about_files_.push_back(of + printable(files.uncompared));
    else
      ++files_hidden_;
  }

  void put_files() {
    for (const std::string& line : about_files_)
      for (const std::string& piece : wrapped(line, room_, kIndent)) out_.line(piece);
    if (files_hidden_ > 0)
      out_.line("and " + counted(files_hidden_, "line") + " more; " +
                in_words(options_.member_names, "`text.all` shows them"));
  }

  std::string next_for(const TensorDiff& diff) const {
    return options_.next_command ? options_.next_command(pair_, diff) : std::string();
  }

  void add(const TensorDiff& diff) {
    const std::string name = set_name(diff, pair_, directories_);
    SetRow row = set_row(diff, name);
    if (row.different && !diff.error && first_different_.empty()) first_different_ = name;
    // Only tensors that were compared have details.
    if (diff.result == DiffResult::different) {
      if (next_.empty()) next_ = next_for(diff);
      if (options_.text.all)
        row.below = block(diff, name);
      else if (block_.empty())
        block_ = block(diff, name);
      else
        ++hidden_;
    } else if (row.different && !diff.error && next_of_rest_.empty()) {
      next_of_rest_ = next_for(diff);
    }
    table_.add(std::move(row));
    print(false);
  }

  // Returns the details of a tensor, as lines that fit.
  std::vector<std::string> block(const TensorDiff& diff, const std::string& name) const {
    std::vector<std::string> lines = wrapped(
        name + ": " + paint_.red("different") + ": " + headline(diff, options_.text.figures),
        columns_, kIndent);
    for (const std::string& line : detail_lines(diff, options_, columns_)) lines.push_back(line);
    add_heatmap(diff, lines);
    return lines;
  }

  std::vector<std::string> told_alone(const TensorDiff& diff) const {
    const bool same = diff.result == DiffResult::same;
    std::vector<std::string> lines =
        wrapped(pair_name(diff) + ": " + (same ? paint_.green("same") : paint_.red("different")) +
                    ": " + headline(diff, options_.text.figures),
                room_, kIndent);
    for (const std::string& line : detail_lines(diff, options_, room_)) lines.push_back(line);
    if (!same) add_heatmap(diff, lines);
    return lines;
  }

  void add_heatmap(const TensorDiff& diff, std::vector<std::string>& lines) const {
    if (!diff.heatmap || !options_.criteria.heatmap) return;
    const Dims& dims = diff.golden->dims;
    const std::string picked = axes_trouble(options_.criteria.heatmap->axes, dims.size());
    for (std::string& line : heatmap_lines(*diff.heatmap, dims, picked, room_, paint_.on))
      lines.push_back(std::move(line));
  }

  void put_wrapped(const std::string& text) {
    for (const std::string& line : wrapped(text, columns_, kIndent)) out_.line(line);
  }

  void put_pairing(const DiffTotals& totals) {
    const std::string text = pairing_sentence(totals.pairing, options_.member_names);
    if (!text.empty()) put_wrapped(text);
  }

  void print(bool last) {
    for (const std::string& line : table_.lines(last)) out_.line(line);
    if (!last || !only_) return;
    for (const std::string& line : told_alone(*std::exchange(only_, {}))) out_.line(line);
  }

  ReportOptions options_;
  Lines out_;
  bool directories_;
  std::size_t columns_;
  std::size_t room_;  // width of lines; SIZE_MAX if they are not wrapped
  Paint paint_;
  SetTable table_;
  FilePair pair_;
  std::optional<TensorDiff> only_;  // the tensor, while there has been only one
  std::uint64_t all_ = 0;           // number of tensors
  std::uint64_t of_pair_ = 0;       // number of tensors of the current pair of files
  std::uint64_t in_trouble_ = 0;    // how many of them could not be compared
  std::uint64_t hidden_ = 0;        // tensors whose details are not printed
  std::vector<std::string> block_;
  std::vector<std::string> about_files_;  // differences of the files that are not in tensors
  std::uint64_t files_hidden_ = 0;        // how many of these lines are not printed
  std::string first_different_;
  std::string next_;          // next command for the first tensor whose values differ
  std::string next_of_rest_;  // next command for the first other difference
};

}  // namespace

std::unique_ptr<DiffReport> screen_report(ReportOptions options, TextSink sink) {
  return std::make_unique<Screen>(std::move(options), std::move(sink));
}

namespace {

class SummaryReport final : public DiffReport {
 public:
  SummaryReport(ReportOptions options, TextSink sink)
      : options_(std::move(options)), out_(std::move(sink)), paint_{options_.text.color} {}

  void begin(const FilePair&) override { sums_ = {}; }

  void take(const TensorDiff& diff) override {
    if (diff.result == DiffResult::trouble) {
      ++sums_.troubled;
      return;
    }
    ++sums_.tensors;
    if (diff.result != DiffResult::same) ++sums_.different;
    add_pairing(diff, sums_.pairing);
    sums_.compared += diff.compared;
    sums_.mismatched += diff.mismatched;
    // With --from-json, the report may lack figures for the new limits.
    sums_.counted = sums_.counted && diff.mismatched_known;
    // NaN against Inf is counted on both sides, but is one pair.
    if (diff.figures)
      sums_.nonfinite += diff.compared - diff.figures->pairs - diff.nan.both - diff.inf.both;
    note_close(diff, sums_.close);
    sums_.worst = std::max(sums_.worst, diff.max_abs);
    const double cosine = diff.figures ? diff.figures->cosine : NAN;
    if (diff.figures ? diff.figures->pairs > 0 : diff.max_abs > 0) {
      sums_.every_cosine = sums_.every_cosine && !std::isnan(cosine);
      if (!std::isnan(cosine)) sums_.cosine = std::min(sums_.cosine.value_or(1), cosine);
    }
  }

  void end(const FilePair& pair, const PairOutcome& outcome) override {
    std::string text = printable(pair.both_names()) + ": ";
    if (of_whole_files(outcome.result))
      return put(text + paint_.red("different") + ": " +
                 printable(whole_files_text(pair, outcome)));
    if (outcome.result == PairResult::trouble) {
      text += paint_.red("trouble");
      if (sums_.tensors == 0 || sums_.troubled == 0) return put(text);
      text += fmt::format(": {} of {}; ", sums_.troubled,
                          counted(sums_.troubled + sums_.tensors, "tensor"));
    }
    text += !outcome.files.all.empty() && sums_.different == 0
                ? fmt::format("{}: {} the same", paint_.red("different"),
                              counted(sums_.tensors, "tensor"))
            : sums_.different > 0
                ? fmt::format("{}: {} of {}", paint_.red("different"), sums_.different,
                              counted(sums_.tensors, "tensor"))
                : fmt::format("{}: {}", paint_.green("same"), counted(sums_.tensors, "tensor"));
    const std::string paired = pairing_text(sums_.pairing);
    const std::string files = file_differences_text(outcome);
    if (!files.empty()) {
      put(text + figures() + (paired.empty() ? "" : ", paired " + paired) + "; " + files + " (" +
          criteria_text(options_, sums_.close) + ")");
      return;
    }
    if (!outcome.files.uncompared.empty()) text += "; " + printable(outcome.files.uncompared) + ";";
    put(text + figures() + (paired.empty() ? "" : ", paired " + paired) + " (" +
        criteria_text(options_, sums_.close) + ")");
  }

  Status finish(const DiffTotals&) override { return out_.status(); }

 private:
  struct Sums {
    std::uint64_t tensors = 0;
    std::uint64_t troubled = 0;  // could not be compared; not included in the rest
    std::uint64_t different = 0;
    std::uint64_t compared = 0;
    std::uint64_t mismatched = 0;
    std::uint64_t nonfinite = 0;
    double worst = 0;
    bool counted = true;  // `mismatched` includes all tensors
    std::optional<double> cosine;
    bool every_cosine = true;  // `cosine` includes all tensors
    std::vector<Tolerance> close;
    PairingCounts pairing;
  };

  void put(const std::string& text) {
    constexpr std::size_t kIndent = 4;
    const std::size_t room = options_.text.whole_lines ? kAnyColumns : options_.text.columns;
    for (const std::string& line : wrapped(text, room, kIndent)) out_.line(line);
  }

  std::string figures() const {
    std::string text = ", ";
    if (sums_.mismatched > 0)
      text += (sums_.counted ? std::to_string(sums_.mismatched) : "some") + " of ";
    text += counted(sums_.compared, "element");
    if (sums_.worst > 0) text += ", worst error " + short_number(sums_.worst);
    if (sums_.worst > 0 && sums_.cosine && sums_.every_cosine)
      text += ", least cosine " + short_number(*sums_.cosine);
    if (sums_.nonfinite > 0)
      text += fmt::format(", {} NaN or Inf that do not agree", sums_.nonfinite);
    return text;
  }

  ReportOptions options_;
  Lines out_;
  Paint paint_;
  Sums sums_;  // of the current pair of files
};

}  // namespace

std::unique_ptr<DiffReport> summary_report(ReportOptions options, TextSink sink) {
  return std::make_unique<SummaryReport>(std::move(options), std::move(sink));
}

}  // namespace btf::report
